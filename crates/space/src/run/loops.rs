//! A regular selection as nested loops over byte offsets.

use smallvec::SmallVec;

use super::{Batch, Run};
use crate::{Slab, Strip};

/// Runs of one length at `first + i·step + j·step + …`.
#[derive(Clone, Debug)]
pub(crate) struct Loops {
    /// The length of every run.
    pub(crate) len: u64,
    /// The offset of the first run.
    pub(crate) first: u64,
    /// From the innermost loop outwards; none has a count of one.
    pub(crate) loops: SmallVec<[Loop; 4]>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    pub(crate) count: u64,
    pub(crate) step: u64,
}

impl Loops {
    /// Each dimension is a loop over blocks around a loop inside a block. A loop whose steps touch is only a longer run, and two loops
    /// that touch are one.
    pub(crate) fn new(slabs: &[Slab], strides: &[u64], element_size: u64) -> Loops {
        let mut all = Loops { len: element_size, first: 0, loops: SmallVec::new() };
        for (slab, &stride) in slabs.iter().zip(strides).rev() {
            all.first += slab.start * stride;
            all.around(Loop { count: slab.block, step: stride });
            // One block has no second to step to, and its stride may not fit in bytes.
            if slab.count > 1 {
                all.around(Loop { count: slab.count, step: slab.stride * stride });
            }
        }
        all
    }

    fn around(&mut self, outer: Loop) {
        match self.loops.last_mut() {
            _ if outer.count == 1 => {}
            None if outer.step == self.len => self.len *= outer.count,
            Some(inner) if inner.step.checked_mul(inner.count) == Some(outer.step) => inner.count *= outer.count,
            _ => self.loops.push(outer),
        }
    }
}

/// Where a walk over loops stands.
#[derive(Clone, Debug)]
pub(crate) struct LoopWalk {
    all: Loops,
    /// How often each loop was gone through, innermost first.
    at: SmallVec<[u64; 4]>,
    /// The offset of the innermost loop's first run. It wraps where a loop steps over the end of the extent, and back.
    row: u64,
    done: bool,
}

impl LoopWalk {
    pub(crate) fn new(all: Loops) -> LoopWalk {
        LoopWalk { at: all.loops.iter().map(|_| 0).collect(), row: all.first, done: false, all }
    }

    /// Appends runs until there is no room or all are found. Only the first run of a row can touch the one before.
    pub(super) fn fill(&mut self, batch: &mut Batch<'_>) {
        let len = self.all.len;
        let inner = self.all.loops.first().copied().unwrap_or(Loop { count: 1, step: 0 });
        while !self.done && batch.room() > 0 {
            let mut from = self.at.first().copied().unwrap_or(0);
            if from == 0 && batch.merge(Run { offset: self.row, len }) {
                from = 1;
            }
            let to = inner.count.min(from.saturating_add(batch.room() as u64));
            let mut offset = self.row + from * inner.step;
            batch.out.extend((from..to).map(|_| {
                let run = Run { offset, len };
                offset = offset.wrapping_add(inner.step);
                run
            }));
            if to == inner.count {
                self.next_row();
            } else if let Some(at) = self.at.first_mut() {
                *at = to;
            }
        }
    }

    /// Hands all runs that are left to `each`, after those in `ahead`. One is held back, as it may grow.
    pub(super) fn fold<B>(mut self, mut value: B, mut ahead: Vec<Run>, mut each: impl FnMut(B, Run) -> B) -> B {
        let mut held = ahead.pop();
        value = ahead.into_iter().fold(value, &mut each);
        let len = self.all.len;
        let inner = self.all.loops.first().copied().unwrap_or(Loop { count: 1, step: 0 });
        while !self.done {
            let (from, row) = (self.at.first().copied().unwrap_or(0), self.row);
            let run = |nth: u64| Run { offset: row.wrapping_add(nth.wrapping_mul(inner.step)), len };
            match &mut held {
                Some(last) if last.end() == run(from).offset => last.len += len,
                _ => {
                    if let Some(last) = held.replace(run(from)) {
                        value = each(value, last);
                    }
                }
            }
            if from + 1 < inner.count {
                if let Some(first) = held.replace(run(inner.count - 1)) {
                    value = each(value, first);
                }
                // Added up, not multiplied out: the compiler makes vectors of the former only.
                let mut next = run(from + 1);
                for _ in from + 1..inner.count - 1 {
                    value = each(value, next);
                    next.offset = next.offset.wrapping_add(inner.step);
                }
            }
            self.next_row();
        }
        held.into_iter().fold(value, each)
    }

    /// What is left of the innermost loop's runs.
    #[inline]
    pub(crate) fn next_strip(&mut self) -> Option<Strip> {
        if self.done {
            return None;
        }
        let inner = self.all.loops.first().copied().unwrap_or(Loop { count: 1, step: self.all.len });
        let from = self.at.first().copied().unwrap_or(0);
        let offset = self.row.wrapping_add(from.wrapping_mul(inner.step));
        self.next_row();
        Some(Strip { offset, len: self.all.len, step: inner.step, count: inner.count - from })
    }

    fn next_row(&mut self) {
        let mut places = self.at.iter_mut().zip(&self.all.loops);
        if let Some((innermost, _)) = places.next() {
            *innermost = 0;
        }
        for (at, each) in places {
            *at += 1;
            self.row = self.row.wrapping_add(each.step);
            if *at < each.count {
                return;
            }
            self.row = self.row.wrapping_sub(each.step.wrapping_mul(each.count));
            *at = 0;
        }
        self.done = true;
    }
}
