//! Row-major numbers in the dataset, of elements that are known by their row-major numbers in a chunk.

use std::ops::Range;

use hyperslab_base::memory;
use hyperslab_space::{Coords, Space};

use crate::{Error, Result};

/// The numbers of a dataset's elements.
pub(super) struct ElementNumbers {
    strides: Coords,
}

/// The numbers of a chunk's elements.
pub(super) struct ChunkNumbers<'a> {
    strides: &'a [u64],
    chunk: &'a [u64],
    /// The number of the chunk's first element in the dataset.
    first: u64,
    /// The row of the chunk that was asked for last: numbers in the chunk, and the number of its first element in the dataset. Most runs that follow each
    /// other are in one row, so they need no division.
    row: Range<u64>,
    row_start: u64,
}

impl ElementNumbers {
    /// Those of a selection's extent; an error if 64 bits do not hold them. An extent without elements needs none.
    pub(super) fn of(selection: &Space) -> Result<ElementNumbers> {
        let mut strides = Coords::from_elem(1, selection.rank());
        if selection.dims().contains(&0) {
            return Ok(ElementNumbers { strides });
        }
        let mut elements = 1u64;
        for (stride, dim) in strides.iter_mut().zip(selection.dims()).rev() {
            *stride = elements;
            let too_many = || Error::Layout(format!("more than 2^64 elements in {:?}", selection.dims()));
            elements = elements.checked_mul(*dim).ok_or_else(too_many)?;
        }
        Ok(ElementNumbers { strides })
    }

    /// The number of an element.
    pub(super) fn number(&self, element: &[u64]) -> u64 {
        element.iter().zip(&self.strides).map(|(index, stride)| index * stride).sum()
    }

    /// The number of the first element of the chunk at a coordinate. It rises with the coordinate.
    pub(super) fn first_of(&self, chunk: &[u64], coord: &[u64]) -> u64 {
        coord.iter().zip(chunk).zip(&self.strides).map(|((nth, side), stride)| nth * side * stride).sum()
    }

    /// Those of the chunk at a coordinate.
    pub(super) fn in_chunk<'a>(&'a self, chunk: &'a [u64], coord: &[u64]) -> ChunkNumbers<'a> {
        let first = self.first_of(chunk, coord);
        ChunkNumbers { strides: &self.strides, chunk, first, row: 0..0, row_start: 0 }
    }
}

impl ChunkNumbers<'_> {
    /// Adds the numbers in the dataset of a run of the chunk: one run in each row that it has a part of.
    pub(super) fn add(&mut self, run: Range<u64>, numbers: &mut Vec<Range<u64>>) -> Result<()> {
        let mut start = run.start;
        while start < run.end {
            if !self.row.contains(&start) {
                self.turn_to(start);
            }
            let (end, number) = (run.end.min(self.row.end), self.row_start + (start - self.row.start));
            let part = number..number + (end - start);
            match numbers.last_mut() {
                Some(last) if last.end == part.start => last.end = part.end,
                _ => {
                    memory::reserve(numbers, 1)?;
                    numbers.push(part);
                }
            }
            start = end;
        }
        Ok(())
    }

    /// Turns to the row of an element.
    fn turn_to(&mut self, element: u64) {
        let width = self.chunk.last().copied().unwrap_or(1).max(1);
        let start = element - element % width;
        let (mut rest, mut number) = (start, self.first);
        for (side, stride) in self.chunk.iter().zip(self.strides).rev() {
            number += rest % side * stride;
            rest /= side;
        }
        (self.row, self.row_start) = (start..start + width, number);
    }
}
