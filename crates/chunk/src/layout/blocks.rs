//! Contiguous values as the cache sees them: blocks of rows that lie side by side in the file.

use hyperslab_space::Extent;

/// About as many bytes as are worth one request.
const BYTES: u64 = 256 << 10;

/// Blocks that values in one piece are cut into.
#[derive(Debug)]
pub(crate) struct Blocks<'a> {
    extent: &'a Extent,
    element: u64,
    /// One dimension is cut, those after it are whole, and those before it count one by one: so a block is one piece of the file.
    pub(crate) shape: Vec<u64>,
}

impl<'a> Blocks<'a> {
    /// Blocks of values of `element` bytes; nothing if there is nothing to cut.
    pub(crate) fn new(extent: &'a Extent, element: u64) -> Option<Blocks<'a>> {
        if extent.rank() == 0 || extent.is_empty() || element == 0 {
            return None;
        }
        let (mut shape, mut bytes) = (vec![1; extent.rank()], element);
        for (side, &dim) in shape.iter_mut().zip(extent.dims()).rev() {
            *side = (BYTES / bytes).clamp(1, dim);
            bytes = bytes.saturating_mul(*side);
            if *side < dim {
                break;
            }
        }
        Some(Blocks { extent, element, shape })
    }

    /// The bytes of a block.
    pub(crate) fn bytes(&self) -> u64 {
        self.shape.iter().fold(self.element, |bytes, side| bytes.saturating_mul(*side))
    }

    /// How many elements of the block at a coordinate are in the dataset. They come first in it.
    pub(crate) fn inside(&self, coord: &[u64]) -> u64 {
        let sides = coord.iter().zip(self.shape.iter().zip(self.extent.dims()));
        let side = |(nth, (size, dim)): (&u64, (&u64, &u64))| dim.saturating_sub(nth.saturating_mul(*size)).min(*size);
        sides.map(side).product()
    }

    /// How many bytes come before the block at a coordinate.
    pub(crate) fn offset(&self, coord: &[u64]) -> u64 {
        let sides = coord.iter().zip(self.shape.iter().zip(self.extent.dims()));
        let along = |at: u64, (nth, (size, dim)): (&u64, (&u64, &u64))| {
            at.saturating_mul(*dim).saturating_add(nth.saturating_mul(*size))
        };
        sides.fold(0, along).saturating_mul(self.element)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_lie_one_after_the_other() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..500 {
            let dims: Vec<u64> = (0..random.usize(1..4)).map(|_| random.u64(1..9)).collect();
            let (element, extent) = (random.u64(1..200_000), Extent::simple(&dims).unwrap());
            let blocks = Blocks::new(&extent, element).unwrap();
            let (mut end, mut coords) = (0, vec![vec![]]);
            for (dim, side) in dims.iter().zip(&blocks.shape) {
                let longer =
                    |coord: &Vec<u64>| (0..dim.div_ceil(*side)).map(|nth| [&coord[..], &[nth]].concat()).collect();
                coords = coords.iter().flat_map(|coord| -> Vec<Vec<u64>> { longer(coord) }).collect();
            }
            for coord in coords {
                assert_eq!(blocks.offset(&coord), end);
                end += blocks.inside(&coord) * element;
                assert!(blocks.inside(&coord) > 0 && blocks.inside(&coord) * element <= blocks.bytes());
            }
            assert_eq!(end, dims.iter().product::<u64>() * element);
            assert!(blocks.bytes() <= BYTES || blocks.shape.iter().all(|&side| side == 1));
        }
    }

    #[test]
    fn what_has_no_elements_has_no_blocks() {
        assert!(Blocks::new(&Extent::scalar(), 4).is_none());
        assert!(Blocks::new(&Extent::simple(&[3, 0]).unwrap(), 4).is_none());
    }
}
