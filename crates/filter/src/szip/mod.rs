//! Filter 4: szip, the lossless coder of CCSDS 121.0 as HDF5 uses it.
//!
//! A chunk starts with its decoded length in 4 bytes. The samples are cut into scanlines, each filled up to whole blocks; a
//! scanline is what the standard calls a reference sample interval. Samples of 32 and 64 bits are coded as bytes: all first
//! bytes, then all second bytes, and so on. `decode` and `encode` have the code of a scanline; here is what is around it.

mod decode;
mod encode;
mod params;

pub use params::SzipType;

use hyperslab_base::memory;

use crate::{
    ChunkFacts, Decoded, Encoded, Fault, Filter,
    bits::{BitReader, BitWriter},
    output::{stale, to_len, zeroed},
    transpose::{to_columns, to_rows},
};
use params::Params;

/// Szip, filter 4.
///
/// ```
/// use hyperslab_filter::{Szip, SzipType};
/// let of = SzipType { size: 2, big_endian: false, precision: 12, offset: 0 };
/// assert_eq!(Szip::params(&[100, 300], of, true, 16)?, [169, 16, 12, 300]);
/// # Ok::<(), hyperslab_filter::Fault>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Szip;

impl Szip {
    /// Its number.
    pub const ID: u16 = 4;

    /// The parameters for a chunk. `nearest_neighbour` codes differences between neighbours, which suits most data; otherwise
    /// the samples themselves are coded.
    pub fn params(
        chunk: &[u64],
        of: SzipType,
        nearest_neighbour: bool,
        pixels_per_block: u32,
    ) -> Result<Vec<u32>, Fault> {
        params::to_params(chunk, of, nearest_neighbour, pixels_per_block)
    }

    /// What a user gives of the parameters; the others follow from type and chunk.
    pub fn options(nearest_neighbour: bool, pixels_per_block: u32) -> Vec<u32> {
        vec![params::coding(nearest_neighbour), pixels_per_block]
    }
}

impl Filter for Szip {
    fn id(&self) -> u16 {
        Szip::ID
    }

    fn name(&self) -> &'static str {
        "szip"
    }

    fn complete(&self, params: &[u32], chunk: &ChunkFacts<'_>) -> Result<Vec<u32>, Fault> {
        let &[mask, block, ..] = params else {
            return Err(Fault::Params("options and pixels per block are missing"));
        };
        Szip::params(chunk.dims, chunk.element.number()?.into(), params::is_nearest_neighbour(mask), block)
    }

    fn decode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<Decoded, Fault> {
        let params = Params::read(params)?;
        let (len, coded) = input.split_first_chunk().ok_or(Fault::Corrupt("shorter than its length"))?;
        let len = to_len(u32::from_le_bytes(*len))?;
        if len as u64 > params.most_decoded(coded.len() as u64) {
            return Err(Fault::Corrupt("longer than its samples can be"));
        }
        let out = zeroed(out, len, limit)?;
        match params.interleaved {
            None => decode_samples(&params, coded, out)?,
            Some(size) => {
                let mut columns = memory::zeroed(len as u64)?;
                decode_samples(&params, coded, &mut columns)?;
                to_rows(size, &columns, out);
            }
        }
        Ok(Decoded::Written)
    }

    fn encode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>) -> Result<Encoded, Fault> {
        let params = Params::read(params)?;
        let len = u32::try_from(input.len()).map_err(|_| Fault::Params("a chunk over 4 GiB"))?;
        out.clear();
        out.extend(len.to_le_bytes());
        match params.interleaved {
            None => encode_samples(&params, input, out)?,
            Some(size) => {
                let mut columns = Vec::new();
                to_columns(size, input, stale(&mut columns, input.len(), input.len())?);
                encode_samples(&params, &columns, out)?;
            }
        }
        Ok(if out.len() - 4 > input.len() { Encoded::Incompressible } else { Encoded::Written })
    }

    fn worst_case(&self, _: &[u32], len: u64) -> Option<u64> {
        Some(len.saturating_add(4))
    }

    fn decoded_bound(&self, params: &[u32], len: u64) -> Option<u64> {
        let most = Params::read(params).ok()?.most_decoded(len.saturating_sub(4));
        Some(most.min(u32::MAX.into()))
    }
}

fn decode_samples(params: &Params, coded: &[u8], out: &mut [u8]) -> Result<(), Fault> {
    let mut bits = BitReader::new(coded);
    let mut line = Vec::new();
    memory::resize(&mut line, params.padded_line(), 0)?;
    for pixels in out.chunks_mut(params.line * params.bytes) {
        let wanted = pixels.len().div_ceil(params.bytes);
        decode::scanline(params, &mut bits, &mut line, wanted)?;
        params.store(&line, pixels);
    }
    Ok(())
}

fn encode_samples(params: &Params, input: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    let mut bits = BitWriter::new(out);
    let (mut line, mut coder) = (memory::with_room(params.padded_line())?, encode::Coder::new(params)?);
    for pixels in input.chunks(params.line * params.bytes) {
        line.clear();
        params.load(pixels, &mut line);
        let padding = if params.preprocess { line.last().copied().unwrap_or(0) } else { 0 };
        line.resize(params.padded_line(), padding);
        coder.scanline(params, &mut bits, &line);
    }
    bits.finish();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn params() -> impl Strategy<Value = Vec<u32>> {
        let bits = prop_oneof![1u32..=24, Just(32), Just(64)];
        (any::<[bool; 2]>(), 1u32..=16, bits, 1u32..300).prop_map(|([msb, nn], half, bits, line)| {
            let mask = 128 | if msb { 16 } else { 8 } | if nn { 32 } else { 4 };
            vec![mask, half * 2, bits, line]
        })
    }

    proptest! {
        #[test]
        fn comes_back(params in params(), steps in prop::collection::vec((0u64..300, any::<u64>(), 0u32..64), 0..60)) {
            // Runs of zeros, small and wild numbers.
            let read = Params::read(&params).unwrap();
            let bits = params[2];
            let mut input = Vec::new();
            for (run, value, shift) in steps {
                for n in 0..run {
                    let value = value.wrapping_mul(n) >> shift & (u64::MAX >> (64 - bits));
                    match read.interleaved {
                        Some(size) => input.extend_from_slice(&value.to_le_bytes()[..size]),
                        None => {
                            let at = input.len();
                            input.resize(at + read.bytes, 0);
                            read.store(&[value as u32], &mut input[at..]);
                        }
                    }
                }
            }
            let (mut coded, mut back) = (Vec::new(), Vec::new());
            Szip.encode(&params, &input, &mut coded).unwrap();
            Szip.decode(&params, &coded, &mut back, input.len()).unwrap();
            prop_assert_eq!(back, input);
        }
    }
}
