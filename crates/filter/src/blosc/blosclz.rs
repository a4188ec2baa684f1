//! BloscLZ: an instruction byte under 32 is followed by one more literals than it says. Otherwise its top 3 bits have a length
//! (7: bytes are to be added, as long as they are 255) and its low 5 bits, with the next byte, a distance; the copy is 2 bytes
//! longer and starts 1 further back than these say. A distance of all ones has two more bytes. The first byte is marked.

use crate::{
    Fault,
    lz::{ENDED, Instruction, Rules, Window, instructions},
};

const MARK: u8 = 32;
const FAR: usize = 8191;
const MAX_LITERALS: usize = 32;

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

/// Appends a stream. Copies stay near, and the end is literals, as C-Blosc wants it.
pub(super) fn compress(input: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    let start = out.len();
    let rules = Rules { max_distance: FAR, max_len: usize::MAX, tail: 12 };
    instructions(input, &rules, |Instruction { literals, copy }| {
        for run in literals.chunks(MAX_LITERALS) {
            out.push(run.len() as u8 - 1);
            out.extend_from_slice(run);
        }
        let Some((distance, len)) = copy else { return };
        let [low, high] = (distance as u16 - 1).to_le_bytes();
        match len - 2 {
            short @ ..7 => out.push((short as u8) << 5 | high),
            long => {
                out.push(7 << 5 | high);
                out.extend(std::iter::repeat_n(255, (long - 7) / 255));
                out.push(((long - 7) % 255) as u8);
            }
        }
        out.push(low);
    })?;
    if let Some(first) = out.get_mut(start) {
        *first |= MARK;
    }
    Ok(())
}
