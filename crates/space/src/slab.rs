//! One dimension of a regular hyperslab: blocks of equal size at equal distances.
//!
//! All arithmetic on regular patterns is here; it never walks the pattern. Indices and ordinals (the n-th selected
//! index) are converted into each other by [`Slab::rank`] and [`Slab::nth`].

use smallvec::{SmallVec, smallvec};

use crate::{Error, Result, span::Span};

/// A count, block or maximum without end.
pub const UNLIMITED: u64 = u64::MAX;

/// `count` blocks of `block` indices, `stride` apart, the first at `start`.
///
/// ```
/// use hyperslab_space::Slab;
/// let every_third = Slab::new(0, 3, 5, 1); // 0 3 6 9 12
/// assert_eq!(every_third.indices(), 5);
/// assert_eq!(Slab::block(2, 4), Slab::new(2, 1, 1, 4)); // 2 3 4 5
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slab {
    /// The first index.
    pub start: u64,
    /// The distance from one block to the next.
    pub stride: u64,
    /// The number of blocks; [`UNLIMITED`] for as many as the extent has room for.
    pub count: u64,
    /// The size of a block; [`UNLIMITED`] for one block to the end of the extent.
    pub block: u64,
}

/// Parts of a pattern that was cut at both ends: a partial block, whole blocks, a partial block.
pub(crate) type Parts = SmallVec<[Slab; 3]>;

impl Slab {
    /// A pattern from its four numbers, in the order in which HDF5 names them.
    pub const fn new(start: u64, stride: u64, count: u64, block: u64) -> Slab {
        Slab { start, stride, count, block }
    }

    /// `len` consecutive indices.
    pub const fn block(start: u64, len: u64) -> Slab {
        Slab { start, stride: 1, count: 1, block: len }
    }

    /// Refuses what no selection may have: a zero stride, overlapping blocks, indices that do not fit 64 bits.
    pub(crate) fn check(&self, dim: usize) -> Result<()> {
        let refuse = |why| Err(Error::Slab { dim, slab: *self, why });
        if self.stride == 0 {
            return refuse("a stride of zero");
        }
        if self.is_empty() {
            return Ok(());
        }
        if self.count == UNLIMITED && self.block == UNLIMITED {
            return refuse("count and block are both unlimited");
        }
        if self.count > 1 && self.stride < self.block {
            return refuse("blocks overlap: the stride is smaller than the block");
        }
        if self.start == UNLIMITED {
            return refuse("the start is not an index");
        }
        if !self.is_unlimited() && self.checked_end().is_none() {
            return refuse("indices do not fit 64 bits");
        }
        Ok(())
    }

    fn checked_end(&self) -> Option<u64> {
        let last = self.stride.checked_mul(self.count - 1)?;
        self.start.checked_add(last)?.checked_add(self.block)
    }

    /// Whether it holds no index.
    pub const fn is_empty(&self) -> bool {
        self.count == 0 || self.block == 0
    }

    /// Whether count or block is without end.
    pub const fn is_unlimited(&self) -> bool {
        self.count == UNLIMITED || self.block == UNLIMITED
    }

    /// How many indices it holds.
    pub const fn indices(&self) -> u64 {
        self.count.saturating_mul(self.block)
    }

    /// How many of its indices a dimension of `size` has.
    pub fn indices_below(&self, size: u64) -> u64 {
        self.rank(size)
    }

    /// The size of the dimension in which an unlimited pattern has `indices`: just large enough, or with `trailing` just too small
    /// for one more. None if 64 bits do not hold it.
    ///
    /// ```
    /// use hyperslab_space::{Slab, UNLIMITED};
    /// let pairs = Slab::new(1, 4, UNLIMITED, 2); // 1 2  5 6  9 …
    /// assert_eq!(pairs.size_with(4, false), Some(7));
    /// assert_eq!(pairs.size_with(4, true), Some(9));
    /// ```
    pub fn size_with(&self, indices: u64, trailing: bool) -> Option<u64> {
        match (indices, trailing) {
            (0, false) => Some(0),
            _ if self.block == UNLIMITED || self.block == self.stride => self.start.checked_add(indices),
            _ => {
                let last = if trailing { indices } else { indices - 1 };
                let whole = (last / self.block).checked_mul(self.stride)?;
                let size = self.start.checked_add(whole)?.checked_add(last % self.block)?;
                if trailing { Some(size) } else { size.checked_add(1) }
            }
        }
    }

    /// The index after the last one.
    pub(crate) const fn end(&self) -> u64 {
        if self.is_empty() { self.start } else { self.start + self.stride * (self.count - 1) + self.block }
    }

    /// The last index of a slab that is not empty.
    pub(crate) const fn last(&self) -> u64 {
        if self.is_unlimited() { UNLIMITED } else { self.end() - 1 }
    }

    /// The same indices in the one form that libhdf5 computes and encodes with: touching blocks are one block (unless there are
    /// unlimited ones), and a single block has stride 1.
    pub(crate) const fn normal(self) -> Slab {
        if self.count == UNLIMITED {
            self
        } else if self.stride == self.block {
            Slab { start: self.start, stride: 1, count: 1, block: self.indices() }
        } else if self.count == 1 {
            Slab { stride: 1, ..self }
        } else {
            self
        }
    }

    /// The stride, or the block where that is all there is and the stride says nothing.
    const fn step(&self) -> u64 {
        if self.stride > self.block { self.stride } else { self.block }
    }

    /// How many of its indices are below `index`.
    pub(crate) fn rank(&self, index: u64) -> u64 {
        if index <= self.start {
            return 0;
        }
        let (past, step) = (index - self.start, self.step());
        let whole = past / step;
        if whole >= self.count {
            return self.indices();
        }
        whole * self.block + (past - whole * step).min(self.block)
    }

    /// Its `ordinal`-th index, which must exist.
    pub(crate) fn nth(&self, ordinal: u64) -> u64 {
        self.start + (ordinal / self.block) * self.stride + ordinal % self.block
    }

    /// Whether it holds `index`.
    pub(crate) fn contains(&self, index: u64) -> bool {
        index >= self.start && {
            let (past, step) = (index - self.start, self.step());
            past / step < self.count && past % step < self.block
        }
    }

    /// The part from the `from`-th to before the `to`-th of its indices.
    pub(crate) fn take(&self, from: u64, to: u64) -> Parts {
        if from >= to {
            return smallvec![];
        }
        let (first, last) = (from / self.block, (to - 1) / self.block);
        let (cut_front, cut_back) = (from % self.block, self.block - 1 - (to - 1) % self.block);
        if first == last {
            return smallvec![Slab::block(self.nth(from), to - from)];
        }
        let mut parts = Parts::new();
        let mut whole = *self;
        whole.start += first * self.stride;
        whole.count = last - first + 1;
        if cut_front > 0 {
            parts.push(Slab::block(whole.start + cut_front, self.block - cut_front));
            whole.start += self.stride;
            whole.count -= 1;
        }
        if cut_back > 0 {
            whole.count -= 1;
        }
        if whole.count > 0 {
            parts.push(whole);
        }
        if cut_back > 0 {
            parts.push(Slab::block(self.start + last * self.stride, self.block - cut_back));
        }
        parts
    }

    /// The part inside `start..end`.
    pub(crate) fn clip(&self, start: u64, end: u64) -> Parts {
        self.take(self.rank(start), self.rank(end))
    }

    /// This pattern and one block more, before or behind it, if that is again a pattern. Both must be in normal form.
    pub(crate) fn joined(&self, other: &Slab) -> Option<Slab> {
        if self.count == 1 && other.count > 1 {
            return other.joined(self);
        }
        let (first, second) = if self.start <= other.start { (self, other) } else { (other, self) };
        if other.count != 1 || first.end() > second.start {
            return None;
        }
        if first.count == 1 && second.count == 1 && first.end() == second.start {
            return Some(Slab::block(first.start, first.block + second.block));
        }
        let (stride, block) =
            if self.count > 1 { (self.stride, self.block) } else { (second.start - first.start, self.block) };
        let goes_on = first.stride_count(stride).and_then(|way| first.start.checked_add(way)) == Some(second.start);
        (goes_on && other.block == block).then_some(Slab { start: first.start, stride, count: self.count + 1, block })
    }

    /// The way from the first block to behind the last one, in whole strides.
    fn stride_count(&self, stride: u64) -> Option<u64> {
        self.count.checked_mul(stride)
    }

    /// An unlimited pattern as it is in a dimension of `size`; others as they are.
    pub(crate) fn clip_unlimited(&self, size: u64) -> Parts {
        if !self.is_unlimited() {
            return smallvec![*self];
        }
        if self.start >= size {
            return smallvec![];
        }
        let room = size - self.start;
        if self.block == UNLIMITED || self.stride == self.block {
            return smallvec![Slab::block(self.start, room)];
        }
        let all = Slab { count: room.div_ceil(self.stride), ..*self };
        all.clip(self.start, size)
    }

    /// Its blocks one by one.
    pub(crate) fn spans(self) -> impl Iterator<Item = Span<()>> {
        (0..self.count).map(move |nth| {
            let start = self.start + nth * self.stride;
            Span { start, end: start + self.block, down: () }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn indices(slab: Slab) -> Vec<u64> {
        slab.spans().flat_map(|span| span.start..span.end).collect()
    }

    prop_compose! {
        fn slab()(start in 0..9u64, gap in 0..4u64, count in 1..6u64, block in 1..5u64) -> Slab {
            Slab::new(start, block + gap, count, block)
        }
    }

    proptest! {
        #[test]
        fn ordinals_and_indices_agree_with_a_walk(slab in slab(), normal: bool, cut in (0..40u64, 0..40u64)) {
            let all = indices(slab);
            let slab = if normal { slab.normal() } else { slab };
            prop_assert_eq!(all.len() as u64, slab.indices());
            prop_assert_eq!(all.last().copied().map(|last| last + 1), Some(slab.end()));
            prop_assert_eq!(&indices(slab.normal()), &all);
            for index in 0..60 {
                prop_assert_eq!(slab.rank(index), all.iter().filter(|&&one| one < index).count() as u64);
                prop_assert_eq!(slab.contains(index), all.contains(&index));
            }
            for (ordinal, &index) in all.iter().enumerate() {
                prop_assert_eq!(slab.nth(ordinal as u64), index);
            }
            let more = Slab::block(cut.0, slab.block);
            if let Some(joined) = slab.normal().joined(&more.normal()) {
                let mut both = [all.clone(), indices(more)].concat();
                both.sort();
                prop_assert_eq!(indices(joined), both);
            }
            let (low, high) = (cut.0.min(cut.1), cut.0.max(cut.1));
            let clipped: Vec<u64> = slab.clip(low, high).into_iter().flat_map(indices).collect();
            prop_assert_eq!(clipped, all.into_iter().filter(|one| (low..high).contains(one)).collect::<Vec<_>>());
        }

        #[test]
        fn unlimited_patterns_end_with_the_extent(start in 0..9u64, gap in 0..3u64, block in 1..4u64, size in 0..30u64) {
            let slab = Slab::new(start, block + gap, UNLIMITED, block);
            let clipped: Vec<u64> = slab.clip_unlimited(size).into_iter().flat_map(indices).collect();
            let naive: Vec<u64> = (start..size.max(start)).filter(|i| (i - start) % (block + gap) < block).collect();
            prop_assert_eq!(&clipped, &naive);
            prop_assert_eq!(slab.indices_below(size), naive.len() as u64);
            let (least, most) = (slab.size_with(naive.len() as u64, false).unwrap(), slab.size_with(naive.len() as u64, true).unwrap());
            prop_assert!(least <= size && slab.indices_below(least) == slab.indices_below(size));
            prop_assert!(naive.is_empty() || slab.indices_below(least - 1) < naive.len() as u64);
            prop_assert_eq!(slab.indices_below(most), naive.len() as u64);
            prop_assert_eq!(slab.indices_below(most + 1), naive.len() as u64 + 1);
        }
    }
}
