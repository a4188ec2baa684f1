//! The codecs inside a container.

use hyperslab_base::memory;

use super::{blosclz, snappy};
use crate::{
    Fault, deflate,
    lz4::{self, Mode},
    zstd,
};

/// A codec, as parameters of the filter name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BloscCodec {
    /// Blosc's own.
    BloscLz = 0,
    /// LZ4.
    Lz4 = 1,
    /// LZ4 with more effort.
    Lz4Hc = 2,
    /// Snappy; not in blosc2.
    Snappy = 3,
    /// Zlib.
    Zlib = 4,
    /// Zstandard.
    Zstd = 5,
}

impl BloscCodec {
    pub(crate) fn from_param(param: u32) -> Option<BloscCodec> {
        use BloscCodec::*;
        [BloscLz, Lz4, Lz4Hc, Snappy, Zlib, Zstd].into_iter().find(|codec| *codec as u32 == param)
    }

    /// Appends a stream. One that is not smaller than the input, or empty, is not worth it.
    pub(super) fn compress(
        self,
        level: u32,
        input: &[u8],
        out: &mut Vec<u8>,
        frames: &mut zstd::Encoder,
    ) -> Result<(), Fault> {
        match self {
            BloscCodec::BloscLz => blosclz::compress(level, input, out),
            BloscCodec::Lz4 => lz4::compress(Mode::FAST(10 - level.min(9) as i32), input, out)?,
            BloscCodec::Lz4Hc => lz4::compress(Mode::HIGHCOMPRESSION(level.min(9) as i32), input, out)?,
            BloscCodec::Snappy => {
                memory::reserve(out, snap::raw::max_compress_len(input.len()))?;
                snappy::compress(input, out)?;
            }
            BloscCodec::Zlib => {
                let mut stream = Vec::new();
                deflate::deflate_closely(level.min(9), input, &mut stream)?;
                memory::append(out, &stream)?;
            }
            // Blosc spreads its nine levels over those of Zstandard.
            BloscCodec::Zstd => frames.compress(if level >= 9 { 22 } else { level as i32 * 2 - 1 }, input, out)?,
        }
        Ok(())
    }

    pub(super) fn inner(self) -> Inner {
        match self {
            BloscCodec::BloscLz => Inner::BloscLz,
            BloscCodec::Lz4 | BloscCodec::Lz4Hc => Inner::Lz4,
            BloscCodec::Snappy => Inner::Snappy,
            BloscCodec::Zlib => Inner::Zlib,
            BloscCodec::Zstd => Inner::Zstd,
        }
    }
}

/// What a stream is compressed with, as a container names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inner {
    BloscLz = 0,
    Lz4 = 1,
    Snappy = 2,
    Zlib = 3,
    Zstd = 4,
}

impl Inner {
    pub(super) fn from_format(format: u8) -> Option<Inner> {
        use Inner::*;
        [BloscLz, Lz4, Snappy, Zlib, Zstd].into_iter().find(|inner| *inner as u8 == format)
    }

    /// How many bytes a stored one stands for at most.
    pub(super) fn max_ratio(self) -> u64 {
        let ratio = match self {
            Inner::BloscLz | Inner::Lz4 => lz4::MAX_RATIO,
            // Three bytes copy 64.
            Inner::Snappy => 22,
            Inner::Zlib => deflate::MAX_RATIO,
            Inner::Zstd => zstd::MAX_RATIO,
        };
        ratio as u64
    }

    /// Decodes a stream that must fill `out`.
    pub(super) fn decompress(self, input: &[u8], out: &mut [u8], frames: &mut zstd::Decoder) -> Result<(), Fault> {
        let len = match self {
            Inner::BloscLz => return blosclz::decompress_exact(input, out),
            Inner::Lz4 => return lz4::decompress_exact(input, out),
            Inner::Snappy => snap::raw::Decoder::new().decompress(input, out).map_err(Fault::other)?,
            Inner::Zlib => deflate::inflate(input, out)?,
            Inner::Zstd => frames.decompress(input, out)?,
        };
        if len == out.len() { Ok(()) } else { Err(Fault::Corrupt("a stream decodes to too few bytes")) }
    }
}
