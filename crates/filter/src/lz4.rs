//! Filter 32004: LZ4 blocks, each with its length before it. Also where blosc and bitshuffle get LZ4 from.
//!
//! A chunk starts with its decoded length in 8 bytes and the length of a block in 4, both big-endian; then blocks, each with
//! its stored length in 4 bytes. A block that did not get smaller is stored as it is.

use hyperslab_base::{Cursor, Width, memory};
use lz4::block::{compress_bound, compress_to_buffer, decompress_to_buffer};

pub(crate) use lz4::block::CompressionMode as Mode;

use crate::{
    Decoded, Encoded, Fault, Filter,
    output::{check_memory, extend_stale, put_at, stale, to_len},
};

const DEFAULT_BLOCK: u32 = 1 << 30;
/// A byte stands for 255 at most.
pub(crate) const MAX_RATIO: usize = 255;

/// A block has no more bytes beside a 255th of what does not get smaller.
pub(crate) const OVERHEAD: u64 = 16;

/// LZ4, filter 32004.
#[derive(Clone, Copy, Debug)]
pub struct Lz4;

impl Lz4 {
    /// Its number.
    pub const ID: u16 = 32004;

    /// The parameters for blocks of this many bytes; 0 is 1 GiB.
    pub fn params(block_bytes: u32) -> Vec<u32> {
        vec![block_bytes]
    }
}

impl Filter for Lz4 {
    fn id(&self) -> u16 {
        Lz4::ID
    }

    fn name(&self) -> &'static str {
        "lz4"
    }

    fn decode(&self, _: &[u32], input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<Decoded, Fault> {
        let mut cursor = Cursor::new(input);
        let len = to_len(cursor.uint(Width::W8)?.swap_bytes())?;
        let block = to_len(cursor.u32()?.swap_bytes())?;
        if block == 0 && len > 0 {
            return Err(Fault::Corrupt("blocks without bytes"));
        }
        if len > input.len().saturating_mul(MAX_RATIO) {
            return Err(Fault::Corrupt("longer than its blocks can be"));
        }
        for part in stale(out, len, limit)?.chunks_mut(block.max(1)) {
            let stored = to_len(cursor.u32()?.swap_bytes())?;
            let stored = cursor.take(stored)?;
            if stored.len() == part.len() {
                part.copy_from_slice(stored);
            } else {
                decompress_exact(stored, part)?;
            }
        }
        Ok(Decoded::Written)
    }

    fn encode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>) -> Result<Encoded, Fault> {
        let block = (block_bytes(params) as usize).min(input.len()).max(1);
        if i32::try_from(input.len()).is_err() {
            return Err(Fault::Params("LZ4 takes chunks of up to 2 GiB"));
        }
        out.clear();
        out.extend((input.len() as u64).to_be_bytes());
        out.extend((block as u32).to_be_bytes());
        for part in input.chunks(block) {
            let start = out.len();
            out.extend([0; 4]);
            compress(Mode::DEFAULT, part, out)?;
            if out.len() - start - 4 >= part.len() {
                out.truncate(start + 4);
                memory::append(out, part)?;
            }
            let stored = (out.len() - start - 4) as u32;
            put_at(out, start, stored.to_be_bytes());
        }
        Ok(Encoded::Written)
    }

    fn worst_case(&self, params: &[u32], len: u64) -> Option<u64> {
        // The lengths of all and of a block, then each block with its length before it.
        let blocks = len.div_ceil(block_bytes(params).into()).max(1);
        Some(len.saturating_add(12).saturating_add(blocks.saturating_mul(4)))
    }

    fn decoded_bound(&self, _: &[u32], len: u64) -> Option<u64> {
        Some(len.saturating_mul(MAX_RATIO as u64))
    }
}

/// The bytes of a block.
fn block_bytes(params: &[u32]) -> u32 {
    params.first().copied().filter(|block| *block > 0).unwrap_or(DEFAULT_BLOCK)
}

/// Decodes a block that must fill `out`.
pub(crate) fn decompress_exact(input: &[u8], out: &mut [u8]) -> Result<(), Fault> {
    let len = i32::try_from(out.len()).map_err(|_| Fault::Corrupt("an LZ4 block of 2 GiB or more"))?;
    match decompress_to_buffer(input, Some(len), out) {
        Ok(len) if len == out.len() => Ok(()),
        Ok(_) => Err(Fault::Corrupt("an LZ4 block decodes to too few bytes")),
        Err(_) => Err(Fault::Corrupt("not an LZ4 block, or one that decodes to too many bytes")),
    }
}

/// More than the library takes for its own state at high levels.
const STATE: usize = 512 << 10;

/// Appends a block.
pub(crate) fn compress(mode: Mode, input: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    if matches!(mode, Mode::HIGHCOMPRESSION(_)) {
        check_memory(STATE)?;
    }
    let start = out.len();
    let room = extend_stale(out, compress_bound(input.len()).map_err(Fault::other)?)?;
    let len = compress_to_buffer(input, Some(mode), false, room).map_err(Fault::other)?;
    out.truncate(start + len);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_makes_no_more_of_a_block_than_is_told() {
        for len in (0..300_000).step_by(77).chain([1 << 24, 1 << 30]) {
            assert!(compress_bound(len).unwrap() as u64 <= len as u64 + len as u64 / 255 + OVERHEAD, "{len}");
        }
    }
}
