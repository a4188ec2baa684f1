//! The elements of a dataset one by one, read in pieces so that memory does not grow with the dataset.

use hyperslab::space::{Op, Slab, Space};
use hyperslab::{Dataset, Layout, Result, Value, Values};
use indicatif::ProgressBar;

/// What one piece may take in memory.
const PIECE: u64 = 16 << 20;

/// What it may take where that spares decoding chunks again.
const PIECE_OF_CHUNKS: u64 = 256 << 20;

/// More bytes than this take a while.
const LONG: u64 = 64 << 20;

pub(crate) struct Elements<'a> {
    dataset: &'a Dataset,
    slabs: Vec<Slab>,
    /// Pieces are ranges of this dimension, within one index of those before it.
    split: usize,
    /// How many indices of that dimension a piece has.
    length: u64,
    chunk: u64,
    /// How many indices of each dimension up to that one were passed; nothing when all were.
    at: Option<Vec<u64>>,
    values: Option<Values<'a>>,
    progress: ProgressBar,
}

impl<'a> Elements<'a> {
    pub(crate) fn new(dataset: &'a Dataset, slabs: &[Slab], progress: bool) -> Elements<'a> {
        let size = dataset.datatype().size() as u64;
        let total = slabs.iter().fold(size, |product, slab| product.saturating_mul(slab.indices()));
        let mut split = 0;
        let mut inner = total;
        for (dim, slab) in slabs.iter().enumerate() {
            (split, inner) = (dim, inner / slab.indices().max(1));
            if inner <= PIECE {
                break;
            }
        }
        let chunk = match dataset.layout() {
            Ok(Layout::Chunked { chunk, .. }) => chunk.get(split).copied().unwrap_or(1),
            _ => 1,
        };
        let fits = |budget: u64| (budget / inner.max(1)).max(1);
        let length = fits(PIECE).max(chunk.min(fits(PIECE_OF_CHUNKS)));
        let empty = slabs.iter().any(|slab| slab.indices() == 0) || dataset.extent().is_null();
        let at = (!empty).then(|| vec![0; (split + 1).min(slabs.len())]);
        let progress = if progress && total > LONG { ProgressBar::new(total / size) } else { ProgressBar::hidden() };
        Elements { dataset, slabs: slabs.to_vec(), split, length, chunk, at, values: None, progress }
    }

    /// The selection of the next piece.
    fn piece(&mut self) -> Result<Option<Space>> {
        let Some(at) = &mut self.at else { return Ok(None) };
        let mut space = self.dataset.space();
        if self.slabs.is_empty() {
            self.at = None;
            return Ok(Some(space));
        }
        let mut slabs = self.slabs.clone();
        let mut taken = 1;
        for (dim, (slab, &passed)) in slabs.iter_mut().zip(at.iter()).enumerate() {
            if dim == self.split {
                (*slab, taken) = range(slab, passed, self.length, self.chunk);
            } else {
                *slab = Slab::block(nth(slab, passed), 1);
            }
        }
        space.select_hyperslab(Op::Set, &slabs)?;
        let mut carry = taken;
        let mut whole = true;
        for (passed, slab) in at.iter_mut().zip(&self.slabs).rev() {
            *passed += carry;
            if *passed < slab.indices() {
                whole = false;
                break;
            }
            (*passed, carry) = (0, 1);
        }
        if whole {
            self.at = None;
        }
        Ok(Some(space))
    }
}

impl Iterator for Elements<'_> {
    type Item = Result<Value>;

    fn next(&mut self) -> Option<Result<Value>> {
        loop {
            if let Some(value) = self.values.as_mut().and_then(Iterator::next) {
                return Some(value);
            }
            let piece = match self.piece() {
                Ok(piece) => piece?,
                Err(why) => {
                    self.at = None;
                    return Some(Err(why));
                }
            };
            match self.dataset.read_values(&piece) {
                Ok(values) => {
                    self.progress.inc(values.len() as u64);
                    self.values = Some(values);
                }
                Err(why) => {
                    (self.at, self.values) = (None, None);
                    return Some(Err(why));
                }
            }
        }
    }
}

impl Drop for Elements<'_> {
    fn drop(&mut self) {
        self.progress.finish_and_clear();
    }
}

/// The index with this number in a pattern.
pub(crate) fn nth(slab: &Slab, number: u64) -> u64 {
    let block = slab.block.max(1);
    slab.start + number / block * slab.stride + number % block
}

/// The indices of a pattern from number `from` on, about `length` of them; and how many they are. A range ends with a chunk where it can.
fn range(slab: &Slab, from: u64, length: u64, chunk: u64) -> (Slab, u64) {
    let left = slab.indices() - from;
    let take = length.min(left);
    if slab.count == 1 {
        let over = (slab.start + from + take) % chunk.max(1);
        let take = if take < left && over < take { take - over } else { take };
        return (Slab::block(slab.start + from, take), take);
    }
    if slab.block == 1 {
        return (Slab::new(nth(slab, from), slab.stride, take, 1), take);
    }
    match (from % slab.block, take / slab.block) {
        (0, blocks @ 1..) => (Slab::new(nth(slab, from), slab.stride, blocks, slab.block), blocks * slab.block),
        (within, _) => {
            let take = take.min(slab.block - within);
            (Slab::block(nth(slab, from), take), take)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(slab: &Slab) -> Vec<u64> {
        (0..slab.indices()).map(|number| nth(slab, number)).collect()
    }

    #[test]
    fn ranges_one_after_the_other_are_the_pattern() {
        for slab in [Slab::block(3, 20), Slab::new(1, 4, 6, 1), Slab::new(2, 7, 5, 3)] {
            for length in 1..25 {
                for chunk in [1, 4, 100] {
                    let (mut from, mut all) = (0, Vec::new());
                    while from < slab.indices() {
                        let (part, taken) = range(&slab, from, length, chunk);
                        assert_eq!(part.indices(), taken);
                        assert!(taken > 0 && taken <= length.max(slab.block));
                        all.extend(indices(&part));
                        from += taken;
                    }
                    assert_eq!(all, indices(&slab), "{slab:?} by {length} in chunks of {chunk}");
                }
            }
        }
    }
}
