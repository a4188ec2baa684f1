//! Making Snappy streams. The length in groups of 7 bits, then instructions: the low 2 bits of the first byte are 0 for literals and 1 or 2 for a copy with a
//! distance of 11 or 16 bits. Other crates look for matches in a table of half the size, and leave 6 % more of noisy counts.

use hyperslab_base::memory;

use crate::{
    Fault,
    cpu::compiled_twice,
    lz::{common, word},
};

/// Copies stay inside of blocks, so that distances have 16 bits.
const BLOCK: usize = 1 << 16;
const HASH_BITS: u32 = 15;
/// Bytes at the end that are literals.
const TAIL: usize = 15;
/// After so many places without a match the search goes in longer steps, since the data may have none.
const PATIENCE: usize = 32;

/// Appends a stream.
pub(super) fn compress(input: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    let mut left = input.len();
    while left > 127 {
        out.push(left as u8 | 128);
        left >>= 7;
    }
    out.push(left as u8);
    let mut places = Vec::new();
    memory::resize(&mut places, 1 << HASH_BITS, 0u16)?;
    for block in input.chunks(BLOCK) {
        places.fill(0);
        if let Some(places) = places.first_chunk_mut() {
            put_block(block, places, out);
        }
    }
    Ok(())
}

compiled_twice! {
    fn put_block(block: &[u8], places: &mut [u16; 1 << HASH_BITS], out: &mut Vec<u8>) {
        let end = block.len().saturating_sub(TAIL);
        let (mut at, mut literals, mut missed) = (1, 0, PATIENCE);
        while at < end {
            let Some(here) = word(block, at) else { break };
            let before = replace(places, here, at);
            if before >= at || word(block, before) != Some(here) {
                at += missed / PATIENCE;
                missed += missed / PATIENCE;
                continue;
            }
            let len = common(block, before, at, block.len());
            put_literals(block.get(literals..at).unwrap_or_default(), out);
            put_copy(at - before, len, out);
            at += len;
            (literals, missed) = (at, PATIENCE);
            // What comes next may repeat the end of the match.
            if let Some(word) = word(block, at - 1) {
                replace(places, word, at - 1);
            }
        }
        put_literals(block.get(literals..).unwrap_or_default(), out);
    }
}

/// Notes the place of a word; gives the place of the last one with its hash.
#[inline]
fn replace(places: &mut [u16; 1 << HASH_BITS], word: u32, at: usize) -> usize {
    let hash = word.wrapping_mul(0x1e35_a7bd) >> (32 - HASH_BITS);
    usize::from(places.get_mut(hash as usize).map_or(0, |place| std::mem::replace(place, at as u16)))
}

#[inline]
fn put_literals(literals: &[u8], out: &mut Vec<u8>) {
    let Some(last) = literals.len().checked_sub(1) else { return };
    match last {
        ..60 => out.push((last as u8) << 2),
        60..256 => out.extend([60 << 2, last as u8]),
        _ => {
            let [low, high, ..] = last.to_le_bytes();
            out.extend([61 << 2, low, high]);
        }
    }
    out.extend_from_slice(literals);
}

#[inline]
fn put_copy(distance: usize, mut len: usize, out: &mut Vec<u8>) {
    let [low, high] = (distance as u16).to_le_bytes();
    let mut put = |len: usize| {
        if (4..12).contains(&len) && distance < 1 << 11 {
            out.extend([1 | (len as u8 - 4) << 2 | high << 5, low]);
        } else {
            out.extend([2 | (len as u8 - 1) << 2, low, high]);
        }
    };
    // The most is 64, and 4 or more are left for the last.
    while len >= 68 {
        put(64);
        len -= 64;
    }
    if len > 64 {
        put(60);
        len -= 60;
    }
    put(len);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blosc::samples::runs_and_copies;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn comes_back(parts in prop::collection::vec((any::<u8>(), 1usize..3000, 1usize..9000), 0..60)) {
            let input = runs_and_copies(&parts);
            let mut packed = Vec::new();
            compress(&input, &mut packed).unwrap();
            prop_assert!(packed.len() <= snap::raw::max_compress_len(input.len()));
            prop_assert_eq!(snap::raw::Decoder::new().decompress_vec(&packed).unwrap(), input);
        }
    }
}
