//! Turning a table of bits over: all lowest bits of the elements, then all second bits, and so on. Called by bitshuffle, blosc
//! and blosc2, with a number of elements that is a multiple of 8; more bytes stay as they are.
//!
//! Bytes to columns; in each eight bytes of a column bits to bytes; these to columns in turn, which are the eight rows of bits that the column has.

use hyperslab_base::memory;

use crate::{
    Fault,
    cpu::compiled_twice,
    transpose::{to_columns, to_rows},
};

/// Scratch for work on the way, to be used again.
#[derive(Default)]
pub(crate) struct Scratch {
    columns: Vec<u8>,
}

/// Bit `b` of byte `j` of element `i` goes to bit `i % 8` of byte `i / 8` in row `8j + b`.
pub(crate) fn to_bitplanes(size: usize, input: &[u8], out: &mut [u8], scratch: &mut Scratch) -> Result<(), Fault> {
    let len = input.len();
    memory::resize(&mut scratch.columns, len, 0)?;
    to_columns(size, input, &mut scratch.columns);
    let column = (len / size).max(1);
    for (from, to) in scratch.columns.chunks_exact_mut(column).zip(out.chunks_exact_mut(column)) {
        turn_bits(from);
        to_columns(8, from, to);
    }
    Ok(())
}

/// Undoes [`to_bitplanes`].
pub(crate) fn to_elements(size: usize, input: &[u8], out: &mut [u8], scratch: &mut Scratch) -> Result<(), Fault> {
    let len = input.len();
    memory::resize(&mut scratch.columns, len, 0)?;
    let column = (len / size).max(1);
    for (from, to) in input.chunks_exact(column).zip(scratch.columns.chunks_exact_mut(column)) {
        to_rows(8, from, to);
        turn_bits(to);
    }
    to_rows(size, &scratch.columns, out);
    Ok(())
}

compiled_twice! {
    /// In every eight bytes, bit `b` of byte `i` goes to bit `i` of byte `b`.
    fn turn_bits(bytes: &mut [u8]) {
        for word in bytes.as_chunks_mut().0 {
            let mut bits = u64::from_le_bytes(*word);
            for (distance, mask) in [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)] {
                let moved = (bits ^ bits >> distance) & mask;
                bits ^= moved ^ moved << distance;
            }
            *word = bits.to_le_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn moves_every_bit_where_it_belongs(
            size in 1usize..20,
            groups in 1usize..80,
            seed in prop::collection::vec(any::<u8>(), 100..400),
        ) {
            let input: Vec<u8> = seed.iter().copied().cycle().take(size * groups * 8).collect();
            let (mut out, mut back) = (vec![0; input.len()], vec![0; input.len()]);
            let mut scratch = Scratch::default();
            to_bitplanes(size, &input, &mut out, &mut scratch).unwrap();
            for element in 0..groups * 8 {
                for bit in 0..size * 8 {
                    let here = input[element * size + bit / 8] >> (bit % 8) & 1;
                    prop_assert_eq!(out[bit * groups + element / 8] >> (element % 8) & 1, here);
                }
            }
            to_elements(size, &out, &mut back, &mut scratch).unwrap();
            prop_assert_eq!(back, input);
        }
    }
}
