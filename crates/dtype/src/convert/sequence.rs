//! Variable-length values, element by element.

use hyperslab_base::memory;

use super::lane::Lanes;
use super::plan::{Heaps, Plan};
use crate::{Error, Result};

/// Follows each reference, converts what is behind it and stores the result.
pub(super) fn run(
    (elements, is_text): (&Plan, bool),
    sizes: (usize, usize),
    lanes: Lanes<'_>,
    heaps: &mut Heaps<'_>,
) -> Result<()> {
    let keeps_empty = is_text || heaps.target.keeps_empty();
    let mut buffer: Vec<u8> = Vec::new();
    lanes.try_each(sizes.0, sizes.1, |from, to| {
        let source = heaps.source;
        let found = source.sequence(from, elements.from)?;
        let Some(sequence) = found.filter(|sequence| keeps_empty || sequence.count > 0) else {
            return heaps.target.store(None, to);
        };
        let count = sequence.count;
        let bytes = count.checked_mul(elements.from).and_then(|length| sequence.bytes.get(..length));
        let bytes = bytes.ok_or_else(|| short(count, elements.from, sequence.bytes.len()))?;
        if elements.is_copy() {
            return heaps.target.store(Some((count, bytes)), to);
        }
        if elements.has_sequence() {
            heaps.left = heaps.left.checked_sub(bytes.len() as u64).ok_or_else(endless)?;
        }
        // Members that are not in the source are zero.
        buffer.clear();
        memory::resize(&mut buffer, count.saturating_mul(elements.to), 0)?;
        let lanes = Lanes { count, from: bytes, from_stride: elements.from, to: &mut buffer, to_stride: elements.to };
        elements.run(lanes, heaps)?;
        heaps.target.store(Some((count, &buffer)), to)
    })
}

fn short(count: usize, size: usize, bytes: usize) -> Error {
    Error::Sequence(format!("{count} elements of {size} bytes are not in the {bytes} bytes behind it"))
}

fn endless() -> Error {
    Error::Sequence("references lead to more bytes than there are: they may lead back to where they are".into())
}
