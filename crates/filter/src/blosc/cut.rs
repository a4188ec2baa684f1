//! How a chunk is cut into blocks, and blocks into streams: as C-Blosc and C-Blosc2 do it, since what a level means depends on it.

use super::{BloscCodec, Plan, header::Stage};

/// The unit of blocks.
const UNIT: usize = 32 << 10;

/// Elements of more bytes, or blocks of fewer elements, are not split.
const MAX_SPLITS: usize = 16;
const MIN_SPLIT: usize = 128;

/// The bytes of a block, and whether whole blocks have a stream for each byte of an element.
pub(super) fn cut(plan: &Plan, len: usize) -> (usize, bool) {
    let size = usize::from(plan.size);
    let block = block_len(plan, size, len);
    (block, splits(plan, size, block))
}

/// The bytes of a block, of elements of this many bytes.
pub(crate) fn block_len(plan: &Plan, size: usize, len: usize) -> usize {
    let mut block = plan.block.unwrap_or_else(|| usual_block(plan, size, len)).min(len);
    if block > size {
        block -= block % size;
    }
    block.max(1)
}

/// The bytes of a block by level and codec.
fn usual_block(plan: &Plan, size: usize, len: usize) -> usize {
    let block = if len >= UNIT { unsplit(plan) } else { len };
    if plan.level == 0 || !splits(plan, size, if plan.extended { len } else { block }) {
        return block;
    }
    match plan.extended {
        false => (block.min(256 << 10) * size).clamp(64 << 10, 1 << 20),
        true => (stream(plan.level) * size).clamp(UNIT, 4 << 20),
    }
}

/// Blocks of codecs that compress more are larger.
fn unsplit(plan: &Plan) -> usize {
    let strong = matches!(plan.codec, BloscCodec::Lz4Hc | BloscCodec::Zlib | BloscCodec::Zstd);
    let unit = if strong { 2 * UNIT } else { UNIT };
    match plan.level {
        0 => unit / 4,
        1 => unit / 2,
        2 => unit,
        3 => unit * 2,
        4 | 5 => unit * 4,
        6..=8 => unit * 8,
        _ if strong => unit * 16,
        _ => unit * 8,
    }
}

/// The bytes of a stream of C-Blosc2.
fn stream(level: u32) -> usize {
    match level {
        0..=3 => UNIT,
        4..=6 => 2 * UNIT,
        7 => 4 * UNIT,
        8 => 8 * UNIT,
        _ => 16 * UNIT,
    }
}

fn splits(plan: &Plan, size: usize, block: usize) -> bool {
    let codec = match plan.codec {
        codec if !plan.extended => codec != BloscCodec::Zstd,
        _ if !matches!(plan.stage, Stage::Shuffle(_)) => false,
        BloscCodec::BloscLz | BloscCodec::Lz4 => true,
        BloscCodec::Zstd => plan.level <= 5,
        _ => false,
    };
    codec && size <= MAX_SPLITS && block / size >= MIN_SPLIT
}
