//! An array of more dimensions in a chunk: its blocks are boxes, stored one after the other, those at the far ends filled up.

use hyperslab_base::{Cursor, Width};

use crate::{
    Fault,
    blosc::{Chunk, Work},
    output::{stale, to_len},
};

/// The most dimensions that blosc2 has.
pub(super) const MAX_RANK: usize = 8;

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
            return Err(Fault::Unsupported("a blosc2 array of more than 8 dimensions, or none"));
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

    /// The decoded length.
    pub(super) fn len(&self, size: usize) -> Result<usize, Fault> {
        let len = self.shape.iter().try_fold(size, |len, dim| len.checked_mul(*dim));
        len.ok_or(Fault::Corrupt("an array larger than memory"))
    }

    /// Decodes block by block and puts the rows of each where they belong.
    pub(super) fn decode(&self, chunk: &Chunk<'_>, size: usize, out: &mut [u8]) -> Result<(), Fault> {
        let block_len = self.block.iter().product::<usize>() * size;
        let blocks: Vec<usize> = self.shape.iter().zip(&self.block).map(|(dim, block)| dim.div_ceil(*block)).collect();
        let count = blocks.iter().try_fold(1usize, |count, dim| count.checked_mul(*dim));
        if chunk.block_len() != block_len || count.and_then(|count| count.checked_mul(block_len)) != Some(chunk.len()) {
            return Err(Fault::Corrupt("the blocks of a chunk are not those of its array"));
        }
        let (mut block, mut work) = (Vec::new(), Work::default());
        for index in 0..count.unwrap_or(0) {
            let block = stale(&mut block, block_len, out.len())?;
            chunk.block(index, block, &mut work)?;
            self.place(&corner(index, &blocks, &self.block), size, block, out);
        }
        Ok(())
    }

    /// Copies the rows of a block that are inside the array.
    fn place(&self, corner: &[usize], size: usize, block: &[u8], out: &mut [u8]) {
        let (Some((&width, outer)), Some(&row), Some(&first)) =
            (self.shape.split_last(), self.block.last(), corner.last())
        else {
            return;
        };
        let len = row.min(width - first) * size;
        for (index, from) in block.chunks_exact(row * size).enumerate() {
            let Some(line) = line(index, outer, &self.block, corner) else { continue };
            let at = (line * width + first) * size;
            if let (Some(to), Some(from)) = (out.get_mut(at..at + len), from.get(..len)) {
                to.copy_from_slice(from);
            }
        }
    }
}

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
