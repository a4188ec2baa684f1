//! The parts of a vector request.
//!
//! Lives here: [`ReadPart`], [`WritePart`], and how they are made from the arrays of the design document with its shortened
//! `types` and `sizes`. Does not live here: running them. Called by the issuer of a vector request.

use crate::{Error, MemoryType, Operation, Result, Why};

/// One range to read and where its bytes go.
#[derive(Debug)]
pub struct ReadPart<'a> {
    /// What the bytes are.
    pub kind: MemoryType,
    /// Where they are in the file.
    pub addr: u64,
    /// Where they go.
    pub buf: &'a mut [u8],
}

/// One range to write and its bytes.
#[derive(Debug, Clone, Copy)]
pub struct WritePart<'a> {
    /// What the bytes are.
    pub kind: MemoryType,
    /// Where they go in the file.
    pub addr: u64,
    /// The bytes.
    pub buf: &'a [u8],
}

impl<'a> ReadPart<'a> {
    /// A part of the default kind.
    pub fn new(addr: u64, buf: &'a mut [u8]) -> Self {
        ReadPart { kind: MemoryType::Default, addr, buf }
    }

    /// The same part for a shorter time, to hand on.
    pub fn reborrow(&mut self) -> ReadPart<'_> {
        ReadPart { kind: self.kind, addr: self.addr, buf: self.buf }
    }
}

impl<'a> WritePart<'a> {
    /// A part of the default kind.
    pub fn new(addr: u64, buf: &'a [u8]) -> Self {
        WritePart { kind: MemoryType::Default, addr, buf }
    }
}

/// The parts of a vector read, from arrays as the document has them.
///
/// `addrs` and `bufs` have one entry per part. `types` and `sizes` have too, or are shortened: two entries, the second invalid
/// (`None`, or a size of zero), and the first counts for all parts. An invalid value at index 1 means that also in a list of
/// full length. Each buffer must hold at least its size; the bytes beyond are left alone.
///
/// ```
/// use hyperslab_driver::{MemoryType, vector};
/// let (mut a, mut b, mut c) = ([0; 4], [0; 4], [0; 4]);
/// let parts = vector::read_parts(
///     &[Some(MemoryType::RawData), None],
///     &[0, 100, 200],
///     &[4, 0],
///     vec![&mut a, &mut b, &mut c],
/// )?;
/// assert!(parts.iter().all(|part| part.buf.len() == 4 && part.kind == MemoryType::RawData));
/// # Ok::<(), hyperslab_driver::Error>(())
/// ```
pub fn read_parts<'a>(
    types: &[Option<MemoryType>],
    addrs: &[u64],
    sizes: &[u64],
    bufs: Vec<&'a mut [u8]>,
) -> Result<Vec<ReadPart<'a>>> {
    let shapes =
        shapes(types, addrs, sizes, bufs.iter().map(|buf| buf.len())).map_err(refuse(Operation::ReadVector))?;
    let parts = shapes.into_iter().zip(bufs).filter_map(|(shape, buf)| {
        Some(ReadPart { kind: shape.kind, addr: shape.addr, buf: buf.get_mut(..shape.size)? })
    });
    Ok(parts.collect())
}

/// The parts of a vector write, from arrays as the document has them; see [`read_parts`].
pub fn write_parts<'a>(
    types: &[Option<MemoryType>],
    addrs: &[u64],
    sizes: &[u64],
    bufs: &[&'a [u8]],
) -> Result<Vec<WritePart<'a>>> {
    let shapes =
        shapes(types, addrs, sizes, bufs.iter().map(|buf| buf.len())).map_err(refuse(Operation::WriteVector))?;
    let parts = shapes
        .into_iter()
        .zip(bufs)
        .filter_map(|(shape, buf)| Some(WritePart { kind: shape.kind, addr: shape.addr, buf: buf.get(..shape.size)? }));
    Ok(parts.collect())
}

/// A part without its bytes. `size` is known to fit the buffer.
struct Shape {
    kind: MemoryType,
    addr: u64,
    size: usize,
}

fn shapes(
    types: &[Option<MemoryType>],
    addrs: &[u64],
    sizes: &[u64],
    bufs: impl ExactSizeIterator<Item = usize>,
) -> Result<Vec<Shape>, Why> {
    if bufs.len() != addrs.len() {
        return Err(Why::invalid(format!("{} addresses with {} buffers", addrs.len(), bufs.len())));
    }
    let sizes: Vec<_> = sizes.iter().map(|&size| (size != 0).then_some(size)).collect();
    let all = addrs.iter().zip(bufs).enumerate().map(|(index, (&addr, room))| {
        let kind = entry(types, index, addrs.len(), "types")?
            .ok_or_else(|| Why::invalid(format!("part {index} has no memory type")))?;
        let size = entry(&sizes, index, addrs.len(), "sizes")?.unwrap_or(0);
        let fitting = usize::try_from(size)
            .ok()
            .filter(|&size| size <= room)
            .ok_or_else(|| Why::invalid(format!("part {index} has {size} bytes, but its buffer only {room}")))?;
        addr.checked_add(size).ok_or(Why::Overflow)?;
        Ok(Shape { kind, addr, size: fitting })
    });
    all.collect()
}

/// The entry at `index` of a list that may be shortened.
fn entry<T: Copy>(list: &[Option<T>], index: usize, count: usize, what: &str) -> Result<Option<T>, Why> {
    let shortened = matches!(list.get(1), Some(None));
    if list.len() != count && !(shortened && list.len() == 2) {
        let text = format!(
            "{count} parts with {} {what}: there must be {count}, or two of which the second is invalid",
            list.len()
        );
        return Err(Why::invalid(text));
    }
    Ok(list.get(if shortened { 0 } else { index }).copied().flatten())
}

fn refuse(operation: Operation) -> impl FnOnce(Why) -> Error {
    move |why| Error::new("vector arrays", operation, 0, 0, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAW: Option<MemoryType> = Some(MemoryType::RawData);
    const TREE: Option<MemoryType> = Some(MemoryType::Btree);

    fn made(types: &[Option<MemoryType>], sizes: &[u64], count: usize) -> Option<Vec<(MemoryType, u64, usize)>> {
        let bytes = [0; 16];
        let addrs: Vec<u64> = (0..count as u64).map(|n| n * 100).collect();
        let bufs = vec![&bytes[..]; count];
        let parts = write_parts(types, &addrs, sizes, &bufs).ok()?;
        Some(parts.iter().map(|part| (part.kind, part.addr, part.buf.len())).collect())
    }

    #[test]
    fn full_lists() {
        let parts = made(&[RAW, TREE, RAW], &[1, 2, 3], 3).unwrap();
        assert_eq!(parts[1], (MemoryType::Btree, 100, 2));
        assert_eq!(parts[2], (MemoryType::RawData, 200, 3));
    }

    #[test]
    fn an_invalid_second_entry_repeats_the_first() {
        let parts = made(&[TREE, None], &[5, 0], 4).unwrap();
        assert!(parts.iter().all(|part| part.0 == MemoryType::Btree && part.2 == 5));
        let parts = made(&[TREE, None, RAW], &[5, 0, 7], 3).unwrap();
        assert!(parts.iter().all(|part| part.0 == MemoryType::Btree && part.2 == 5));
    }

    #[test]
    fn a_zero_elsewhere_is_an_empty_part() {
        assert_eq!(made(&[RAW; 3], &[1, 2, 0], 3).unwrap()[2].2, 0);
        assert_eq!(made(&[RAW], &[0], 1).unwrap()[0].2, 0);
        assert_eq!(made(&[], &[], 0).unwrap().len(), 0);
    }

    #[test]
    fn lists_that_are_refused() {
        assert!(made(&[RAW], &[1; 3], 3).is_none(), "one type for three parts");
        assert!(made(&[RAW, RAW], &[1; 3], 3).is_none(), "two valid types for three parts");
        assert!(made(&[RAW; 3], &[1, 1], 3).is_none(), "two valid sizes for three parts");
        assert!(made(&[RAW, TREE, None], &[1; 3], 3).is_none(), "no type for the third part");
        assert!(made(&[None, None], &[1, 0], 3).is_none(), "no type to repeat");
        assert!(made(&[RAW; 4], &[1; 3], 3).is_none(), "more types than parts");
        assert!(made(&[RAW, None], &[17, 0], 2).is_none(), "larger than the buffer");
    }
}
