//! Filter 32015: Zstandard. Also where blosc, blosc2 and bitshuffle get it from.

use zstd::zstd_safe::{self, CCtx, CParameter, DCtx, ErrorCode};

use crate::{
    Decoded, Encoded, Fault, Filter,
    output::{extend_stale, stale},
};

const DEFAULT_LEVEL: i32 = 3;
/// A frame has no more bytes beside a 256th of what does not get smaller.
pub(crate) const OVERHEAD: u64 = 64;
/// No stream grows by more than this factor: four bytes can stand for a block of 128 KiB.
pub(crate) const MAX_RATIO: usize = 1 << 15;

/// Zstandard, filter 32015.
#[derive(Clone, Copy, Debug)]
pub struct Zstd;

impl Zstd {
    /// Its number.
    pub const ID: u16 = 32015;

    /// The parameters for a level, 1 to 22; 0 is the level that the library takes for the best, and negative ones, as two's complement, are faster.
    pub fn params(level: u32) -> Vec<u32> {
        vec![level]
    }
}

impl Filter for Zstd {
    fn id(&self) -> u16 {
        Zstd::ID
    }

    fn name(&self) -> &'static str {
        "zstd"
    }

    fn decode(&self, _: &[u32], input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<Decoded, Fault> {
        decompress_up_to(input, out, limit)?;
        Ok(Decoded::Written)
    }

    fn encode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>) -> Result<Encoded, Fault> {
        let level = params.first().map_or(DEFAULT_LEVEL, |level| *level as i32);
        out.clear();
        compress(level, input, out)?;
        Ok(Encoded::Written)
    }

    fn worst_case(&self, _: &[u32], len: u64) -> Option<u64> {
        Some(most_compressed(len))
    }

    fn decoded_bound(&self, _: &[u32], len: u64) -> Option<u64> {
        Some(len.saturating_mul(MAX_RATIO as u64))
    }
}

/// No less than what the library asks for.
pub(crate) fn most_compressed(len: u64) -> u64 {
    len.saturating_add(len / 256).saturating_add(OVERHEAD)
}

/// Replaces `out` by what a frame decodes to, which must not be more than `limit` bytes.
pub(crate) fn decompress_up_to(input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<(), Fault> {
    // Most encoders write the length; it is believed as far as the limit goes.
    let told = zstd::zstd_safe::get_frame_content_size(input).ok().flatten();
    let most = limit.min(input.len().saturating_mul(MAX_RATIO));
    let room = told.and_then(|len| usize::try_from(len).ok()).map_or(most, |len| len.min(most));
    let len = decompress(input, stale(out, room, limit)?)?;
    out.truncate(len);
    Ok(())
}

/// Decodes into `out`; gives the number of bytes.
pub(crate) fn decompress(input: &[u8], out: &mut [u8]) -> Result<usize, Fault> {
    Decoder::default().decompress(input, out)
}

/// Appends a frame.
pub(crate) fn compress(level: i32, input: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    Encoder::default().compress(level, input, out)
}

/// The state of the library for many frames; it is made when the first one comes.
#[derive(Default)]
pub(crate) struct Decoder(Option<DCtx<'static>>);

impl Decoder {
    /// Decodes into `out`; gives the number of bytes.
    pub(crate) fn decompress(&mut self, input: &[u8], out: &mut [u8]) -> Result<usize, Fault> {
        let context = match &mut self.0 {
            Some(context) => context,
            none => none.insert(DCtx::try_create().ok_or(Fault::Memory(input.len()))?),
        };
        context.decompress(out, input).map_err(|code| failed(code, input.len()))
    }
}

/// The same for frames that are made.
#[derive(Default)]
pub(crate) struct Encoder(Option<CCtx<'static>>);

impl Encoder {
    /// Appends a frame.
    pub(crate) fn compress(&mut self, level: i32, input: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        // 0 is the level of the library; those below compress less, and faster.
        let range = zstd::compression_level_range();
        let level = level.clamp(*range.start(), *range.end());
        let start = out.len();
        let room = extend_stale(out, zstd_safe::compress_bound(input.len()))?;
        let context = match &mut self.0 {
            Some(context) => context,
            none => none.insert(CCtx::try_create().ok_or(Fault::Memory(input.len()))?),
        };
        let set = context.set_parameter(CParameter::CompressionLevel(level));
        let len = set.and_then(|_| context.compress2(room, input)).map_err(|code| failed(code, input.len()))?;
        out.truncate(start + len);
        Ok(())
    }
}

/// What the library says of a chunk of so many bytes.
fn failed(code: ErrorCode, len: usize) -> Fault {
    // `ZSTD_error_memory_allocation`
    match code.wrapping_neg() {
        64 => Fault::Memory(len),
        _ => Fault::other(std::io::Error::other(zstd_safe::get_error_name(code))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_makes_no_more_than_the_worst_case() {
        for len in (0..300_000).step_by(77).chain([1 << 24, 1 << 30]) {
            assert!(zstd_safe::compress_bound(len) as u64 <= most_compressed(len as u64), "{len}");
        }
    }
}
