//! Filter 32026: blosc2, a frame with one chunk in it. `frame` finds the chunk, `grid` puts the blocks of an array of more
//! dimensions in their places; the chunk itself is blosc's container.

mod frame;
mod grid;

use crate::{
    BloscCodec, Decoded, Encoded, Fault, Filter,
    blosc::{Plan, Stage, build, fill},
    output::stale,
};
use frame::{Frame, Stored};

/// Blosc2, filter 32026.
///
/// ```
/// use hyperslab_filter::{Blosc2, Blosc2Stage, BloscCodec};
/// let params = Blosc2::params(8, 8, &[100, 100], 5, Blosc2Stage::Shuffle, BloscCodec::Zstd);
/// assert_eq!(params, [1, 0, 8, 80_000, 5, 1, 5, 2, 100, 100]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Blosc2;

/// What happens before compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blosc2Stage {
    /// Nothing.
    None = 0,
    /// Bytes are shuffled.
    Shuffle = 1,
    /// Bits are shuffled.
    Bitshuffle = 2,
    /// Each element is compared with the one before.
    Delta = 3,
}

impl Blosc2 {
    /// Its number.
    pub const ID: u16 = 32026;

    /// The parameters for a chunk of this shape. `element_size` is that of the base type where the type is an array, whose
    /// whole size is `type_size`; `level` is 0 to 9.
    pub fn params(
        element_size: u32,
        type_size: u32,
        chunk: &[u32],
        level: u32,
        stage: Blosc2Stage,
        codec: BloscCodec,
    ) -> Vec<u32> {
        let bytes = chunk.iter().fold(type_size, |product, dim| product.wrapping_mul(*dim));
        let mut params = vec![1, 0, element_size, bytes, level, stage as u32, codec as u32];
        if (2..=grid::MAX_RANK).contains(&chunk.len()) {
            params.push(chunk.len() as u32);
            params.extend_from_slice(chunk);
        }
        params
    }
}

impl Filter for Blosc2 {
    fn id(&self) -> u16 {
        Blosc2::ID
    }

    fn name(&self) -> &'static str {
        "blosc2"
    }

    fn decode(&self, _: &[u32], input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<Decoded, Fault> {
        let frame = Frame::read(input)?;
        let len = frame.grid.as_ref().map_or(Ok(frame.len), |grid| grid.len(frame.size))?;
        match (frame.chunk()?, &frame.grid) {
            (Stored::Special(special), _) => fill(special, frame.size, &[], stale(out, len, limit)?)?,
            (Stored::Chunk(chunk), Some(grid)) => grid.decode(&chunk, frame.size, stale(out, len, limit)?)?,
            (Stored::Chunk(chunk), None) => chunk.decode(stale(out, chunk.len(), limit)?)?,
        }
        Ok(Decoded::Written)
    }

    fn encode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>) -> Result<Encoded, Fault> {
        let &[_, _, size, _, level, stage, ref rest @ ..] = params else {
            return Err(Fault::Params("there are too few"));
        };
        let stage = match stage {
            0 => Stage::None,
            1 => Stage::Shuffle(0),
            2 => Stage::Bitshuffle,
            3 => Stage::Delta,
            _ => return Err(Fault::Params("a stage that cannot be undone or is unknown")),
        };
        let codec = BloscCodec::from_param(rest.first().copied().unwrap_or(0))
            .filter(|codec| *codec != BloscCodec::Snappy)
            .ok_or(Fault::Params("an unknown codec"))?;
        // Types over 255 bytes are taken byte by byte.
        let size = u8::try_from(size).unwrap_or(1).max(1);
        // C-Blosc2 is careless with bytes that deltas do not reach.
        let whole = stage.reach(usize::from(size), input.len(), false) == input.len();
        let stage = if stage == Stage::Delta && !whole { Stage::None } else { stage };
        let plan = Plan { extended: true, size, level, stage, codec };
        let mut chunk = Vec::new();
        build(&plan, input, &mut chunk)?;
        frame::write(&plan, input.len(), &chunk, out)?;
        Ok(Encoded::Written)
    }
}
