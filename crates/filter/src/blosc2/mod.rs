//! Filter 32026: blosc2, a frame with one chunk in it. `frame` finds the chunk, `grid` puts the blocks of an array of more
//! dimensions in their places, `block_shape` chooses their extent; the chunk itself is blosc's container.

mod block_shape;
mod frame;
mod grid;

use crate::{
    BloscCodec, ChunkFacts, Decoded, Encoded, Fault, Filter,
    blosc::{MAX_LEN, Plan, Stage, block_len, build, fill},
    output::stale,
};
use frame::{Frame, Stored};
use grid::{Grid, MAX_RANK};

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
        with_derived(element_size, bytes, chunk.iter().copied(), &Blosc2::options(level, stage, codec))
    }

    /// What a user gives of the parameters, in their places; the others follow from type and chunk.
    pub fn options(level: u32, stage: Blosc2Stage, codec: BloscCodec) -> Vec<u32> {
        vec![0, 0, 0, 0, level, stage as u32, codec as u32]
    }
}

impl Filter for Blosc2 {
    fn id(&self) -> u16 {
        Blosc2::ID
    }

    fn name(&self) -> &'static str {
        "blosc2"
    }

    fn complete(&self, params: &[u32], chunk: &ChunkFacts<'_>) -> Result<Vec<u32>, Fault> {
        let (size, bytes) = (chunk.element.part_size(), chunk.bytes()?);
        // Each is not more than the bytes of a chunk.
        let params = with_derived(size, bytes, chunk.dims.iter().map(|dim| *dim as u32), params);
        match plan(&params, bytes as usize) {
            // As with the plugin, chunks are stored without the filter.
            Ok(_) | Err(Fault::Unsupported(_)) => Ok(params),
            Err(fault) => Err(fault),
        }
    }

    fn decode(&self, _: &[u32], input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<Decoded, Fault> {
        let frame = Frame::read(input)?;
        let len = frame.grid.as_ref().map_or(Ok(frame.len), |grid| grid.len(frame.size))?;
        if len as u64 > MAX_LEN {
            return Err(Fault::Corrupt("longer than a chunk can be"));
        }
        match (frame.chunk()?, &frame.grid) {
            (Stored::Special(special), _) => fill(special, frame.size, &[], stale(out, len, limit)?)?,
            (Stored::Chunk(chunk), Some(grid)) => grid.decode(&chunk, frame.size, stale(out, len, limit)?)?,
            (Stored::Chunk(chunk), None) => chunk.decode(stale(out, chunk.len(), limit)?)?,
        }
        Ok(Decoded::Written)
    }

    fn encode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>) -> Result<Encoded, Fault> {
        let mut plan = plan(params, input.len())?;
        let size = usize::from(plan.size);
        let grid = grid(params, &plan, input.len());
        let blocks;
        let mut input = input;
        if let Some(grid) = &grid {
            plan.block = Some(grid.block_len(size)?);
            if !grid.is_one_block() {
                blocks = grid.to_blocks(size, input)?;
                input = &blocks;
            }
        }
        let mut chunk = Vec::new();
        build(&plan, input, &mut chunk)?;
        frame::write(&plan, grid.as_ref(), input.len(), &chunk, out)?;
        Ok(Encoded::Written)
    }

    fn encoded_bound(&self, params: &[u32], len: usize) -> usize {
        // Blocks at the far ends of an array are stored whole.
        let grid = plan(params, len).ok().and_then(|plan| Some((grid(params, &plan, len)?, usize::from(plan.size))));
        let padded = grid.and_then(|(grid, size)| grid.padded_len(size).ok()).map_or(len, |(padded, _)| padded);
        padded.saturating_add(padded / 4).saturating_add(1 << 16)
    }

    fn worst_case(&self, params: &[u32], len: u64) -> Option<u64> {
        // Of all lengths, that of the array alone is filled up to whole blocks.
        let array = plan(params, 0).ok().and_then(|plan| array_len(&shape(params)?, &plan));
        let padded = array.filter(|array| *array as u64 <= len).and_then(|array| {
            let plan = plan(params, array).ok()?;
            grid(params, &plan, array)?.padded_len(usize::from(plan.size)).ok()
        });
        Some(len.max(padded.map_or(0, |(padded, _)| padded as u64)).saturating_add(FRAME_OVERHEAD))
    }

    fn decoded_bound(&self, _: &[u32], _: u64) -> Option<u64> {
        // A frame without chunks may tell of any number of equal values.
        Some(MAX_LEN)
    }
}

/// The array that a chunk is, if its parameters have the shape of one and it has as many bytes. At level 0, where filled up blocks take more room, it is none.
fn grid(params: &[u32], plan: &Plan, len: usize) -> Option<Grid> {
    let (shape, size) = (shape(params)?, usize::from(plan.size));
    if len == 0 || array_len(&shape, plan) != Some(len) || plan.level == 0 {
        return None;
    }
    // The plugin asks for the block of a chunk that is shuffled, whatever the stage.
    let block = block_len(&Plan { stage: Stage::Shuffle(0), ..*plan }, size, len);
    Some(Grid::new(shape, block / size))
}

/// The shape of the array that the parameters tell, if they do.
fn shape(params: &[u32]) -> Option<Vec<usize>> {
    let rank = *params.get(AT_RANK)? as usize;
    let shape = params.get(AT_RANK + 1..)?.get(..rank)?.iter().map(|dim| *dim as usize);
    (2..=MAX_RANK).contains(&rank).then(|| shape.collect())
}

/// The bytes of an array of this shape.
fn array_len(shape: &[usize], plan: &Plan) -> Option<usize> {
    shape.iter().try_fold(usize::from(plan.size), |product, dim| product.checked_mul(*dim))
}

/// A frame has no more bytes beside those of its blocks: headers, the layer of an array of 16 dimensions, the place of the chunk, the trailer.
const FRAME_OVERHEAD: u64 = 1024;

/// Level, stage and codec where they are not given.
const DEFAULTS: [u32; 3] = [5, 1, 0];

/// Where the shape of a chunk stands, after what users give.
const AT_RANK: usize = 7;

/// Parameters whose options stand in their places, with those that follow from type and chunk.
fn with_derived(size: u32, bytes: u32, dims: impl ExactSizeIterator<Item = u32>, options: &[u32]) -> Vec<u32> {
    // The bytes of a block are the user's to choose; 0 leaves them to the level.
    let mut params = vec![1, options.get(1).copied().unwrap_or(0), size, bytes];
    params.extend(options.iter().take(AT_RANK).skip(4));
    if (2..=MAX_RANK).contains(&dims.len()) {
        params.extend(DEFAULTS.iter().skip(params.len() - 4));
        params.push(dims.len() as u32);
        params.extend(dims);
    }
    params
}

/// How the parameters want a chunk of so many bytes to be made.
fn plan(params: &[u32], len: usize) -> Result<Plan, Fault> {
    let &[_, block, size, _, ref options @ ..] = params else {
        return Err(Fault::Params("the size of an element is missing"));
    };
    let [level, stage, codec] = std::array::from_fn(|at| options.get(at).or(DEFAULTS.get(at)).copied().unwrap_or(0));
    let stage = match stage {
        0 => Stage::None,
        1 => Stage::Shuffle(0),
        2 => Stage::Bitshuffle,
        3 => Stage::Delta,
        4 => return Err(Fault::Unsupported("encoding with less precision")),
        _ => return Err(Fault::Params("an unknown stage")),
    };
    let codec = BloscCodec::from_param(codec)
        .filter(|codec| *codec != BloscCodec::Snappy)
        .ok_or(Fault::Params("an unknown codec"))?;
    // Types over 255 bytes are taken byte by byte, in blocks of whole elements.
    let whole_size = (size as usize).max(1);
    let size = u8::try_from(size).unwrap_or(1).max(1);
    // C-Blosc2 is careless with bytes that deltas do not reach.
    let whole = stage.reach(usize::from(size), len, false) == len;
    let stage = if stage == Stage::Delta && !whole { Stage::None } else { stage };
    if level > 9 {
        return Err(Fault::Params("the level is not in 0 to 9"));
    }
    let block = (block > 0).then_some(block as usize);
    let plan = Plan { extended: true, size, level, stage, codec, block };
    let block = if whole_size > 255 { Some(block_len(&plan, whole_size, len)) } else { block };
    Ok(Plan { block, ..plan })
}
