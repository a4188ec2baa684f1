//! A dataset in pieces, so that memory does not grow with it.

use hyperslab::space::Slab;
use hyperslab::{Dataset, Layout};

/// What one piece may take in memory.
const PIECE: u64 = 16 << 20;

/// What it may take where that spares decoding chunks again.
const PIECE_OF_CHUNKS: u64 = 256 << 20;

/// The pieces of a part of a dataset, one after the other: one pattern per dimension each.
pub(crate) struct Pieces {
    slabs: Vec<Slab>,
    /// Pieces are ranges of this dimension, within one index of those before it.
    split: usize,
    /// How many indices of that dimension a piece has.
    length: u64,
    chunk: u64,
    /// How many indices of each dimension up to that one were passed; nothing when all were.
    at: Option<Vec<u64>>,
}

impl Pieces {
    pub(crate) fn new(dataset: &Dataset, slabs: &[Slab]) -> Pieces {
        let size = dataset.datatype().size() as u64;
        let mut inner = slabs.iter().fold(size, |product, slab| product.saturating_mul(slab.indices()));
        let mut split = 0;
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
        Pieces { slabs: slabs.to_vec(), split, length, chunk, at }
    }

    /// No pieces.
    pub(crate) fn none() -> Pieces {
        Pieces { slabs: Vec::new(), split: 0, length: 0, chunk: 1, at: None }
    }

    /// The pieces of a whole dataset.
    pub(crate) fn all(dataset: &Dataset) -> Pieces {
        Pieces::new(dataset, &dataset.shape().iter().map(|&dim| Slab::block(0, dim)).collect::<Vec<_>>())
    }
}

impl Iterator for Pieces {
    type Item = Vec<Slab>;

    fn next(&mut self) -> Option<Vec<Slab>> {
        let at = self.at.as_mut()?;
        let mut slabs = self.slabs.clone();
        if slabs.is_empty() {
            self.at = None;
            return Some(slabs);
        }
        let mut taken = 1;
        for (dim, (slab, &passed)) in slabs.iter_mut().zip(at.iter()).enumerate() {
            if dim == self.split {
                (*slab, taken) = range(slab, passed, self.length, self.chunk);
            } else {
                *slab = Slab::block(nth(slab, passed), 1);
            }
        }
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
        Some(slabs)
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
