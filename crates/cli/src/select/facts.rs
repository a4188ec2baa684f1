//! What is worth knowing about a selection, gathered once for both kinds of output.

use crate::arguments::{Select, Version};
use crate::failure::Failure;
use clap::ValueEnum;
use hyperslab::space::{Block, Detail, LibVersion, Run, Segments, Slab, Space};
use serde::Serialize;

/// Runs are counted one by one and blocks listed in old encodings, so an answer at once needs an end.
pub(crate) const MANY: usize = 1_000_000;

/// Everything that is printed.
#[derive(Serialize)]
pub(crate) struct Facts {
    pub(crate) shape: Vec<u64>,
    pub(crate) element_size: u64,
    pub(crate) elements: u64,
    pub(crate) bounds: Option<Bounds>,
    pub(crate) regular: Option<Vec<Pattern>>,
    pub(crate) blocks: u64,
    /// Nothing if there are more than [`MANY`].
    pub(crate) runs: Option<u64>,
    pub(crate) bytes: u64,
    pub(crate) segments: Vec<Segment>,
    pub(crate) encoded: Vec<Encoded>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) block_list: Option<Vec<Bounds>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run_list: Option<Vec<Range>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hex: Option<String>,
}

/// Inclusive corners.
#[derive(Serialize)]
pub(crate) struct Bounds {
    pub(crate) low: Vec<u64>,
    pub(crate) high: Vec<u64>,
}

/// One dimension of a regular hyperslab.
#[derive(Serialize)]
pub(crate) struct Pattern {
    pub(crate) start: u64,
    pub(crate) stride: u64,
    pub(crate) count: u64,
    pub(crate) block: u64,
}

/// A pattern of bytes that repeats; distances count sub-patterns of `size` bytes.
#[derive(Serialize)]
pub(crate) struct Segment {
    pub(crate) start: u64,
    pub(crate) stride: u64,
    pub(crate) count: u64,
    pub(crate) block: u64,
    pub(crate) size: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) within: Vec<Segment>,
}

/// A range of bytes.
#[derive(Serialize)]
pub(crate) struct Range {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// Size of the encoding for a lowest version; nothing if that lists more than [`MANY`] blocks, or is impossible.
#[derive(Serialize)]
pub(crate) struct Encoded {
    pub(crate) low: String,
    pub(crate) bytes: Option<usize>,
}

pub(crate) fn gather(space: &Space, select: &Select) -> Result<Facts, Failure> {
    let all_runs = || space.runs(select.element_size);
    let runs = all_runs()?.take(MANY + 1).count();
    Ok(Facts {
        shape: select.shape.0.clone(),
        element_size: select.element_size,
        elements: space.npoints(),
        bounds: space.bounds().map(|(low, high)| Bounds { low: low.to_vec(), high: high.to_vec() }),
        regular: space.regular().map(|slabs| slabs.iter().map(Pattern::from).collect()),
        blocks: space.nblocks(),
        runs: (runs <= MANY).then_some(runs as u64),
        bytes: space.npoints().saturating_mul(select.element_size),
        segments: Segment::all(space.segments::<()>(select.element_size, Detail::Repeats)?),
        encoded: Version::value_variants().iter().map(|version| Encoded::new(space, *version)).collect(),
        block_list: select.blocks.then(|| space.blocks()).transpose()?.map(|blocks| blocks.map(Bounds::from).collect()),
        run_list: select.runs.then(all_runs).transpose()?.map(|runs| runs.map(Range::from).collect()),
        hex: select.hex.map(|version| space.encode(version.low())).transpose()?.map(|wire| hex(&wire)),
    })
}

impl Encoded {
    fn new(space: &Space, version: Version) -> Encoded {
        let compact = space.regular().is_some() && version.low() >= LibVersion::V110;
        let short = compact || space.nblocks() <= MANY as u64;
        let bytes = short.then(|| space.encode(version.low()).ok().map(|wire| wire.len())).flatten();
        Encoded { low: version.name(), bytes }
    }
}

impl Segment {
    /// The segments of one level, each with those of its sub-pattern.
    fn all(mut level: Segments<'_, ()>) -> Vec<Segment> {
        let mut found = Vec::new();
        while let Some(segment) = level.next() {
            let [start, stride, count, block, size] = segment.numbers();
            let within = level.enter(&segment).map(Segment::all).unwrap_or_default();
            found.push(Segment { start, stride, count, block, size, within });
        }
        found
    }
}

impl From<&Slab> for Pattern {
    fn from(slab: &Slab) -> Pattern {
        Pattern { start: slab.start, stride: slab.stride, count: slab.count, block: slab.block }
    }
}

impl From<Block> for Bounds {
    fn from(block: Block) -> Bounds {
        Bounds { low: block.start.to_vec(), high: block.end.to_vec() }
    }
}

impl From<Run> for Range {
    fn from(run: Run) -> Range {
        Range { offset: run.offset, bytes: run.len }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
