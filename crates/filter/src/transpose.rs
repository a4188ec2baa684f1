//! Turning a table of bytes over: rows to columns and back. Called by shuffle, bitshuffle, blosc, blosc2 and szip.
//! Input and output are equally long; an element size of 0 is the caller's to refuse.
//!
//! One step does the work for element sizes that are powers of two. The place of a byte in a block is a number in binary,
//! `column · elements + element`. Interleaving the two halves of the block rotates that number by one bit to the left, so
//! that as many steps as the element size has bits bring columns to rows; the opposite step brings them back. Each step is
//! a loop that compilers turn into vector instructions, over a block that stays in the nearest cache.

use std::mem;

/// The bytes that take all steps together.
const BLOCK: usize = 8192;

/// Elements that are moved column by column together, so that they stay in the nearest cache.
const TILE: usize = 256;

/// Byte `j` of element `i` goes from `i · size + j` to `j · count + i`; bytes after the last whole element stay.
pub(crate) fn to_columns(size: usize, input: &[u8], out: &mut [u8]) {
    let done = if is_fast(size) { columns_by_block(size, input, out) } else { 0 };
    columns_from(done, size, input, out);
}

/// Undoes [`to_columns`].
pub(crate) fn to_rows(size: usize, input: &[u8], out: &mut [u8]) {
    let done = if is_fast(size) { rows_by_block(size, input, out) } else { 0 };
    rows_from(done, size, input, out);
}

fn is_fast(size: usize) -> bool {
    size.is_power_of_two() && (2..=64).contains(&size)
}

/// All whole blocks; gives the number of elements in them.
fn columns_by_block(size: usize, input: &[u8], out: &mut [u8]) -> usize {
    let (count, elements) = (input.len() / size, BLOCK / size);
    let (mut block, mut other) = (&mut [0; BLOCK], &mut [0; BLOCK]);
    let (inputs, _) = input.as_chunks::<BLOCK>();
    for (index, rows) in inputs.iter().enumerate() {
        unzip(rows, block);
        for _ in 1..size.ilog2() {
            unzip(block, other);
            mem::swap(&mut block, &mut other);
        }
        for (column, from) in out.chunks_exact_mut(count).zip(block.chunks_exact(elements)) {
            if let Some(to) = column.get_mut(index * elements..(index + 1) * elements) {
                to.copy_from_slice(from);
            }
        }
    }
    inputs.len() * elements
}

/// The same, backwards.
fn rows_by_block(size: usize, input: &[u8], out: &mut [u8]) -> usize {
    let (count, elements) = (input.len() / size, BLOCK / size);
    let (mut block, mut other) = (&mut [0; BLOCK], &mut [0; BLOCK]);
    let (outputs, _) = out.as_chunks_mut::<BLOCK>();
    for (index, rows) in outputs.iter_mut().enumerate() {
        for (column, to) in input.chunks_exact(count).zip(block.chunks_exact_mut(elements)) {
            if let Some(from) = column.get(index * elements..(index + 1) * elements) {
                to.copy_from_slice(from);
            }
        }
        for _ in 1..size.ilog2() {
            zip(block, other);
            mem::swap(&mut block, &mut other);
        }
        zip(block, rows);
    }
    outputs.len() * elements
}

/// Interleaves the two halves of a block.
fn zip(from: &[u8; BLOCK], to: &mut [u8; BLOCK]) {
    let (low, high) = from.split_at(BLOCK / 2);
    for ((pair, low), high) in to.as_chunks_mut().0.iter_mut().zip(low).zip(high) {
        *pair = [*low, *high];
    }
}

/// Undoes [`zip`].
fn unzip(from: &[u8; BLOCK], to: &mut [u8; BLOCK]) {
    let (low, high) = to.split_at_mut(BLOCK / 2);
    for ((pair, low), high) in from.as_chunks().0.iter().zip(low).zip(high) {
        // As one number, since compilers see a vector instruction in this and not in two bytes.
        let pair = u16::from_le_bytes(*pair);
        (*low, *high) = (pair as u8, (pair >> 8) as u8);
    }
}

/// The slow way, for the elements after the first `done`, and for the bytes after the last element.
fn columns_from(done: usize, size: usize, input: &[u8], out: &mut [u8]) {
    let count = input.len() / size;
    for start in (done..count).step_by(TILE) {
        let end = count.min(start + TILE);
        for (byte, column) in out.chunks_exact_mut(count).take(size).enumerate() {
            let to = column.get_mut(start..end).unwrap_or_default();
            let from = input.get(start * size + byte..).unwrap_or_default().iter().step_by(size);
            to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        }
    }
    copy_tail(count * size, input, out);
}

/// The slow way back.
fn rows_from(done: usize, size: usize, input: &[u8], out: &mut [u8]) {
    let count = input.len() / size;
    for start in (done..count).step_by(TILE) {
        let end = count.min(start + TILE);
        for (byte, column) in input.chunks_exact(count).take(size).enumerate() {
            let from = column.get(start..end).unwrap_or_default();
            let to = out.get_mut(start * size + byte..).unwrap_or_default().iter_mut().step_by(size);
            to.zip(from).for_each(|(to, from)| *to = *from);
        }
    }
    copy_tail(count * size, input, out);
}

fn copy_tail(from: usize, input: &[u8], out: &mut [u8]) {
    let tail = input.get(from..).unwrap_or_default();
    let to = out.get_mut(from..).unwrap_or_default();
    to.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
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
            prop_assert_eq!(back, input);
        }
    }
}
