//! What is asked and answered, one JSON object each; `oracle.py` is the other side.

use crate::program::Program;
use serde::{Deserialize, Serialize};

/// A question to libhdf5.
#[derive(Serialize)]
#[serde(tag = "job", rename_all = "lowercase")]
pub enum Question<'a> {
    /// Everything about one selection; answered by a [`Description`].
    Describe {
        /// The selection.
        program: &'a Program,
        /// Whether a pattern in it is unlimited, so that its elements cannot be counted.
        unlimited: bool,
        /// Our encodings as hex, to be decoded.
        encodings: Vec<Option<String>>,
        /// Element sizes whose runs are wanted.
        sizes: &'a [usize],
        /// Blocks (inclusive corners) that may meet the selection.
        boxes: &'a [(Vec<u64>, Vec<u64>)],
        /// Another selection that may have the same shape.
        twin: Option<&'a Program>,
        /// How far to move the selection.
        moved: Option<&'a [i64]>,
    },
    /// The part of the destination that matches source ∩ intersect; answered by a [`Projection`].
    Project {
        /// Where the intersecting selection lives.
        source: &'a Program,
        /// As many elements elsewhere.
        destination: &'a Program,
        /// A selection of the source's extent.
        intersect: &'a Program,
    },
}

/// An answer, or libhdf5's reason for not giving one.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Answer<T> {
    /// libhdf5 does not do this.
    Refused {
        /// Its words.
        refused: String,
    },
    /// It does.
    Given(T),
}

/// All about a selection. Lists are flat.
#[derive(Debug, Deserialize)]
pub struct Description {
    /// "none", "all", "points" or "slabs".
    pub kind: String,
    /// Number of elements.
    pub count: u64,
    /// Low and high corner of each block in turn, if it is made of hyperslabs.
    #[serde(default)]
    pub blocks: Option<Vec<u64>>,
    /// Coordinates, if it is made of points.
    #[serde(default)]
    pub points: Option<Vec<u64>>,
    /// Inclusive corners.
    pub bounds: Option<[Vec<u64>; 2]>,
    /// Start, stride, count, block.
    #[serde(default)]
    pub regular: Option<[Vec<Option<u64>>; 4]>,
    /// Hex, by lowest library version.
    pub encodings: Vec<Option<String>>,
    /// What it makes of our encodings.
    pub decoded: Vec<Verdict>,
    /// Offset and length in turn, by element size.
    pub runs: Vec<Vec<u64>>,
    /// Whether the boxes meet the selection; negative is an error.
    pub hits: Vec<i32>,
    /// Whether the twin has the same shape.
    #[serde(default)]
    pub same_as_twin: Option<bool>,
    /// Whether the moved selection has the same shape.
    #[serde(default)]
    pub same_as_moved: Option<bool>,
    /// The moved selection as (begin, end) of positions.
    #[serde(default)]
    pub moved: Option<Vec<(u64, u64)>>,
}

/// Whether libhdf5 decodes our bytes to the selection that it had itself.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Verdict {
    /// It does.
    Same(bool),
    /// It does not.
    Different(String),
}

/// A projected selection.
#[derive(Debug, Deserialize)]
pub struct Projection {
    /// "none", "all", "points" or "slabs".
    pub kind: String,
    /// Coordinates, if it is made of points.
    #[serde(default)]
    pub points: Option<Vec<u64>>,
    /// Else (begin, end) of positions.
    #[serde(default)]
    pub runs: Option<Vec<(u64, u64)>>,
}
