//! Filter 32000: LZF, h5py's fast compressor.
//!
//! An instruction byte under 32 is followed by one more literals than it says. Otherwise its top 3 bits have a length (7:
//! another byte is to be added) and its low 5 bits, with the next byte, a distance; the copy is 2 bytes longer and starts 1
//! further back than these say.

use crate::{
    ChunkFacts, Decoded, Encoded, Fault, Filter,
    lz::{ENDED, Instruction, Rules, Window, instructions},
    output::stale,
};

/// Three bytes tell 264 at most.
const MAX_RATIO: usize = 88;

/// LZF, filter 32000.
#[derive(Clone, Copy, Debug)]
pub struct Lzf;

impl Lzf {
    /// Its number.
    pub const ID: u16 = 32000;

    /// The parameters for a chunk of this many bytes.
    pub fn params(chunk_bytes: u32) -> Vec<u32> {
        vec![4, 0x0105, chunk_bytes]
    }
}

impl Filter for Lzf {
    fn id(&self) -> u16 {
        Lzf::ID
    }

    fn name(&self) -> &'static str {
        "lzf"
    }

    fn complete(&self, _: &[u32], chunk: &ChunkFacts<'_>) -> Result<Vec<u32>, Fault> {
        Ok(Lzf::params(chunk.bytes()?))
    }

    fn decode(&self, _: &[u32], input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<Decoded, Fault> {
        let mut window = Window::new(stale(out, limit.min(input.len().saturating_mul(MAX_RATIO)), limit)?);
        let mut rest = input;
        while let Some((&control, after)) = rest.split_first() {
            rest = match control >> 5 {
                0 => window.literals(after, usize::from(control) + 1)?,
                len => {
                    let (extra, after) = if len == 7 { after.split_first().ok_or(ENDED)? } else { (&0, after) };
                    let (low, after) = after.split_first().ok_or(ENDED)?;
                    let distance = (usize::from(control & 31) << 8 | usize::from(*low)) + 1;
                    window.copy(distance, usize::from(len) + usize::from(*extra) + 2)?;
                    after
                }
            };
        }
        let len = window.len();
        out.truncate(len);
        Ok(Decoded::Written)
    }

    fn encode(&self, _: &[u32], input: &[u8], out: &mut Vec<u8>) -> Result<Encoded, Fault> {
        compress(input, out)?;
        Ok(if out.len() < input.len() { Encoded::Written } else { Encoded::Incompressible })
    }

    fn worst_case(&self, _: &[u32], len: u64) -> Option<u64> {
        Some(len)
    }

    fn decoded_bound(&self, _: &[u32], len: u64) -> Option<u64> {
        Some(len.saturating_mul(MAX_RATIO as u64))
    }
}

const MAX_LITERALS: usize = 32;
const RULES: Rules = Rules { max_distance: 1 << 13, max_len: 2 + 7 + 255, tail: 0 };

fn compress(input: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    out.clear();
    instructions(input, &RULES, |Instruction { literals, copy }| {
        for run in literals.chunks(MAX_LITERALS) {
            out.push(run.len() as u8 - 1);
            out.extend_from_slice(run);
        }
        if let Some((distance, len)) = copy {
            let [low, high] = (distance as u16 - 1).to_le_bytes();
            match len - 2 {
                short @ ..7 => out.extend([(short as u8) << 5 | high, low]),
                long => out.extend([7 << 5 | high, (long - 7) as u8, low]),
            }
        }
    })
}
