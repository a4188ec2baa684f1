//! The global heap: collections of variable-length values and region references.
//!
//! ```text
//!  collection  | GCOL | version 1 | 0, 3 | size of the whole L, padded to 8 | objects… |
//!  object      | index, 2 | references, 2 | 0, 4 | size L, padded to 8 | bytes, padded to 8 |
//! ```

use std::ops::Range;

use hyperslab_base::{Reader, Widths, Writer};

use crate::{Encoded, Result};

const WHAT: &str = "global heap collection";

/// The bytes before the first object, and before the bytes of each object.
pub const fn head_size(widths: Widths) -> usize {
    (8 + widths.lengths.bytes()).next_multiple_of(8)
}

/// Reads the size of a collection from its first bytes.
pub fn decode_size(bytes: &[u8], widths: Widths) -> Result<u64> {
    let mut reader = Reader::new(WHAT, bytes);
    head(&mut reader, widths)
}

/// An object of a collection: its index and where its bytes are in the collection.
pub type Object = (u16, Range<usize>);

/// Reads the objects of a whole collection.
pub fn decode(bytes: &[u8], widths: Widths) -> Result<Vec<Object>> {
    // Room for as many as a collection of strings has.
    let mut objects = Vec::with_capacity((bytes.len() / 32).min(128));
    each(bytes, widths, |object| objects.push((object.index, object.bytes)))?;
    Ok(objects)
}

/// An object of a collection, with its references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Its index.
    pub index: u16,
    /// How many references it has; libhdf5 leaves this at zero.
    pub references: u16,
    /// Where its bytes are in the collection.
    pub bytes: Range<usize>,
}

/// Reads the objects of a whole collection, with their references.
pub fn decode_counted(bytes: &[u8], widths: Widths) -> Result<Vec<Counted>> {
    let mut objects = Vec::new();
    each(bytes, widths, |object| objects.push(object))?;
    Ok(objects)
}

#[inline]
fn each(bytes: &[u8], widths: Widths, mut take: impl FnMut(Counted)) -> Result<()> {
    let mut reader = Reader::new(WHAT, bytes);
    head(&mut reader, widths)?;
    reader.align(8);
    while reader.left() >= head_size(widths) {
        // A collection has many objects: the index, the references and four bytes without a meaning are read at once, and so is a length with its padding.
        let numbers = u64::from_le_bytes(reader.array()?);
        let (index, references) = (numbers as u16, (numbers >> 16) as u16);
        let size = u64::from_le_bytes(reader.array()?) & widths.lengths.max();
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if index == 0 {
            break; // the free space behind the last object
        }
        let start = reader.position();
        reader.skip(size)?;
        take(Counted { index, references, bytes: start..start + size });
        reader.align(8);
    }
    Ok(())
}

/// Writes a collection of `size` bytes; each object with its index, references and bytes. What is left becomes free space.
///
/// ```
/// use hyperslab_format::{Widths, heap::global};
/// let bytes = global::encode(4096, &[(1, 0, b"text")], Widths::EIGHT)?;
/// assert_eq!(bytes.len(), 4096);
/// assert_eq!(global::decode(&bytes, Widths::EIGHT).unwrap(), [(1, 32..36)]);
/// # Ok::<(), hyperslab_format::Unfit>(())
/// ```
pub fn encode(size: usize, objects: &[(u16, u16, &[u8])], widths: Widths) -> Encoded {
    let mut writer = begin(size, widths)?;
    for (index, references, bytes) in objects {
        if *index == 0 {
            return Err(writer.refuse("index", "0 stands for free space"));
        }
        object_head(&mut writer, *index, *references, bytes.len(), widths)?;
        writer.extend(bytes);
        writer.align(8);
    }
    let free = size.saturating_sub(writer.position());
    if free >= head_size(widths) {
        object_head(&mut writer, 0, 0, free, widths)?;
    }
    writer.fill_to("objects", size)?;
    Ok(writer.into_bytes())
}

/// What is before the first object of a collection of `size` bytes.
pub fn encode_head(size: usize, widths: Widths) -> Encoded {
    Ok(begin(size, widths)?.into_bytes())
}

fn begin(size: usize, widths: Widths) -> Encoded<Writer> {
    let mut writer = Writer::new(WHAT);
    writer.extend(b"GCOL");
    writer.extend(&[1, 0, 0, 0]);
    writer.length("size", widths, size as u64)?;
    writer.align(8);
    Ok(writer)
}

fn object_head(writer: &mut Writer, index: u16, references: u16, size: usize, widths: Widths) -> Encoded<()> {
    writer.u16(index);
    writer.u16(references);
    writer.zeros(4);
    writer.length("size of an object", widths, size as u64)?;
    writer.align(8);
    Ok(())
}

/// Writes an object into a collection in memory, from `room` on, which is zeros: what [`encode`] would write of it. Free space has index 0
/// and no bytes, and its size is that of all `room`. Nothing is written if there is no room.
pub fn place(room: &mut [u8], index: u16, references: u16, bytes: &[u8], widths: Widths) {
    let size = if index == 0 { room.len() } else { bytes.len() };
    let Some((head, rest)) = room.split_at_mut_checked(head_size(widths)) else { return };
    let ([numbers, length], _) = head.as_chunks_mut::<8>() else { return };
    *numbers = (u64::from(index) | u64::from(references) << 16).to_le_bytes();
    // Narrow lengths are padded to eight bytes.
    *length = (size as u64).to_le_bytes();
    if let Some(rest) = rest.get_mut(..bytes.len()) {
        rest.copy_from_slice(bytes);
    }
}

fn head(reader: &mut Reader<'_>, widths: Widths) -> Result<u64> {
    reader.signature(b"GCOL")?;
    reader.version(1..=1)?;
    reader.skip(3)?;
    reader.length(widths)
}

#[cfg(test)]
mod tests {
    use hyperslab_base::Width;

    use super::*;

    #[test]
    fn objects_of_files_with_narrow_lengths_begin_at_multiples_of_eight() {
        let widths = Widths { offsets: Width::W4, lengths: Width::W4 };
        let head = *b"GCOL\x01\0\0\0\x28\0\0\0\0\0\0\0";
        let object = *b"\x01\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0NAME\0\0\0\0";
        assert_eq!(decode(&[&head[..], &object].concat(), widths), Ok(vec![(1, 32..36)]));
    }
}
