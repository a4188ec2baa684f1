//! BloscLZ: an instruction byte under 32 is followed by one more literals than it says. Otherwise its top 3 bits have a length
//! (7: bytes are to be added, as long as they are 255) and its low 5 bits, with the next byte, a distance; the copy is 2 bytes
//! longer and starts 1 further back than these say. A distance of all ones has two more bytes. The first byte is marked.
//!
//! `probe` tells whether a stream is worth it: C-Blosc stores streams that gain little as they are, since these are read faster.

mod probe;

use crate::{
    Fault,
    lz::{ENDED, Window, common, word},
};

const MARK: u8 = 32;
const FAR: usize = 8191;
const MAX_LITERALS: usize = 32;
/// Copies from further back cannot be told.
const MAX_DISTANCE: usize = FAR + 65_535;

/// Decodes a stream that must fill `out`.
pub(super) fn decompress_exact(input: &[u8], out: &mut [u8]) -> Result<(), Fault> {
    let len = out.len();
    let mut window = Window::new(out);
    let (&first, mut rest) = input.split_first().ok_or(ENDED)?;
    let mut control = first & (MARK - 1);
    loop {
        rest = match control >> 5 {
            0 => window.literals(rest, usize::from(control) + 1)?,
            short => {
                let (mut len, mut rest) = (usize::from(short) + 2, rest);
                if short == 7 {
                    loop {
                        let (&more, after) = rest.split_first().ok_or(ENDED)?;
                        (len, rest) = (len.saturating_add(usize::from(more)), after);
                        if more != 255 {
                            break;
                        }
                    }
                }
                let (&low, mut after) = rest.split_first().ok_or(ENDED)?;
                let mut distance = usize::from(control & 31) << 8 | usize::from(low);
                if distance == FAR {
                    let (&more, rest) = after.split_first_chunk().ok_or(ENDED)?;
                    (distance, after) = (FAR + usize::from(u16::from_be_bytes(more)), rest);
                }
                window.copy(distance + 1, len)?;
                after
            }
        };
        let Some((&next, after)) = rest.split_first() else { break };
        (control, rest) = (next, after);
    }
    if window.len() == len { Ok(()) } else { Err(Fault::Corrupt("a stream decodes to too few bytes")) }
}

/// The most bits of a hash; low levels use less.
const HASH_BITS: u32 = 14;
/// Shorter matches cost as much as they save.
const MIN_LEN: usize = 5;
const MIN_FAR_LEN: usize = 8;
/// Bytes at the end, and at the start, that are literals.
const TAIL: usize = 12;
const HEAD: usize = 4;
const MIN_INPUT: usize = 66;

/// Appends a stream, if it is worth it; else nothing.
pub(super) fn compress(level: u32, input: &[u8], out: &mut Vec<u8>) {
    if input.len() < MIN_INPUT || probe::ratio(input) < probe::least(level) {
        return;
    }
    let start = out.len();
    let most = start + input.len();
    let bits = HASH_BITS.saturating_sub(3u32.saturating_sub(level));
    let mut places = [0u32; 1 << HASH_BITS];
    let end = input.len() - TAIL;
    let (mut at, mut literals) = (HEAD, 0);
    while at < end {
        let Some(here) = word(input, at) else { break };
        let before = replace(&mut places, here, bits, at);
        let distance = at - before;
        if word(input, before) != Some(here) || distance > MAX_DISTANCE {
            at += 1;
            continue;
        }
        let len = common(input, before, at, input.len() - 1);
        if len < MIN_LEN || len < MIN_FAR_LEN && distance > FAR {
            at += 1;
            continue;
        }
        put_literals(input.get(literals..at).unwrap_or_default(), out);
        put_copy(distance - 1, len - 2, out);
        if out.len() >= most {
            break;
        }
        at += len;
        // The next bytes may repeat what stands at the end of the match.
        for back in if level >= 9 { 1..=2 } else { 2..=2 } {
            if let Some(word) = word(input, at - back) {
                replace(&mut places, word, bits, at - back);
            }
        }
        literals = at;
    }
    put_literals(input.get(literals..).unwrap_or_default(), out);
    if out.len() >= most {
        return out.truncate(start);
    }
    if let Some(first) = out.get_mut(start) {
        *first |= MARK;
    }
}

/// Notes the place of a word; gives the place of the last one with its hash.
fn replace(places: &mut [u32; 1 << HASH_BITS], word: u32, bits: u32, at: usize) -> usize {
    let hash = word.wrapping_mul(2_654_435_761) >> (32 - bits);
    let place = places.get_mut(hash as usize % (1 << HASH_BITS));
    place.map_or(0, |place| std::mem::replace(place, at as u32)) as usize
}

fn put_literals(literals: &[u8], out: &mut Vec<u8>) {
    for run in literals.chunks(MAX_LITERALS) {
        out.push(run.len() as u8 - 1);
        out.extend_from_slice(run);
    }
}

fn put_copy(distance: usize, len: usize, out: &mut Vec<u8>) {
    let near = distance.min(FAR);
    let [low, high] = (near as u16).to_le_bytes();
    match len {
        ..7 => out.push((len as u8) << 5 | high),
        _ => {
            out.push(7 << 5 | high);
            out.extend(std::iter::repeat_n(255, (len - 7) / 255));
            out.push(((len - 7) % 255) as u8);
        }
    }
    out.push(low);
    if near == FAR {
        out.extend(((distance - FAR) as u16).to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blosc::samples::runs_and_copies;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn comes_back(level in 1u32..=9, parts in prop::collection::vec((any::<u8>(), 1usize..3000, 1usize..9000), 1..40)) {
            let input = runs_and_copies(&parts);
            let mut packed = vec![7];
            compress(level, &input, &mut packed);
            if packed.len() > 1 {
                prop_assert!(packed.len() - 1 < input.len());
                let mut out = vec![0; input.len()];
                decompress_exact(&packed[1..], &mut out).unwrap();
                prop_assert_eq!(out, input);
            }
        }
    }

    #[test]
    fn copies_from_far_back() {
        let mut noise = 1u32;
        let mut next = || {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (noise >> 24) as u8
        };
        let part: Vec<u8> = (0..20_000).map(|_| next()).collect();
        // The last quarter, which is probed, is worth it.
        let input = [&part[..], &part, &[0; 30_000]].concat();
        let mut packed = Vec::new();
        compress(9, &input, &mut packed);
        assert!(packed.len() < 22_000, "{}", packed.len());
        let mut out = vec![0; input.len()];
        decompress_exact(&packed, &mut out).unwrap();
        assert_eq!(out, input);
    }
}
