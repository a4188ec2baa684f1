//! An array of more dimensions in a chunk: its blocks are boxes, stored one after the other, those at the far ends filled up.

use hyperslab_base::{Cursor, Width, memory};

use super::block_shape::block_shape;
use crate::{
    Fault,
    blosc::{Chunk, Work},
    output::{stale, to_len},
};

/// The most dimensions that blosc2 has.
pub(super) const MAX_RANK: usize = 16;

#[derive(Debug)]
pub(super) struct Grid {
    /// The extent of the array, which is one chunk.
    shape: Vec<usize>,
    /// The extent of a block.
    block: Vec<usize>,
}

impl Grid {
    /// From the layer: seven things, of which the third to the fifth are the shapes of the array, a chunk and a block.
    pub(super) fn read(layer: &[u8]) -> Result<Grid, Fault> {
        let mut cursor = Cursor::new(layer);
        cursor.skip(2)?;
        let rank = usize::from(cursor.u8()?);
        if !(1..=MAX_RANK).contains(&rank) {
            return Err(Fault::Unsupported("a blosc2 array of more than 16 dimensions, or none"));
        }
        let mut dims = |width: Width| -> Result<Vec<usize>, Fault> {
            cursor.skip(1)?;
            let mut dim = || {
                cursor.skip(1)?;
                to_len(cursor.uint(width)?.swap_bytes() >> (64 - 8 * width.bytes()))
            };
            (0..rank).map(|_| dim()).collect()
        };
        let (shape, chunk, block) = (dims(Width::W8)?, dims(Width::W4)?, dims(Width::W4)?);
        if shape != chunk {
            return Err(Fault::Unsupported("a blosc2 array of more than one chunk"));
        }
        if shape.iter().zip(&block).any(|(dim, block)| *block == 0 || block > dim) {
            return Err(Fault::Corrupt("a block larger than its chunk, or empty"));
        }
        Ok(Grid { shape, block })
    }

    /// The array of a chunk of this shape, whose blocks have at most so many elements.
    pub(super) fn new(shape: Vec<usize>, block_elements: usize) -> Grid {
        let block = block_shape(&shape, block_elements);
        Grid { shape, block }
    }

    /// The opposite of [`read`](Grid::read). Elements are opaque: datatypes stand elsewhere in the file.
    pub(super) fn to_layer(&self, size: usize) -> Vec<u8> {
        let rank = self.shape.len() as u8;
        // Seven things, in format 0.
        let mut layer = vec![0x97, 0, rank, 0x90 | rank];
        for dim in &self.shape {
            layer.push(0xd3);
            layer.extend((*dim as u64).to_be_bytes());
        }
        for dims in [&self.shape, &self.block] {
            layer.push(0x90 | rank);
            for dim in dims {
                layer.push(0xd2);
                layer.extend((*dim as u32).to_be_bytes());
            }
        }
        let name = format!("|V{size}");
        layer.extend([0, 0xdb]);
        layer.extend((name.len() as u32).to_be_bytes());
        layer.extend(name.bytes());
        layer
    }

    /// The decoded length.
    pub(super) fn len(&self, size: usize) -> Result<usize, Fault> {
        let len = self.shape.iter().try_fold(size, |len, dim| len.checked_mul(*dim));
        len.ok_or(LARGE)
    }

    /// The bytes of a block.
    pub(super) fn block_len(&self, size: usize) -> Result<usize, Fault> {
        self.block.iter().try_fold(size, |len, dim| len.checked_mul(*dim)).ok_or(LARGE)
    }

    /// The bytes of all blocks, and how many of them there are in each dimension.
    pub(super) fn padded_len(&self, size: usize) -> Result<(usize, Vec<usize>), Fault> {
        let counts: Vec<usize> = self.shape.iter().zip(&self.block).map(|(dim, block)| dim.div_ceil(*block)).collect();
        let len = counts.iter().try_fold(self.block_len(size)?, |len, count| len.checked_mul(*count));
        Ok((len.ok_or(LARGE)?, counts))
    }

    /// Whether one block has the whole array, as it is.
    pub(super) fn is_one_block(&self) -> bool {
        self.shape == self.block
    }

    /// Decodes block by block and puts the rows of each where they belong.
    pub(super) fn decode(&self, chunk: &Chunk<'_>, size: usize, out: &mut [u8]) -> Result<(), Fault> {
        let (block_len, (padded, counts)) = (self.block_len(size)?, self.padded_len(size)?);
        if chunk.block_len() != block_len || padded != chunk.len() {
            return Err(Fault::Corrupt("the blocks of a chunk are not those of its array"));
        }
        if self.is_one_block() {
            return chunk.decode(out);
        }
        let (mut block, mut work) = (Vec::new(), Work::default());
        for index in 0..counts.iter().product() {
            let block = stale(&mut block, block_len, out.len())?;
            chunk.block(index, block, &mut work)?;
            for (row, at, len) in self.rows(&corner(index, &counts, &self.block), size) {
                if let (Some(to), Some(from)) = (out.get_mut(at..at + len), block.get(row..row + len)) {
                    to.copy_from_slice(from);
                }
            }
        }
        Ok(())
    }

    /// The blocks of an array, one after the other. Those at its far ends are filled up with zeros.
    pub(super) fn to_blocks(&self, size: usize, input: &[u8]) -> Result<Vec<u8>, Fault> {
        let (block_len, (padded, counts)) = (self.block_len(size)?, self.padded_len(size)?);
        let mut blocks = memory::zeroed(padded as u64)?;
        for (index, block) in blocks.chunks_exact_mut(block_len.max(1)).enumerate() {
            for (row, at, len) in self.rows(&corner(index, &counts, &self.block), size) {
                if let (Some(to), Some(from)) = (block.get_mut(row..row + len), input.get(at..at + len)) {
                    to.copy_from_slice(from);
                }
            }
        }
        Ok(blocks)
    }

    /// For each row of a block that is inside the array: where it starts in the block, where in the array, and its bytes.
    fn rows(&self, corner: &[usize], size: usize) -> impl Iterator<Item = (usize, usize, usize)> {
        let (&width, outer) = self.shape.split_last().unwrap_or((&0, &[]));
        let (&row, lines) = self.block.split_last().unwrap_or((&0, &[]));
        let first = corner.last().copied().unwrap_or(0);
        let len = row.min(width.saturating_sub(first)) * size;
        (0..lines.iter().product()).filter_map(move |index| {
            let line = line(index, outer, &self.block, corner)?;
            Some((index * row * size, (line * width + first) * size, len))
        })
    }
}

const LARGE: Fault = Fault::Corrupt("an array larger than memory");

/// Where a block starts.
fn corner(mut index: usize, blocks: &[usize], block: &[usize]) -> Vec<usize> {
    let mut corner: Vec<usize> = Vec::with_capacity(blocks.len());
    for (count, extent) in blocks.iter().zip(block).rev() {
        corner.push(index % count * extent);
        index /= count;
    }
    corner.reverse();
    corner
}

/// The number of the array's row that is a row of a block; `None` if it is outside of the array.
fn line(mut row: usize, outer: &[usize], block: &[usize], corner: &[usize]) -> Option<usize> {
    let (mut line, mut stride) = (0, 1);
    for ((dim, extent), start) in outer.iter().zip(block).zip(corner).rev() {
        let at = start + row % extent;
        if at >= *dim {
            return None;
        }
        line += at * stride;
        stride *= dim;
        row /= extent;
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_element_is_in_its_block(shape in prop::collection::vec(1usize..9, 1..5), elements in 1usize..200, size in 1usize..5) {
            let grid = Grid::new(shape.clone(), elements);
            let input: Vec<u8> = (0..grid.len(size).unwrap()).map(|at| at as u8 | 1).collect();
            let blocks = grid.to_blocks(size, &input).unwrap();
            prop_assert_eq!(blocks.len(), grid.padded_len(size).unwrap().0);
            let (block_len, (_, counts)) = (grid.block_len(size).unwrap(), grid.padded_len(size).unwrap());
            let mut back = vec![0; input.len()];
            for (index, block) in blocks.chunks(block_len).enumerate() {
                for (row, at, len) in grid.rows(&corner(index, &counts, &grid.block), size) {
                    back[at..at + len].copy_from_slice(&block[row..row + len]);
                }
            }
            prop_assert_eq!(&back, &input);
            prop_assert_eq!(blocks.iter().filter(|byte| **byte != 0).count(), input.len());
            let read = Grid::read(&grid.to_layer(size)).unwrap();
            prop_assert_eq!((read.shape, read.block), (shape, grid.block));
        }
    }
}
