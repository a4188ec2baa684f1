//! Filter 1: deflate, in the zlib format. The work is done by libdeflate, which wants all of the input and output at once,
//! as a chunk gives it.

use std::mem;

use libdeflater::{CompressionLvl, Compressor, DecompressionError, Decompressor};

use crate::{
    ChunkFacts, Decoded, Encoded, Fault, Filter,
    output::{check_memory, stale},
};

/// No stream of deflate grows by more than this factor.
pub(crate) const MAX_RATIO: usize = 1032;

/// More than the library takes for its own state: when it encodes, at any level that is used here, and when it decodes.
const ENCODER: usize = 1 << 20;
const DECODER: usize = 16 << 10;

/// Sections with so many bytes are worth a look at which level is better for them, and how many bytes of them are looked at.
const LARGE: usize = 48 << 10;
const SAMPLE: usize = 4 << 10;

/// Deflate, filter 1.
#[derive(Clone, Copy, Debug)]
pub struct Deflate;

impl Deflate {
    /// Its number.
    pub const ID: u16 = 1;

    /// The parameters for a level, 0 to 9.
    pub fn params(level: u32) -> Vec<u32> {
        vec![level]
    }
}

impl Filter for Deflate {
    fn id(&self) -> u16 {
        Deflate::ID
    }

    fn name(&self) -> &'static str {
        "deflate"
    }

    fn complete(&self, params: &[u32], _: &ChunkFacts<'_>) -> Result<Vec<u32>, Fault> {
        read_level(params)?;
        Ok(params.to_vec())
    }

    fn decode(&self, _: &[u32], input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<Decoded, Fault> {
        let len = inflate(input, stale(out, limit.min(input.len().saturating_mul(MAX_RATIO)), limit)?)?;
        out.truncate(len);
        Ok(Decoded::Written)
    }

    fn encode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>) -> Result<Encoded, Fault> {
        deflate(read_level(params)?, input, out)?;
        Ok(Encoded::Written)
    }

    fn encode_section(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>) -> Result<Encoded, Fault> {
        match read_level(params)? {
            1 if is_fast_enough(input, out)? => encode(1, input, out)?,
            level => deflate(level, input, out)?,
        }
        Ok(Encoded::Written)
    }

    fn worst_case(&self, _: &[u32], len: u64) -> Option<u64> {
        Some(most_deflated(len))
    }

    fn decoded_bound(&self, _: &[u32], len: u64) -> Option<u64> {
        Some(len.saturating_mul(MAX_RATIO as u64))
    }
}

fn read_level(params: &[u32]) -> Result<u32, Fault> {
    match params.first() {
        Some(level @ 0..=9) => Ok(*level),
        Some(_) => Err(Fault::Params("the level is not in 0 to 9")),
        None => Err(Fault::Params("the level is missing")),
    }
}

/// No less than what the library asks for: five bytes for each block of at least 5,000 and some more.
fn most_deflated(len: u64) -> u64 {
    len.saturating_add(len / 512).saturating_add(64)
}

/// Decodes a zlib stream; gives the number of bytes.
pub(crate) fn inflate(input: &[u8], out: &mut [u8]) -> Result<usize, Fault> {
    let limit = out.len();
    check_memory(DECODER)?;
    Decompressor::new().zlib_decompress(input, out).map_err(|error| match error {
        DecompressionError::InsufficientSpace => Fault::TooLong(limit),
        DecompressionError::BadData => Fault::Corrupt("not a zlib stream, or its checksum is wrong"),
    })
}

/// Replaces `out` by a zlib stream.
pub(crate) fn deflate(level: u32, input: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    // libdeflate's level 1 is no faster than its level 2, and may leave twice as much. Its level 2 leaves no more than zlib's levels up to 4.
    encode(if (1..=4).contains(&level) { 2 } else { level }, input, out)
}

/// The same at levels that leave about what zlib's leave of any data, within 2 % or little more: with more time than [`deflate`].
pub(crate) fn deflate_closely(level: u32, input: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    let level = match level {
        1 | 2 => 2,
        3 => 5,
        4 | 5 => 6,
        6 | 7 => 7,
        8 | 9 => {
            // Which of two levels leaves less depends on the data.
            let mut other = Vec::new();
            encode(7, input, &mut other)?;
            encode(9, input, out)?;
            if other.len() < out.len() {
                mem::swap(out, &mut other);
            }
            return Ok(());
        }
        _ => level,
    };
    encode(level, input, out)
}

/// Whether the first level of libdeflate makes hardly more of an input than the second one, as a part from its middle tells: it takes half to two thirds of the time then. Inputs
/// of some KiB would not win what the look costs.
fn is_fast_enough(input: &[u8], out: &mut Vec<u8>) -> Result<bool, Fault> {
    if input.len() < LARGE {
        return Ok(false);
    }
    let part = input.get(input.len() / 2..).and_then(|rest| rest.get(..SAMPLE)).unwrap_or(input);
    encode(2, part, out)?;
    let good = out.len();
    encode(1, part, out)?;
    Ok(out.len() <= good + good / 100)
}

/// Replaces `out` by a zlib stream that is made at a level of libdeflate.
fn encode(level: u32, input: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    check_memory(ENCODER)?;
    let level = CompressionLvl::new(level as i32).map_err(|_| Fault::Params("the level is not in 0 to 9"))?;
    let mut compressor = Compressor::new(level);
    let most = compressor.zlib_compress_bound(input.len());
    let len = compressor.zlib_compress(input, stale(out, most, most)?).map_err(Fault::other)?;
    out.truncate(len);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_makes_no_more_than_the_worst_case() {
        for level in 0..=12 {
            let mut compressor = Compressor::new(CompressionLvl::new(level).unwrap());
            for len in (0..100_000).step_by(77).chain([1 << 24, 1 << 30]) {
                assert!(compressor.zlib_compress_bound(len) as u64 <= most_deflated(len as u64), "{len}");
            }
        }
    }
}
