//! Filter 2: shuffle. All first bytes of the elements, then all second bytes, and so on.

use crate::{
    ChunkFacts, Decoded, Encoded, Fault, Filter,
    output::stale,
    transpose::{to_columns, to_rows},
};

/// Shuffle, filter 2.
#[derive(Clone, Copy, Debug)]
pub struct Shuffle;

impl Shuffle {
    /// Its number.
    pub const ID: u16 = 2;

    /// The parameters for elements of this many bytes.
    pub fn params(element_size: u32) -> Vec<u32> {
        vec![element_size]
    }
}

impl Filter for Shuffle {
    fn id(&self) -> u16 {
        Shuffle::ID
    }

    fn name(&self) -> &'static str {
        "shuffle"
    }

    fn complete(&self, _: &[u32], chunk: &ChunkFacts<'_>) -> Result<Vec<u32>, Fault> {
        Ok(Shuffle::params(chunk.element.size()))
    }

    fn decode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<Decoded, Fault> {
        let size = element_size(params)?;
        if size == 1 && input.len() <= limit {
            return Ok(Decoded::Prefix(input.len()));
        }
        to_rows(size, input, stale(out, input.len(), limit)?);
        Ok(Decoded::Written)
    }

    fn encode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>) -> Result<Encoded, Fault> {
        let size = element_size(params)?;
        if size == 1 {
            return Ok(Encoded::Unchanged);
        }
        to_columns(size, input, stale(out, input.len(), input.len())?);
        Ok(Encoded::Written)
    }

    fn encoded_bound(&self, _: &[u32], len: usize) -> usize {
        len
    }

    fn worst_case(&self, _: &[u32], len: u64) -> Option<u64> {
        Some(len)
    }

    fn decoded_bound(&self, _: &[u32], len: u64) -> Option<u64> {
        Some(len)
    }
}

fn element_size(params: &[u32]) -> Result<usize, Fault> {
    match params {
        [size] if *size > 0 => Ok(*size as usize),
        _ => Err(Fault::Params("there must be one, the size of an element")),
    }
}
