//! Runs: the selection as ranges of bytes in an array that is stored row by row.
//!
//! Regular selections become a few nested loops over a fixed length, with loops that touch fused beforehand, so that the
//! innermost loop only adds; trees are walked leaf by leaf; points one by one. Touching runs are merged.

mod loops;
mod walk;

use crate::{Error, Result, Space, view::View};

pub(crate) use loops::{LoopWalk, Loops};
use walk::Walk;

/// A range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first byte, counted from the first element of the extent.
    pub offset: u64,
    /// How many bytes.
    pub len: u64,
}

impl Run {
    /// The byte after the last one.
    pub const fn end(&self) -> u64 {
        self.offset + self.len
    }
}

/// The runs of a selection, in its order. An iterator; [`Runs::next_batch`] takes many at a time.
///
/// ```
/// use hyperslab_space::{Op, Run, Slab, Space};
/// let mut space = Space::simple(&[6, 10])?;
/// space.select_hyperslab(Op::Set, &[Slab::block(4, 2), Slab::new(0, 5, 2, 3)])?;
/// let runs: Vec<Run> = space.runs(4)?.collect();
/// assert_eq!(runs[0], Run { offset: 160, len: 12 });
/// assert_eq!(runs.len(), 4);
/// # Ok::<(), hyperslab_space::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Runs<'a> {
    walk: Walk<'a>,
    element_size: u64,
    /// Runs found ahead, and how many of them were handed out.
    ahead: Vec<Run>,
    taken: usize,
}

/// Where found runs go: behind what is in `out` already, which is not touched, until it holds `full`.
struct Batch<'a> {
    out: &'a mut Vec<Run>,
    from: usize,
    full: usize,
}

impl Batch<'_> {
    fn room(&self) -> usize {
        self.full.saturating_sub(self.out.len())
    }

    /// Makes the last run of this batch longer if `run` touches it.
    fn merge(&mut self, run: Run) -> bool {
        match self.out.get_mut(self.from..).and_then(<[Run]>::last_mut) {
            Some(last) if last.end() == run.offset => {
                last.len += run.len;
                true
            }
            _ => false,
        }
    }

    /// Merges or appends a run; `false` if there is no room for it.
    fn push(&mut self, run: Run) -> bool {
        let merged = self.merge(run);
        let fits = merged || self.room() > 0;
        if fits && !merged {
            self.out.push(run);
        }
        fits
    }
}

/// How many runs are looked up at a time for those who take them one by one.
const AHEAD: usize = 256;

impl Space {
    /// The selected bytes as runs, for elements of `element_size` bytes.
    pub fn runs(&self, element_size: u64) -> Result<Runs<'_>> {
        let strides = self.byte_strides(element_size)?;
        self.check_inside()?;
        let walk = match self.view()? {
            View::Nothing => Walk::Done,
            View::Slabs(slabs) => Walk::loops(Loops::new(&slabs, &strides, element_size)),
            View::Tree(tree) => Walk::tree(tree, strides, element_size),
            View::Points(points) => Walk::points(points, strides, element_size),
        };
        Ok(Runs { walk, element_size, ahead: Vec::new(), taken: 0 })
    }

    /// The distance in bytes between neighbours in each dimension.
    pub(crate) fn byte_strides(&self, element_size: u64) -> Result<Vec<u64>> {
        let refuse = || Error::Bytes { element_size, dims: self.dims().to_vec() };
        if element_size == 0 {
            return Err(refuse());
        }
        let mut strides = vec![0; self.rank()];
        if self.extent.is_empty() {
            return Ok(strides); // nothing is there that they could lead to
        }
        let mut stride = element_size;
        for (place, &dim) in strides.iter_mut().zip(self.dims()).rev() {
            *place = stride;
            stride = stride.checked_mul(dim).ok_or_else(refuse)?;
        }
        Ok(strides)
    }
}

impl Runs<'_> {
    /// Appends the next runs to `out`: at most `max_runs` runs and `max_bytes` bytes, whole elements only. A run that does not
    /// fit is cut and goes on in the next batch. Returns how many runs were appended; none means that it is at its end or that not
    /// even one element fits.
    pub fn next_batch(&mut self, out: &mut Vec<Run>, max_runs: usize, max_bytes: u64) -> usize {
        let before = out.len();
        let mut bytes = max_bytes - max_bytes % self.element_size;
        if self.taken == self.ahead.len() && max_bytes == u64::MAX {
            self.walk.fill(&mut Batch { out, from: before, full: before.saturating_add(max_runs) });
            return out.len() - before;
        }
        while out.len() - before < max_runs && bytes > 0 {
            let Some(mut run) = self.next() else { break };
            if run.len > bytes {
                self.put_back(Run { offset: run.offset + bytes, len: run.len - bytes });
                run.len = bytes;
            }
            bytes -= run.len;
            out.push(run);
        }
        out.len() - before
    }

    /// Makes `run` the next one, in the place of the one taken last.
    fn put_back(&mut self, run: Run) {
        self.taken -= 1;
        if let Some(place) = self.ahead.get_mut(self.taken) {
            *place = run;
        }
    }

    /// Looks up some runs more. The last one of a look-up may still grow, so it waits for the next.
    fn look_ahead(&mut self) {
        self.ahead.drain(..self.taken);
        self.taken = 0;
        self.walk.fill(&mut Batch { out: &mut self.ahead, from: 0, full: AHEAD });
    }
}

impl Iterator for Runs<'_> {
    type Item = Run;

    #[inline]
    fn next(&mut self) -> Option<Run> {
        if self.taken + 1 >= self.ahead.len() {
            self.look_ahead();
        }
        let run = self.ahead.get(self.taken).copied()?;
        self.taken += 1;
        Some(run)
    }

    /// All runs in one go; `for_each`, `count` and the like come here. Patterns need no look-ahead then.
    fn fold<B, F: FnMut(B, Run) -> B>(mut self, init: B, mut each: F) -> B {
        if let Walk::Loops(walk) = self.walk {
            return walk.fold(init, self.ahead.split_off(self.taken), each);
        }
        let mut value = init;
        for run in self {
            value = each(value, run);
        }
        value
    }
}
