//! Filter 32020: VBZ, for the signals of nanopore sequencers. Differences of neighbours, folded so that small ones of either sign are small
//! numbers, in as few bytes as each of them needs (`stream`), then Zstandard.
//!
//! A chunk starts with its decoded length in 4 bytes. Each of the three steps can be switched off. Version 1 packs integers of one byte by half
//! bytes; for larger ones it is the same as version 0.

mod stream;

use hyperslab_base::memory;

use crate::{ChunkFacts, Decoded, Encoded, Fault, Filter, NumberKind, output::stale, zstd};
use stream::{Code, ENDED, decode, encode, encoded_len};

/// VBZ, filter 32020.
///
/// ```
/// use hyperslab_filter::{Encoded, Filter, Vbz};
/// let signal: Vec<u8> = (0..1000i32).flat_map(|n| ((400 + n * n % 30) as i16).to_le_bytes()).collect();
/// let params = Vbz::params(0, 2, true, 1);
/// let mut packed = Vec::new();
/// assert_eq!(Vbz.encode(&params, &signal, &mut packed)?, Encoded::Written);
/// assert!(packed.len() < 1000);
/// # Ok::<(), hyperslab_filter::Fault>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Vbz;

impl Vbz {
    /// Its number.
    pub const ID: u16 = 32020;

    /// The parameters for integers of 1, 2 or 4 bytes (0: bytes go to Zstandard as they are), as differences or not, and a level of Zstandard
    /// (0: none). The version is 0 or 1.
    pub fn params(version: u32, integer_size: u32, differences: bool, level: u32) -> Vec<u32> {
        vec![version, integer_size, u32::from(differences), level]
    }
}

const DEFAULT_LEVEL: u32 = 1;

impl Filter for Vbz {
    fn id(&self) -> u16 {
        Vbz::ID
    }

    fn name(&self) -> &'static str {
        "vbz"
    }

    /// The plugin takes parameters as they are given. Where none are, they follow from the type.
    fn complete(&self, params: &[u32], chunk: &ChunkFacts<'_>) -> Result<Vec<u32>, Fault> {
        let params = match params {
            [] => {
                let number = chunk.element.number()?;
                Vbz::params(0, number.size, number.kind == NumberKind::Signed, DEFAULT_LEVEL)
            }
            params => params.to_vec(),
        };
        let bytes = chunk.bytes()?;
        match Params::read(&params)?.integers {
            Some((code, _)) if !(bytes as usize).is_multiple_of(code.size()) => Err(UNEVEN),
            _ => Ok(params),
        }
    }

    fn decode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<Decoded, Fault> {
        let params = Params::read(params)?;
        let (len, stored) = input.split_first_chunk().ok_or(Fault::Corrupt("shorter than its length"))?;
        let len = u32::from_le_bytes(*len) as usize;
        if len > limit {
            return Err(Fault::TooLong(limit));
        }
        let most = params.integers.map_or(Ok(len), |(code, _)| code.most(len))?;
        let mut unpacked = Vec::new();
        let stream = if params.level == 0 {
            stored
        } else {
            zstd::decompress_up_to(stored, &mut unpacked, most)?;
            &unpacked
        };
        match params.integers {
            Some((code, _)) if len as u64 > code.most_decoded(stream.len() as u64) => return Err(ENDED),
            Some((code, differences)) => decode(code, differences, stream, stale(out, len, limit)?)?,
            None if stream.len() == len => stale(out, len, limit)?.copy_from_slice(stream),
            None => return Err(Fault::Corrupt("not as long as it says")),
        }
        Ok(Decoded::Written)
    }

    fn encode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>) -> Result<Encoded, Fault> {
        let params = Params::read(params)?;
        let len = u32::try_from(input.len()).map_err(|_| Fault::Params("a chunk over 4 GiB"))?;
        out.clear();
        out.extend(len.to_le_bytes());
        let mut packed = Vec::new();
        let stream = match params.integers {
            Some((code, differences)) => {
                encode(code, differences, input, &mut packed)?;
                &packed
            }
            None => input,
        };
        match params.level {
            0 => memory::append(out, stream)?,
            level => zstd::compress(i32::try_from(level).unwrap_or(i32::MAX), stream, out)?,
        }
        Ok(Encoded::Written)
    }

    fn encoded_bound(&self, params: &[u32], len: usize) -> usize {
        let stream = Params::read(params)
            .ok()
            .and_then(|params| params.integers)
            .map_or(len, |(code, _)| encoded_len(code, len));
        stream.saturating_add(stream / 128).saturating_add(1 << 10)
    }

    fn worst_case(&self, params: &[u32], len: u64) -> Option<u64> {
        let (params, len) = (Params::read(params).ok()?, usize::try_from(len).ok()?);
        let stream = params.integers.map_or(len, |(code, _)| encoded_len(code, len)) as u64;
        Some(zstd::most_compressed(stream).saturating_add(4))
    }

    fn decoded_bound(&self, params: &[u32], len: u64) -> Option<u64> {
        let params = Params::read(params).ok()?;
        let stream = if params.level == 0 { len } else { len.saturating_mul(zstd::MAX_RATIO as u64) };
        Some(params.integers.map_or(stream, |(code, _)| code.most_decoded(stream)).min(u32::MAX.into()))
    }
}

struct Params {
    /// How integers are packed, and whether as differences; not at all if there is none.
    integers: Option<(Code, bool)>,
    level: u32,
}

const UNEVEN: Fault = Fault::Params("the data is not a whole number of integers");

impl Params {
    fn read(params: &[u32]) -> Result<Params, Fault> {
        let &[version, size, differences, ref rest @ ..] = params else {
            return Err(Fault::Params("version, integer size and differences are missing"));
        };
        let code = match (version, size) {
            (0 | 1, 0) => None,
            (1, 1) => Some(Code::HalfBytes),
            (0, 1) => Some(Code::Bytes1),
            (0 | 1, 2) => Some(Code::Bytes2),
            (0 | 1, 4) => Some(Code::Bytes4),
            (0 | 1, _) => return Err(Fault::Params("integers have 1, 2 or 4 bytes")),
            _ => return Err(Fault::Params("an unknown version")),
        };
        let level = rest.first().copied().unwrap_or(DEFAULT_LEVEL);
        Ok(Params { integers: code.map(|code| (code, differences != 0)), level })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(params: &[u32], stream: &[u8], len: u32) -> Result<Vec<u8>, Fault> {
        let input = [&len.to_le_bytes(), stream].concat();
        let mut out = Vec::new();
        Vbz.decode(params, &input, &mut out, 1000).map(|_| out)
    }

    /// 300, 300, 299, 44, -70000 as integers of four bytes.
    const VALUES: [i32; 5] = [300, 300, 299, 44, -70_000];
    /// Differences 300, 0, -1, -255, -70,044, folded to 600, 0, 1, 509, 140,087: two, one, one, two and three bytes.
    const STREAM: [u8; 11] = [0b01_00_00_01, 0b10, 0x58, 0x02, 0, 1, 0xfd, 0x01, 0x37, 0x23, 0x02];

    #[test]
    fn reads_and_writes_as_the_format_says() {
        let bytes: Vec<u8> = VALUES.iter().flat_map(|value| value.to_le_bytes()).collect();
        for version in [0, 1] {
            let params = Vbz::params(version, 4, true, 0);
            assert_eq!(unpacked(&params, &STREAM, 20).unwrap(), bytes);
            let mut packed = Vec::new();
            Vbz.encode(&params, &bytes, &mut packed).unwrap();
            assert_eq!(packed[4..], STREAM);
        }
    }

    #[test]
    fn version_1_has_half_bytes_for_bytes() {
        // 0, 3, 200, 1 and 255, whose codes are none, half, whole, half, whole.
        let stream = [0b01_10_01_00, 0b10, 0x83, 0x1c, 0xff];
        let params = Vbz::params(1, 1, false, 0);
        assert_eq!(unpacked(&params, &stream, 5).unwrap(), [0, 3, 200, 1, 255]);
        let mut packed = Vec::new();
        Vbz.encode(&params, &[0, 3, 200, 1, 255], &mut packed).unwrap();
        assert_eq!(packed[4..], stream);
        // The plugin extends signs: two bytes for a negative number.
        assert_eq!(unpacked(&params, &[0b11, 0xff, 0xff], 1).unwrap(), [255]);
    }

    #[test]
    fn deltas_that_wrap_around_come_back() {
        let values: Vec<u8> =
            [i16::MIN, i16::MAX, 0, i16::MIN, -1, 1].iter().flat_map(|value| value.to_le_bytes()).collect();
        let params = Vbz::params(0, 2, true, 1);
        let mut packed = Vec::new();
        Vbz.encode(&params, &values, &mut packed).unwrap();
        assert_eq!(unpacked(&params, &packed[4..], 12).unwrap(), values);
        // The plugin takes differences of 17 bits: from -32,768 by 65,535 up to 32,767.
        let wide = [0b10_10, 0xff, 0xff, 0, 0xfe, 0xff, 1];
        assert_eq!(unpacked(&Vbz::params(0, 2, true, 0), &wide, 4).unwrap(), values[..4]);
    }

    #[test]
    fn refuses_what_no_encoder_writes() {
        let params = Vbz::params(0, 4, true, 0);
        for end in 0..STREAM.len() {
            assert!(unpacked(&params, &STREAM[..end], 20).is_err(), "{end}");
        }
        assert!(unpacked(&params, &[&STREAM[..], &[0]].concat(), 20).is_err());
        assert!(unpacked(&params, &STREAM, 19).is_err());
        assert!(unpacked(&params, &STREAM, u32::MAX).is_err());
        assert!(unpacked(&Vbz::params(2, 4, true, 0), &STREAM, 20).is_err());
        assert!(unpacked(&Vbz::params(0, 3, true, 0), &STREAM, 20).is_err());
        assert!(unpacked(&[0, 4], &STREAM, 20).is_err());
    }
}
