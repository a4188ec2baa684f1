//! Filter 32001: blosc, a container of blocks that are shuffled and then compressed by one of several codecs.
//!
//! `header` reads what a container starts with, `chunk` and `build` decode and make one, `codec` has the codecs inside,
//! `blosclz` and `snappy` two that are our own. Blosc2 uses the same containers.

mod blosclz;
mod build;
mod chunk;
mod codec;
mod cut;
mod header;
#[cfg(test)]
mod samples;
mod snappy;

pub use codec::BloscCodec;

pub(crate) use build::{Plan, build};
pub(crate) use chunk::{Chunk, Work, fill};
pub(crate) use cut::block_len;
pub(crate) use header::{MAX_LEN, Special, Stage};

use crate::{ChunkFacts, Decoded, Encoded, Fault, Filter, output::stale};

/// Blosc, filter 32001.
///
/// ```
/// use hyperslab_filter::{Blosc, BloscCodec, BloscShuffle};
/// let params = Blosc::params(8, 80_000, 5, BloscShuffle::Byte, BloscCodec::Zstd);
/// assert_eq!(params, [2, 2, 8, 80_000, 5, 1, 5]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Blosc;

/// What happens before compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BloscShuffle {
    /// Nothing.
    None,
    /// Bytes are shuffled.
    Byte,
    /// Bits are shuffled.
    Bit,
}

impl Blosc {
    /// Its number.
    pub const ID: u16 = 32001;

    /// The parameters for a chunk. `element_size` is that of the base type where the type is an array; `level` is 0 to 9.
    pub fn params(
        element_size: u32,
        chunk_bytes: u32,
        level: u32,
        shuffle: BloscShuffle,
        codec: BloscCodec,
    ) -> Vec<u32> {
        let [version, format, size, bytes] = Blosc::derived(element_size, chunk_bytes);
        vec![version, format, size, bytes, level, shuffle as u32, codec as u32]
    }

    /// What a user gives of the parameters, in their places; the others follow from type and chunk.
    pub fn options(level: u32, shuffle: BloscShuffle, codec: BloscCodec) -> Vec<u32> {
        vec![0, 0, 0, 0, level, shuffle as u32, codec as u32]
    }

    /// The parameters that follow from type and chunk.
    fn derived(element_size: u32, chunk_bytes: u32) -> [u32; 4] {
        [2, 2, if element_size > 255 { 1 } else { element_size }, chunk_bytes]
    }
}

impl Filter for Blosc {
    fn id(&self) -> u16 {
        Blosc::ID
    }

    fn name(&self) -> &'static str {
        "blosc"
    }

    fn complete(&self, params: &[u32], chunk: &ChunkFacts<'_>) -> Result<Vec<u32>, Fault> {
        let derived = Blosc::derived(chunk.element.part_size(), chunk.bytes()?);
        let params = [&derived, params.get(4..).unwrap_or_default()].concat();
        plan(&params)?;
        Ok(params)
    }

    fn decode(&self, _: &[u32], input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<Decoded, Fault> {
        let chunk = Chunk::read(input)?;
        chunk.decode(stale(out, chunk.len(), limit)?)?;
        Ok(Decoded::Written)
    }

    fn encode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>) -> Result<Encoded, Fault> {
        let plan = plan(params)?;
        out.clear();
        build(&plan, input, out)?;
        Ok(Encoded::Written)
    }

    fn worst_case(&self, _: &[u32], len: u64) -> Option<u64> {
        // A copy of the data.
        Some(len.saturating_add(header::LEN as u64))
    }

    fn decoded_bound(&self, _: &[u32], _: u64) -> Option<u64> {
        Some(MAX_LEN)
    }
}

/// How the parameters want containers to be made.
fn plan(params: &[u32]) -> Result<Plan, Fault> {
    let &[_, _, size, _, ref options @ ..] = params else {
        return Err(Fault::Params("the size of an element is missing"));
    };
    let option = |index: usize, default| options.get(index).copied().unwrap_or(default);
    let stage = match option(1, 1) {
        0 => Stage::None,
        1 => Stage::Shuffle(0),
        2 => Stage::Bitshuffle,
        _ => return Err(Fault::Params("an unknown way to shuffle")),
    };
    let codec = BloscCodec::from_param(option(2, 0)).ok_or(Fault::Params("an unknown codec"))?;
    let level = option(0, 5);
    if level > 9 {
        return Err(Fault::Params("the level is not in 0 to 9"));
    }
    Ok(Plan { extended: false, size: size.clamp(1, 255) as u8, level, stage, codec, block: None })
}
