//! Values in one form, whatever their type's byte order, padding and storage.

use hyperslab::{
    Heap,
    dtype::{Bits, Class, Datatype, Padding, Reference, Source},
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
            Class::String(padding, _) => text(strip(*padding, value), out),
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
            Class::Reference(reference) => self.reference(*reference, value, out),
        }
        Ok(())
    }

    fn reference(&self, reference: Reference, value: &[u8], out: &mut Vec<u8>) {
        match reference {
            Reference::Object => {
                let address = number(value);
                if address == 0 || value.iter().all(|&byte| byte == 0xff) {
                    return out.push(0);
                }
                match self.scene.paths.get(&address) {
                    Some(path) => {
                        out.push(1);
                        text(path, out);
                    }
                    None => out.push(2),
                }
            }
            Reference::Region => {
                if value.iter().all(|&byte| byte == 0) {
                    return out.push(0);
                }
                let before = out.len();
                if self.region(value, out).is_none() {
                    out.truncate(before);
                    out.push(2);
                }
            }
            Reference::Revised(_) => {
                if value.iter().all(|&byte| byte == 0) {
                    return out.push(0);
                }
                let before = out.len();
                if self.revised(value, out).is_none() {
                    out.truncate(before);
                    out.push(2);
                }
            }
        }
    }

    /// A region: the address of a dataset and a selection of it, kept in the heap.
    fn region(&self, value: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let width = self.scene.file.address_width();
        let (address, index) = (number(value.get(..width)?), number(value.get(width..width + 4)?));
        let object = self.heap.object(address, u32::try_from(index).ok()?).ok()?;
        let (dataset, selection) = object.split_at_checked(width)?;
        let dataset = number(dataset);
        let path = self.scene.paths.get(&dataset)?;
        let hyperslab::Node::Dataset(dataset) = self.scene.file.at(dataset).ok()? else { return None };
        let (space, _) = Space::decode_selection(dataset.extent().clone(), selection).ok()?;
        out.push(3);
        text(path, out);
        selected(&space, out);
        Some(())
    }
}

impl Encoder<'_> {
    /// A reference of the revised form: `| kind | flags | size, 4 | heap O | index, 4 |`, and in the heap, or for an object of
    /// this file right behind the flags, `| token size | token | by kind: size, 4 | rank, 4 | selection, or length, 2 | name |`.
    fn revised(&self, value: &[u8], out: &mut Vec<u8>) -> Option<()> {
        const EXTERNAL: u8 = 1;
        const OBJECT: u8 = 2;
        const REGION: u8 = 3;
        const ATTRIBUTE: u8 = 4;
        let width = self.scene.file.address_width();
        let (kind, flags) = (*value.first()?, *value.get(1)?);
        let object = if kind == OBJECT && flags & EXTERNAL == 0 {
            value.get(2..)?.to_vec()
        } else {
            let place = value.get(6..)?;
            let (address, index) = (number(place.get(..width)?), number(place.get(width..width + 4)?));
            self.heap.object(address, u32::try_from(index).ok()?).ok()?
        };
        let (token_size, rest) = object.split_first()?;
        let (token, rest) = rest.split_at_checked(usize::from(*token_size))?;
        let target = number(token.get(..width)?);
        let path = self.scene.paths.get(&target)?;
        match kind {
            OBJECT => {
                out.push(1);
                text(path, out);
            }
            REGION => {
                let hyperslab::Node::Dataset(dataset) = self.scene.file.at(target).ok()? else { return None };
                let (space, _) = Space::decode_selection(dataset.extent().clone(), rest.get(8..)?).ok()?;
                out.push(3);
                text(path, out);
                selected(&space, out);
            }
            ATTRIBUTE => {
                let (length, name) = rest.split_at_checked(2)?;
                out.push(4);
                text(path, out);
                text(name.get(..usize::try_from(number(length)).ok()?)?, out);
            }
            _ => return None,
        }
        Some(())
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

fn strip(padding: Padding, bytes: &[u8]) -> &[u8] {
    let end = |keep: fn(&u8) -> bool| bytes.iter().rposition(keep).map_or(0, |last| last + 1);
    let length = match padding {
        Padding::NullTerm => bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len()),
        Padding::NullPad => end(|&byte| byte != 0),
        Padding::SpacePad => end(|&byte| byte != b' '),
    };
    bytes.get(..length).unwrap_or_default()
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

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
