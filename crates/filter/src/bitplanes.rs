//! Turning a table of bits over: all lowest bits of the elements, then all second bits, and so on. Called by bitshuffle, blosc
//! and blosc2, with a number of elements that is a multiple of 8; more bytes stay as they are.
//!
//! Bytes to columns; in each eight bytes of a column bits to bytes; these to columns in turn. What comes out has all rows of
//! eight elements' bits, in an order that is put right at the end.

use hyperslab_base::memory;

use crate::{
    Fault,
    transpose::{to_columns, to_rows},
};

/// Room for work on the way, to be used again.
#[derive(Default)]
pub(crate) struct Room {
    one: Vec<u8>,
    two: Vec<u8>,
}

/// Bit `b` of byte `j` of element `i` goes to bit `i % 8` of byte `i / 8` in row `8j + b`.
pub(crate) fn to_bitplanes(size: usize, input: &[u8], out: &mut [u8], room: &mut Room) -> Result<(), Fault> {
    let len = input.len();
    memory::resize(&mut room.one, len, 0)?;
    memory::resize(&mut room.two, len, 0)?;
    to_columns(size, input, &mut room.one);
    turn_bits(&mut room.one);
    to_columns(8, &room.one, &mut room.two);
    for (to, from) in rows(size, len).zip(room.two.chunks_exact((len / size / 8).max(1))) {
        if let Some(to) = out.get_mut(to) {
            to.copy_from_slice(from);
        }
    }
    Ok(())
}

/// Undoes [`to_bitplanes`].
pub(crate) fn to_elements(size: usize, input: &[u8], out: &mut [u8], room: &mut Room) -> Result<(), Fault> {
    let len = input.len();
    memory::resize(&mut room.one, len, 0)?;
    memory::resize(&mut room.two, len, 0)?;
    for (from, to) in rows(size, len).zip(room.two.chunks_exact_mut((len / size / 8).max(1))) {
        if let Some(from) = input.get(from) {
            to.copy_from_slice(from);
        }
    }
    to_rows(8, &room.two, &mut room.one);
    turn_bits(&mut room.one);
    to_rows(size, &room.one, out);
    Ok(())
}

/// Where the rows, which come with all first bits of all bytes first, belong.
fn rows(size: usize, len: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let row = len / size / 8;
    (0..8).flat_map(move |bit| (0..size).map(move |byte| (byte * 8 + bit) * row..(byte * 8 + bit + 1) * row))
}

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
            let mut room = Room::default();
            to_bitplanes(size, &input, &mut out, &mut room).unwrap();
            for element in 0..groups * 8 {
                for bit in 0..size * 8 {
                    let here = input[element * size + bit / 8] >> (bit % 8) & 1;
                    prop_assert_eq!(out[bit * groups + element / 8] >> (element % 8) & 1, here);
                }
            }
            to_elements(size, &out, &mut back, &mut room).unwrap();
            prop_assert_eq!(back, input);
        }
    }
}
