//! Selections that are one run, found out without walking them: rows and parts of rows are what programs ask for most.

use crate::{Run, Slab, Space, selection::Shape};

impl Space {
    /// All selected elements as one run of bytes, if that is easily seen: of everything, or of one box whose elements lie side by side.
    ///
    /// ```
    /// use hyperslab_space::{Op, Run, Slab, Space};
    /// let mut row = Space::simple(&[4, 10])?;
    /// row.select_hyperslab(Op::Set, &[Slab::block(2, 1), Slab::block(3, 5)])?;
    /// assert_eq!(row.only_run(8), Some(Run { offset: 8 * 23, len: 8 * 5 }));
    /// row.select_hyperslab(Op::Set, &[Slab::block(1, 2), Slab::block(3, 5)])?;
    /// assert_eq!(row.only_run(8), None);
    /// # Ok::<(), hyperslab_space::Error>(())
    /// ```
    pub fn only_run(&self, element_size: u64) -> Option<Run> {
        match &self.selection.0 {
            Shape::All => Some(Run { offset: 0, len: self.extent.bytes(element_size)? }),
            Shape::Regular(slabs) => {
                // Behind the first dimension with more than one index, all must be whole.
                let (mut offset, mut len, mut is_cut) = (0u64, 1u64, false);
                for (slab, &dim) in slabs.iter().zip(self.dims()) {
                    let size = one_block(slab)?;
                    let is_whole = size == dim && slab.start == 0;
                    if is_cut && !is_whole {
                        return None;
                    }
                    is_cut |= size != 1;
                    offset = offset.checked_mul(dim)?.checked_add(slab.start)?;
                    len = len.checked_mul(size)?;
                }
                Some(Run { offset: offset.checked_mul(element_size)?, len: len.checked_mul(element_size)? })
            }
            _ => None,
        }
    }
}

/// The size of a pattern that is one block.
fn one_block(slab: &Slab) -> Option<u64> {
    let Slab { stride, count, block, .. } = *slab;
    let is_one = !slab.is_unlimited() && (count == 1 || stride == block);
    is_one.then(|| count.checked_mul(block)).flatten().filter(|size| *size > 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Op;

    proptest! {
        #[test]
        fn it_is_what_the_runs_are(dims in prop::collection::vec(1..5u64, 1..4), corners in prop::collection::vec((0..5u64, 1..5u64, 1..3u64), 3)) {
            let mut space = Space::simple(&dims).unwrap();
            let slab = |(&dim, &(start, len, block)): (&u64, &(u64, u64, u64))| {
                let start = start.min(dim - 1);
                Slab::new(start, block, (len.min(dim - start) / block).max(1), block.min(dim - start))
            };
            let slabs: Vec<Slab> = dims.iter().zip(&corners).map(slab).collect();
            if space.select_hyperslab(Op::Set, &slabs).is_ok() && space.check_inside().is_ok() {
                let runs: Vec<Run> = space.runs(3).unwrap().collect();
                let found = space.only_run(3);
                prop_assert!(found.is_none_or(|run| runs == [run]), "{:?} {:?} {:?}", slabs, found, runs);
                prop_assert!(found.is_some() || runs.len() > 1, "{:?} {:?}", slabs, runs);
            }
        }
    }
}
