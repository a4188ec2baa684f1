//! Values in one form, whatever their type's byte order, padding and storage.

use std::cell::Cell;

use hyperslab::{
    Heap, Part,
    dtype::{Arena, Bits, Class, Datatype, Source},
    space::{Extent, Kind, Space},
};

use super::Scene;

/// Why a value has no encoding.
pub(crate) type Failed = String;

/// Encodes values of a type, one after the other.
pub(crate) struct Encoder<'a> {
    scene: &'a Scene<'a>,
    heap: Heap<'a>,
    /// Where variable-length values are, if not in the heap of the file.
    arena: Option<&'a Arena>,
    /// How many bytes of sequences that hold references themselves may still come: bad ones may lead back to where they are.
    left: Cell<u64>,
}

/// Points of a region that are still listed.
const MAX_REGION: u64 = 1_000_000;

impl<'a> Encoder<'a> {
    pub(crate) fn new(scene: &'a Scene<'a>) -> Encoder<'a> {
        Encoder { scene, heap: scene.file.heap(), arena: None, left: Cell::new(scene.file.size()) }
    }

    /// For values whose variable-length parts are in an arena.
    pub(crate) fn in_arena(scene: &'a Scene<'a>, arena: &'a Arena) -> Encoder<'a> {
        Encoder { arena: Some(arena), ..Encoder::new(scene) }
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
                let found = match self.arena {
                    Some(arena) => arena.sequence(value, vlen.base.size()),
                    None => self.heap.sequence(value, vlen.base.size()),
                };
                let found = found.map_err(|why| why.to_string())?;
                let bytes = found.as_ref().map_or(&[][..], |found| &found.bytes);
                if vlen.text.is_some() {
                    let count = found.as_ref().map_or(0, |found| found.count);
                    let bytes = bytes.get(..count).unwrap_or(bytes);
                    text(bytes.split(|&byte| byte == 0).next().unwrap_or(bytes), out);
                } else {
                    let count = found.as_ref().map_or(0, |found| found.count);
                    out.extend((count as u64).to_le_bytes());
                    let bytes = bytes.get(..count * vlen.base.size()).unwrap_or_default();
                    if vlen.base.has_vlen() {
                        let left = self.left.get().checked_sub(bytes.len() as u64);
                        self.left.set(left.ok_or("references lead to more bytes than the file has")?);
                    }
                    self.values(&vlen.base, bytes, out)?;
                }
            }
            Class::Reference(_) => return self.reference(datatype, value, out),
        }
        Ok(())
    }

    /// Null, or the path of what is meant; one number for all that cannot be followed.
    fn reference(&self, datatype: &Datatype, value: &[u8], out: &mut Vec<u8>) -> Result<(), Failed> {
        const UNKNOWN: u8 = 2;
        const ELSEWHERE: u8 = 5;
        let found = match self.arena {
            Some(arena) => self.heap.dereference_in(arena, datatype, value),
            None => self.heap.dereference(datatype, value),
        };
        let referent = match found {
            Ok(Some(referent)) => referent,
            other => {
                out.push(if other.is_ok() { 0 } else { UNKNOWN });
                return Ok(());
            }
        };
        if let Some(file) = &referent.file {
            match self.scene.other_files.path(file, referent.address) {
                Some(path) => {
                    out.push(ELSEWHERE);
                    text(&path, out);
                }
                None => out.push(UNKNOWN),
            }
            return Ok(());
        }
        let Some(path) = self.scene.path(referent.address) else {
            out.push(UNKNOWN);
            return Ok(());
        };
        match &referent.part {
            Part::Object => {
                out.push(1);
                text(&path, out);
            }
            Part::Region(space) => {
                out.push(3);
                text(&path, out);
                selected(space, out)?;
            }
            Part::Attribute(name) => {
                out.push(4);
                text(&path, out);
                text(name, out);
            }
        }
        Ok(())
    }
}

fn selected(space: &Space, out: &mut Vec<u8>) -> Result<(), Failed> {
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
        return Ok(());
    }
    let place = |coords: &[u64]| linear(space.extent(), coords);
    let mut places: Vec<u64> = space.coords().map_err(|why| why.to_string())?.map(|coords| place(&coords)).collect();
    if space.kind() == Kind::Hyperslab {
        places.sort_unstable();
    }
    out.extend(places.into_iter().flat_map(u64::to_le_bytes));
    Ok(())
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
