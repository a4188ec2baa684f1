//! The global heap: collections of variable-length values and region references.
//!
//! ```text
//!  collection  | GCOL | version 1 | 0, 3 | size of the whole L, padded to 8 | objects… |
//!  object      | index, 2 | references, 2 | 0, 4 | size L, padded to 8 | bytes, padded to 8 |
//! ```

use std::ops::Range;

use hyperslab_base::{Reader, Widths};

use crate::Result;

/// The bytes before the first object, and before the bytes of each object.
pub const fn head_size(widths: Widths) -> usize {
    (8 + widths.lengths.bytes()).next_multiple_of(8)
}

/// Reads the size of a collection from its first bytes.
pub fn decode_size(bytes: &[u8], widths: Widths) -> Result<u64> {
    let mut reader = Reader::new("global heap collection", bytes);
    head(&mut reader, widths)
}

/// An object of a collection: its index and where its bytes are in the collection.
pub type Object = (u16, Range<usize>);

/// Reads the objects of a whole collection.
pub fn decode(bytes: &[u8], widths: Widths) -> Result<Vec<Object>> {
    let mut reader = Reader::new("global heap collection", bytes);
    head(&mut reader, widths)?;
    reader.align(8);
    let mut objects = Vec::new();
    while reader.left() >= head_size(widths) {
        let index = reader.u16()?;
        reader.skip(6)?;
        let size = usize::try_from(reader.length(widths)?).unwrap_or(usize::MAX);
        if index == 0 {
            break; // the free space behind the last object
        }
        reader.align(8);
        let start = reader.position();
        reader.take(size)?;
        objects.push((index, start..start + size));
        reader.align(8);
    }
    Ok(objects)
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
