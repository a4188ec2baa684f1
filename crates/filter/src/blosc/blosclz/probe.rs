//! A guess how much smaller a stream gets, from a few of its bytes.

use super::{MAX_LITERALS, TAIL};
use crate::lz::{common, word};

/// The most bytes that are looked at, near the end of the first three quarters.
const SAMPLE: usize = 1 << HASH_BITS;
const HASH_BITS: u32 = 12;
const MIN_LEN: usize = 5;

/// The least ratio at which a level compresses.
pub(super) fn least(level: u32) -> f64 {
    match level {
        0 => 0.0,
        1 => 2.0,
        2 => 1.5,
        3..=6 => 1.2,
        7 => 1.15,
        8 => 1.1,
        _ => 1.0,
    }
}

/// Bytes to bytes of instructions, as the encoder would write them.
pub(super) fn ratio(input: &[u8]) -> f64 {
    let sample = input.get(input.len() - input.len() / 4..).unwrap_or_default();
    let sample = sample.get(..SAMPLE).unwrap_or(sample);
    let mut places = [0u16; SAMPLE];
    // The first four bytes are literals, with their instruction.
    let (mut at, mut literals, mut made) = (0, 4, 5);
    while at + TAIL < sample.len() {
        let Some(here) = word(sample, at) else { break };
        let hash = here.wrapping_mul(2_654_435_761) >> (32 - HASH_BITS);
        let place = places.get_mut(hash as usize % SAMPLE);
        let before = usize::from(place.map_or(0, |place| std::mem::replace(place, at as u16)));
        let matches = before < at && word(sample, before) == Some(here);
        let len = if matches { common(sample, before, at, sample.len() - 1) } else { 0 };
        if len < MIN_LEN {
            at += 1;
            made += 1;
            literals += 1;
            if literals == MAX_LITERALS {
                literals = 0;
                made += 1;
            }
            continue;
        }
        // A match after literals needs no instruction for more of them.
        made += 2 + usize::from(literals > 0);
        if len >= 9 {
            made += (len - 9) / 255 + 1;
        }
        literals = 0;
        at += len;
    }
    at as f64 / made as f64
}
