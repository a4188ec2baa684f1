//! A selection request as a sequence of segments: a file range and the memory range it maps to.
//!
//! Lives here: zipping the runs of both sides, merging what is adjacent on both, and all checks. Does not live here: I/O
//! or buffers. Called by `selection` and by drivers that need to walk a selection request.

use hyperslab_space::{Run, Runs, Space};

use crate::pair::{buffer_index, check_buffers};
use crate::{SelectionPair, Why};

/// A range of the file and the range of a buffer that it maps to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Where the bytes are in the file.
    pub addr: u64,
    /// Which of the buffers.
    pub buffer: usize,
    /// Where in the buffer.
    pub start: usize,
    /// How many bytes.
    pub len: usize,
}

impl Segment {
    /// Where the range ends in the buffer. Does not overflow, since every segment lies within its buffer.
    #[must_use]
    pub fn end(&self) -> usize {
        self.start.saturating_add(self.len)
    }

    fn continues(&self, before: &Segment) -> bool {
        self.buffer == before.buffer
            && self.start == before.end()
            && before.addr.checked_add(before.len as u64) == Some(self.addr)
    }
}

/// The segments of a selection request in the order of its elements, those adjacent in file and memory merged.
///
/// Memory does not grow with the number of runs. Everything is checked before the first segment.
///
/// ```
/// use hyperslab_driver::SelectionPair;
/// use hyperslab_driver::lower::Segments;
/// use hyperslab_space::{Op, Slab, Space};
/// let mut file = Space::simple(&[100])?;
/// file.select_hyperslab(Op::Set, &[Slab::new(10, 20, 3, 5)])?;
/// let memory = Space::simple(&[15])?;
/// let pair = SelectionPair { memory: &memory, file: &file, offset: 1000, element_size: 2 };
/// let segments: Vec<_> = Segments::new(&[pair], &[30])?.map(|at| (at.addr, at.start, at.len)).collect();
/// assert_eq!(segments, [(1020, 0, 10), (1060, 10, 10), (1100, 20, 10)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Segments<'a> {
    zip: Option<Zip<'a>>,
    /// Those of the pairs to come.
    zips: std::vec::IntoIter<Zip<'a>>,
    held: Option<Segment>,
}

impl<'a> Segments<'a> {
    /// The segments of `pairs` with buffers of these sizes.
    pub fn new(pairs: &'a [SelectionPair<'a>], buffers: &[usize]) -> Result<Self, Why> {
        check_buffers(pairs.len(), buffers.len())?;
        let mut zips = Vec::with_capacity(pairs.len());
        for (index, pair) in pairs.iter().enumerate() {
            let buffer = buffer_index(index, buffers.len());
            let room = buffers.get(buffer).copied().unwrap_or(0);
            let zip = check(pair, room).and_then(|()| Zip::new(pair, buffer));
            zips.extend(zip.map_err(|why| match why {
                Why::Invalid(text) => Why::Invalid(format!("pair {index}: {text}")),
                other => other,
            })?);
        }
        Ok(Segments { zip: None, zips: zips.into_iter(), held: None })
    }

    /// The next segment before merging.
    #[inline]
    fn bare(&mut self) -> Option<Segment> {
        loop {
            if let Some(segment) = self.zip.as_mut().and_then(Zip::next) {
                return Some(segment);
            }
            self.zip = Some(self.zips.next()?);
        }
    }
}

impl Iterator for Segments<'_> {
    type Item = Segment;

    fn next(&mut self) -> Option<Segment> {
        let mut whole = match self.held.take() {
            Some(held) => held,
            None => self.bare()?,
        };
        // The runs of a side never touch each other, so segments of one pair do not either.
        while self.zip.as_ref().is_none_or(|zip| zip.left == 0)
            && let Some(next) = self.bare()
        {
            if !next.continues(&whole) {
                self.held = Some(next);
                break;
            }
            whole.len = whole.len.saturating_add(next.len);
        }
        Some(whole)
    }
}

/// The runs of one pair, both sides in step.
struct Zip<'a> {
    file: Side<'a>,
    memory: Side<'a>,
    offset: u64,
    buffer: usize,
    /// Bytes still to come.
    left: u64,
}

/// The runs of one side and what is left of the current one.
struct Side<'a> {
    runs: Runs<'a>,
    rest: Run,
}

impl<'a> Zip<'a> {
    /// `None` if the pair selects nothing.
    fn new(pair: &SelectionPair<'a>, buffer: usize) -> Result<Option<Self>, Why> {
        let left = pair.bytes();
        if left == 0 {
            return Ok(None);
        }
        let side = |space: &'a Space| -> Result<_, Why> {
            Ok(Side { runs: space.runs(pair.element_size)?, rest: Run { offset: 0, len: 0 } })
        };
        Ok(Some(Zip { file: side(pair.file)?, memory: side(pair.memory)?, offset: pair.offset, buffer, left }))
    }

    #[inline]
    fn next(&mut self) -> Option<Segment> {
        let len = self.file.available()?.min(self.memory.available()?);
        let (addr, start) = (self.file.take(len), self.memory.take(len));
        self.left = self.left.saturating_sub(len);
        Some(Segment {
            addr: self.offset.checked_add(addr)?,
            buffer: self.buffer,
            start: usize::try_from(start).ok()?,
            len: usize::try_from(len).ok()?,
        })
    }
}

impl Side<'_> {
    #[inline]
    fn available(&mut self) -> Option<u64> {
        while self.rest.len == 0 {
            self.rest = self.runs.next()?;
        }
        Some(self.rest.len)
    }

    #[inline]
    fn take(&mut self, len: u64) -> u64 {
        let at = self.rest.offset;
        self.rest = Run { offset: at.saturating_add(len), len: self.rest.len.saturating_sub(len) };
        at
    }
}

/// Whether a pair can be moved to or from a buffer with this room.
pub(crate) fn check(pair: &SelectionPair<'_>, room: usize) -> Result<(), Why> {
    if pair.element_size == 0 {
        return Err(Why::invalid("elements of zero bytes"));
    }
    pair.file.check_inside()?;
    pair.memory.check_inside()?;
    let (memory, file) = (pair.memory.npoints(), pair.file.npoints());
    if memory != file {
        return Err(Why::invalid(format!("{memory} elements are selected in memory, but {file} in the file")));
    }
    pair.file.npoints().checked_mul(pair.element_size).ok_or(Why::Overflow)?;
    within(pair.file, pair.element_size, u64::MAX - pair.offset)?.map_or(Ok(()), |_| Err(Why::Overflow))?;
    if let Some(run) = within(pair.memory, pair.element_size, room as u64)? {
        let Run { offset, len } = run;
        return Err(Why::invalid(format!(
            "{len} bytes of memory at {offset} are selected in a buffer of {room} bytes"
        )));
    }
    Ok(())
}

/// The first run that reaches beyond `limit`, of a selection inside its extent. Walks the runs only if the extent as a whole does.
fn within(space: &Space, element_size: u64, limit: u64) -> Result<Option<Run>, Why> {
    let extent = space.dims().iter().try_fold(element_size, |bytes, &dim| bytes.checked_mul(dim));
    if extent.is_some_and(|bytes| bytes <= limit) {
        return Ok(None);
    }
    Ok(space.runs(element_size)?.find(|run| run.offset.checked_add(run.len).is_none_or(|end| end > limit)))
}
