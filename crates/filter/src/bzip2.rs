//! Filter 307: bzip2, one stream for a chunk.

use bzip2::{Action, Compress, Compression, Decompress, Status};

use crate::{
    ChunkFacts, Decoded, Encoded, Fault, Filter,
    output::{check_memory, stale},
};

const DEFAULT_LEVEL: u32 = 9;
/// Scratch for a stream at first, in times its own size.
const USUAL_RATIO: usize = 32;

/// A block has no fewer bytes: its magic number, checksum, origin, map, one selector and two tables.
const LEAST_BLOCK: u64 = 21;
/// A block decodes to no more: 900,000 bytes, of which five stand for a run of 259 at most.
const MOST_OF_BLOCK: u64 = 900_000 / 5 * 259;

/// More than the library takes for its own state: 400 KB and eight times the largest block.
const STATE: usize = 8 << 20;

/// Bzip2, filter 307.
#[derive(Clone, Copy, Debug)]
pub struct Bzip2;

impl Bzip2 {
    /// Its number.
    pub const ID: u16 = 307;

    /// The parameters for a level, 1 to 9.
    pub fn params(level: u32) -> Vec<u32> {
        vec![level]
    }
}

impl Filter for Bzip2 {
    fn id(&self) -> u16 {
        Bzip2::ID
    }

    fn name(&self) -> &'static str {
        "bzip2"
    }

    fn complete(&self, params: &[u32], _: &ChunkFacts<'_>) -> Result<Vec<u32>, Fault> {
        read_level(params)?;
        Ok(params.to_vec())
    }

    fn decode(&self, _: &[u32], input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<Decoded, Fault> {
        check_memory(STATE)?;
        let mut stream = Decompress::new(false);
        // Nearly all chunks fit at once; a few bytes that claim to be a huge chunk get room as they fill it.
        let mut room = limit.min(input.len().max(1).saturating_mul(USUAL_RATIO));
        loop {
            let (read, written) = (stream.total_in() as usize, stream.total_out() as usize);
            let to = stale(out, room, limit)?.get_mut(written..).unwrap_or_default();
            let status = stream.decompress(input.get(read..).unwrap_or_default(), to).map_err(Fault::other)?;
            let written = stream.total_out() as usize;
            match status {
                Status::StreamEnd => break out.truncate(written),
                _ if written < room => return Err(Fault::Corrupt("the stream ends early")),
                _ if room == limit => return Err(Fault::TooLong(limit)),
                _ => room = limit.min(room.saturating_mul(2)),
            }
        }
        Ok(Decoded::Written)
    }

    fn encode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>) -> Result<Encoded, Fault> {
        let level = read_level(params)?;
        let most = usize::try_from(most_compressed(input.len() as u64)).unwrap_or(usize::MAX);
        check_memory(STATE)?;
        let mut stream = Compress::new(Compression::new(level), 0);
        match stream.compress(input, stale(out, most, most)?, Action::Finish).map_err(Fault::other)? {
            Status::StreamEnd => out.truncate(stream.total_out() as usize),
            _ => return Err(Fault::Incompressible),
        }
        Ok(Encoded::Written)
    }

    fn worst_case(&self, _: &[u32], len: u64) -> Option<u64> {
        Some(most_compressed(len))
    }

    fn decoded_bound(&self, _: &[u32], len: u64) -> Option<u64> {
        Some((len / LEAST_BLOCK + 1).saturating_mul(MOST_OF_BLOCK))
    }
}

/// The worst case, by bzip2's documentation.
fn most_compressed(len: u64) -> u64 {
    len.saturating_add(len / 100).saturating_add(600)
}

fn read_level(params: &[u32]) -> Result<u32, Fault> {
    let level = params.first().copied().unwrap_or(DEFAULT_LEVEL);
    if (1..=9).contains(&level) { Ok(level) } else { Err(Fault::Params("the level is not in 1 to 9")) }
}
