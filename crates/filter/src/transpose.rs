//! Turning a table of bytes over: rows to columns and back. Called by shuffle, bitshuffle, blosc, blosc2 and szip.
//! Input and output are equally long; an element size of 0 is the caller's to refuse.
//!
//! One step does the work for element sizes that are powers of two. Interleaving the two halves of a block of columns takes
//! the byte at place `p` to `2p`, modulo the length of the block less one. As many steps as the element size has bits take
//! it to `size · p`, which is its place in the table of rows; the opposite step brings it back. Each step is a loop that
//! compilers turn into vector instructions, over a block that stays in the nearest cache. Processors with vectors of 32 bytes take all steps in registers.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(not(target_arch = "x86_64"))]
mod avx2 {
    pub(super) fn to_columns(_: usize, _: &[u8], _: &mut [u8]) -> bool {
        false
    }

    pub(super) fn to_rows(_: usize, _: &[u8], _: &mut [u8]) -> bool {
        false
    }
}

use std::mem;

/// The most bytes that take all steps together; a multiple of every size that goes this way.
const BLOCK: usize = 8192;

/// Elements that are moved column by column together, so that they stay in the nearest cache.
const TILE: usize = 256;

/// Byte `j` of element `i` goes from `i · size + j` to `j · count + i`; bytes after the last whole element stay.
pub(crate) fn to_columns(size: usize, input: &[u8], out: &mut [u8]) {
    let whole = input.len() - input.len() % size;
    let (table, tail) = input.split_at_checked(whole).unwrap_or_default();
    let (columns, end) = out.split_at_mut_checked(whole).unwrap_or_default();
    if !avx2::to_columns(size, table, columns) {
        portable_to_columns(size, table, columns);
    }
    end.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
}

/// Undoes [`to_columns`].
pub(crate) fn to_rows(size: usize, input: &[u8], out: &mut [u8]) {
    let whole = input.len() - input.len() % size;
    let (columns, tail) = input.split_at_checked(whole).unwrap_or_default();
    let (table, end) = out.split_at_mut_checked(whole).unwrap_or_default();
    if !avx2::to_rows(size, columns, table) {
        portable_to_rows(size, columns, table);
    }
    end.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
}

fn portable_to_columns(size: usize, table: &[u8], columns: &mut [u8]) {
    if is_fast(size) { by_steps::to_columns(size, table, columns) } else { by_tiles::to_columns(size, table, columns) }
}

fn portable_to_rows(size: usize, columns: &[u8], table: &mut [u8]) {
    if is_fast(size) { by_steps::to_rows(size, columns, table) } else { by_tiles::to_rows(size, columns, table) }
}

fn is_fast(size: usize) -> bool {
    size.is_power_of_two() && (2..=64).contains(&size)
}

mod by_steps {
    use super::*;

    pub(super) fn to_columns(size: usize, table: &[u8], columns: &mut [u8]) {
        let count = table.len() / size;
        let (block, other) = (&mut [0; BLOCK], &mut [0; BLOCK]);
        let mut start = 0;
        for rows in table.chunks(BLOCK) {
            let elements = rows.len() / size;
            let (mut block, mut other) =
                (block.get_mut(..rows.len()).unwrap_or_default(), other.get_mut(..rows.len()).unwrap_or_default());
            if elements == count {
                // The last step finds its place without a copy.
                if size == 2 {
                    return unzip(rows, columns);
                }
                unzip(rows, block);
                for _ in 2..size.ilog2() {
                    unzip(block, other);
                    mem::swap(&mut block, &mut other);
                }
                return unzip(block, columns);
            }
            unzip(rows, block);
            for _ in 1..size.ilog2() {
                unzip(block, other);
                mem::swap(&mut block, &mut other);
            }
            for (column, from) in columns.chunks_exact_mut(count).zip(block.chunks_exact(elements)) {
                if let Some(to) = column.get_mut(start..start + elements) {
                    to.copy_from_slice(from);
                }
            }
            start += elements;
        }
    }

    pub(super) fn to_rows(size: usize, columns: &[u8], table: &mut [u8]) {
        let count = table.len() / size;
        let (block, other) = (&mut [0; BLOCK], &mut [0; BLOCK]);
        let mut start = 0;
        for rows in table.chunks_mut(BLOCK) {
            let elements = rows.len() / size;
            let (mut block, mut other) =
                (block.get_mut(..rows.len()).unwrap_or_default(), other.get_mut(..rows.len()).unwrap_or_default());
            if elements == count {
                // The first step takes the columns where they are.
                if size == 2 {
                    return zip(columns, rows);
                }
                zip(columns, block);
                for _ in 2..size.ilog2() {
                    zip(block, other);
                    mem::swap(&mut block, &mut other);
                }
                return zip(block, rows);
            }
            for (column, to) in columns.chunks_exact(count).zip(block.chunks_exact_mut(elements)) {
                if let Some(from) = column.get(start..start + elements) {
                    to.copy_from_slice(from);
                }
            }
            for _ in 1..size.ilog2() {
                zip(block, other);
                mem::swap(&mut block, &mut other);
            }
            zip(block, rows);
            start += elements;
        }
    }

    /// Interleaves the two halves of a block.
    #[inline(never)] // on its own, it is known that its slices do not overlap
    fn zip(from: &[u8], to: &mut [u8]) {
        let (low, high) = from.split_at(from.len() / 2);
        for ((pair, low), high) in to.as_chunks_mut().0.iter_mut().zip(low).zip(high) {
            *pair = [*low, *high];
        }
    }

    /// Undoes [`zip`].
    #[inline(never)]
    fn unzip(from: &[u8], to: &mut [u8]) {
        let (low, high) = to.split_at_mut(from.len() / 2);
        for ((pair, low), high) in from.as_chunks().0.iter().zip(low).zip(high) {
            // As one number, since compilers see a vector instruction in this and not in two bytes.
            let pair = u16::from_le_bytes(*pair);
            (*low, *high) = (pair as u8, (pair >> 8) as u8);
        }
    }
}

mod by_tiles {
    use super::*;

    pub(super) fn to_columns(size: usize, table: &[u8], columns: &mut [u8]) {
        let count = table.len() / size;
        for start in (0..count).step_by(TILE) {
            let end = count.min(start + TILE);
            for (byte, column) in columns.chunks_exact_mut(count).enumerate() {
                let to = column.get_mut(start..end).unwrap_or_default();
                let from = table.get(start * size + byte..).unwrap_or_default().iter().step_by(size);
                to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            }
        }
    }

    pub(super) fn to_rows(size: usize, columns: &[u8], table: &mut [u8]) {
        let count = table.len() / size;
        for start in (0..count).step_by(TILE) {
            let end = count.min(start + TILE);
            for (byte, column) in columns.chunks_exact(count).enumerate() {
                let from = column.get(start..end).unwrap_or_default();
                let to = table.get_mut(start * size + byte..).unwrap_or_default().iter_mut().step_by(size);
                to.zip(from).for_each(|(to, from)| *to = *from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn moves_every_byte_where_it_belongs(size in 1usize..70, input in prop::collection::vec(any::<u8>(), 0..30000)) {
            let mut out = vec![0; input.len()];
            to_columns(size, &input, &mut out);
            let count = input.len() / size;
            for (at, byte) in input.iter().enumerate() {
                let to = if at < count * size { at % size * count + at / size } else { at };
                prop_assert_eq!(out[to], *byte);
            }
            let mut back = vec![0; input.len()];
            to_rows(size, &out, &mut back);
            prop_assert_eq!(&back, &input);

            // Other processors do the same.
            let whole = count * size;
            let mut columns = vec![0; whole];
            portable_to_columns(size, &input[..whole], &mut columns);
            prop_assert_eq!(&columns, &out[..whole]);
            portable_to_rows(size, &columns, &mut back[..whole]);
            prop_assert_eq!(back, input);
        }
    }
}
