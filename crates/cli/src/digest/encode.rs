//! Values in one form, whatever their type's byte order, padding and storage.

use hyperslab::{
    Heap, Part,
    dtype::{Bits, Class, Datatype, Source},
    space::{Extent, Kind, Space},
};

use super::Scene;

/// Why a value has no encoding.
pub(crate) type Failed = String;

/// Encodes values of a type, one after the other.
pub(crate) struct Encoder<'a> {
    scene: &'a Scene<'a>,
    heap: Heap<'a>,
}

/// Points of a region that are still listed.
const MAX_REGION: u64 = 1_000_000;

impl<'a> Encoder<'a> {
    pub(crate) fn new(scene: &'a Scene<'a>) -> Encoder<'a> {
        Encoder { scene, heap: scene.file.heap() }
    }

    /// Appends the encoding of all values in `bytes`, which are of the stored type.
    pub(crate) fn values(&self, datatype: &Datatype, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Failed> {
        bytes.chunks_exact(datatype.size()).try_for_each(|value| self.value(datatype, value, out))
    }

    fn value(&self, datatype: &Datatype, value: &[u8], out: &mut Vec<u8>) -> Result<(), Failed> {
        match datatype.class() {
            Class::Fixed(fixed) => integer(value, &fixed.bits, fixed.signed, out),
            Class::Bitfield(bits) => integer(value, bits, false, out),
            Class::Time(time) => flipped(value, time.order, out),
            Class::Float(float) => flipped(value, float.bits.order, out),
            Class::String(padding, _) => text(padding.strip(value), out),
            Class::Opaque(_) => out.extend_from_slice(value),
            Class::Enum(names) => return self.value(names.base(), value, out),
            Class::Compound(compound) => {
                for member in compound.members() {
                    let start = member.offset as usize;
                    let part =
                        value.get(start..start + member.datatype.size()).ok_or("a member outside its compound")?;
                    self.value(&member.datatype, part, out)?;
                }
            }
            Class::Array(array) => return self.values(array.base(), value, out),
            Class::Complex(base) => return self.values(base, value, out),
            Class::Vlen(vlen) => {
                let found = self.heap.sequence(value, vlen.base.size()).map_err(|why| why.to_string())?;
                let bytes = found.as_ref().map_or(&[][..], |found| &found.bytes);
                if vlen.text.is_some() {
                    let count = found.as_ref().map_or(0, |found| found.count);
                    let bytes = bytes.get(..count).unwrap_or(bytes);
                    text(bytes.split(|&byte| byte == 0).next().unwrap_or(bytes), out);
                } else {
                    let count = found.as_ref().map_or(0, |found| found.count);
                    out.extend((count as u64).to_le_bytes());
                    let bytes = bytes.get(..count * vlen.base.size()).unwrap_or_default();
                    self.values(&vlen.base, bytes, out)?;
                }
            }
            Class::Reference(_) => self.reference(datatype, value, out),
        }
        Ok(())
    }

    /// Null, or the path of what is meant; one number for all that cannot be followed or lies in another file.
    fn reference(&self, datatype: &Datatype, value: &[u8], out: &mut Vec<u8>) {
        const UNKNOWN: u8 = 2;
        let referent = match self.heap.dereference(datatype, value) {
            Ok(None) => return out.push(0),
            Ok(Some(referent)) if referent.file.is_none() => referent,
            _ => return out.push(UNKNOWN),
        };
        let Some(path) = self.scene.paths.get(&referent.address) else { return out.push(UNKNOWN) };
        match &referent.part {
            Part::Object => {
                out.push(1);
                text(path, out);
            }
            Part::Region(space) => {
                out.push(3);
                text(path, out);
                selected(space, out);
            }
            Part::Attribute(name) => {
                out.push(4);
                text(path, out);
                text(name, out);
            }
        }
    }
}

fn selected(space: &Space, out: &mut Vec<u8>) {
    let kind = match space.kind() {
        Kind::None => 0,
        Kind::Points => 1,
        Kind::Hyperslab => 2,
        Kind::All => 3,
    };
    let count = space.npoints();
    out.push(kind);
    out.extend(count.to_le_bytes());
    if matches!(space.kind(), Kind::None | Kind::All) || count > MAX_REGION {
        return;
    }
    let place = |coords: &[u64]| linear(space.extent(), coords);
    let mut places: Vec<u64> = space.coords().into_iter().flatten().map(|coords| place(&coords)).collect();
    if space.kind() == Kind::Hyperslab {
        places.sort_unstable();
    }
    out.extend(places.into_iter().flat_map(u64::to_le_bytes));
}

fn linear(extent: &Extent, coords: &[u64]) -> u64 {
    extent.dims().iter().zip(coords).fold(0u64, |sum, (dim, index)| sum.wrapping_mul(*dim).wrapping_add(*index))
}

fn text(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend((bytes.len() as u64).to_le_bytes());
    out.extend_from_slice(bytes);
}

fn flipped(value: &[u8], order: hyperslab::dtype::Order, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(value);
    if let Some(bytes) = out.get_mut(start..) {
        order.flip(bytes);
    }
}

/// The significant bits, moved down and extended to the whole value.
fn integer(value: &[u8], bits: &Bits, signed: bool, out: &mut Vec<u8>) {
    let start = out.len();
    flipped(value, bits.order, out);
    let (offset, precision) = (usize::from(bits.offset), usize::from(bits.precision));
    if offset == 0 && precision == 8 * value.len() {
        return;
    }
    let Some(bytes) = out.get_mut(start..) else { return };
    let bit = |bytes: &[u8], nth: usize| bytes.get(nth / 8).is_some_and(|byte| byte >> (nth % 8) & 1 == 1);
    let source = bytes.to_vec();
    let sign = signed && bit(&source, offset + precision - 1);
    for (nth, byte) in bytes.iter_mut().enumerate() {
        *byte = (0..8).fold(0, |byte, low| {
            let place = 8 * nth + low;
            let set = if place < precision { bit(&source, offset + place) } else { sign };
            byte | u8::from(set) << low
        });
    }
}
