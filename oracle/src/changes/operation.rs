//! What a program does, step by step; the same as `changes.py` reads.

use super::Kind;
use serde::Serialize;

/// One step of a program. Paths are absolute.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub enum Operation {
    /// Makes a group.
    Group {
        /// Where.
        path: String,
        /// Whether the order of links is kept.
        ordered: bool,
    },
    /// Makes a dataset.
    Dataset(NewDataset),
    /// Makes a datatype an object.
    Commit {
        /// Where.
        path: String,
        /// The datatype.
        kind: Kind,
    },
    /// Writes some values.
    Write {
        /// The dataset.
        path: String,
        /// Where.
        picked: Picked,
        /// What decides the values.
        seed: u64,
        /// What references refer to.
        targets: Vec<String>,
    },
    /// Makes a dataset larger or smaller.
    Resize {
        /// The dataset.
        path: String,
        /// The new size.
        shape: Vec<u64>,
    },
    /// Gives an object an attribute, instead of one that may have this name.
    Attribute {
        /// The object.
        path: String,
        /// The name.
        name: String,
        /// The type of its values.
        kind: Kind,
        /// A committed datatype of this kind, to be used instead of one of its own.
        committed: Option<String>,
        /// How many.
        shape: Vec<u64>,
        /// What decides the values.
        seed: u64,
        /// What references refer to.
        targets: Vec<String>,
    },
    /// Takes an attribute away.
    Unset {
        /// The object.
        path: String,
        /// The name.
        name: String,
    },
    /// Gives an attribute another name.
    Call {
        /// The object.
        path: String,
        /// The old name.
        from: String,
        /// The new name.
        to: String,
    },
    /// Another name for an object.
    Hard {
        /// The name.
        path: String,
        /// The object.
        target: String,
    },
    /// A link to a path.
    Soft {
        /// The link.
        path: String,
        /// Where it leads.
        target: String,
    },
    /// A link to a path in another file.
    External {
        /// The link.
        path: String,
        /// The file.
        file: String,
        /// Where it leads.
        target: String,
    },
    /// Gives a link another place.
    Move {
        /// The old one.
        from: String,
        /// The new one.
        to: String,
    },
    /// Copies an object with everything below it.
    Copy {
        /// The object.
        from: String,
        /// Where the copy goes.
        to: String,
    },
    /// Takes a link away.
    Delete {
        /// The link.
        path: String,
    },
    /// Writes everything to the file.
    Flush,
}

/// A dataset to make.
#[derive(Clone, Debug, Serialize)]
pub struct NewDataset {
    /// Where.
    pub path: String,
    /// The type of its values.
    pub kind: Kind,
    /// A committed datatype of this kind, to be used instead of one of its own.
    pub committed: Option<String>,
    /// Its size; a scalar without dimensions.
    pub shape: Vec<u64>,
    /// How far it may grow.
    pub max: Option<Vec<Option<u64>>>,
    /// How values are stored.
    pub storage: Storage,
    /// The filters that chunks go through.
    pub filters: Vec<&'static str>,
    /// Whether libhdf5 leaves the filters out for chunks that reach over the edge.
    pub plain: bool,
    /// What elements are that were never written, as a number; the default without.
    pub fill: Option<u64>,
    /// Whether space is taken at once.
    pub early: bool,
    /// What decides the first values, if it has any.
    pub seed: Option<u64>,
    /// What references refer to.
    pub targets: Vec<String>,
}

/// How a file is made.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Setup {
    /// Bytes before it that are not HDF5's.
    pub user_block: u64,
    /// Whether the root group keeps the order of links.
    pub ordered: bool,
    /// Whether addresses and lengths take four bytes; only libhdf5 makes such files.
    pub narrow: bool,
    /// Whether trees of the first version have few entries in a node; only libhdf5 makes such files.
    pub small_nodes: bool,
    /// How libhdf5 manages space in the files that it makes, and whether it keeps that in the file.
    pub space: Option<(&'static str, bool)>,
}

/// How values are stored.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Storage {
    /// In the header.
    Compact,
    /// In one piece.
    Contiguous,
    /// In chunks of this shape.
    Chunks(Vec<u64>),
}

/// Where values are written: so many, from here, every so many, in each dimension; or in some rows of the first.
#[derive(Clone, Debug, Serialize)]
pub struct Picked {
    /// Start, count and step of each dimension.
    pub slabs: Vec<(u64, u64, u64)>,
    /// Instead of those of the first dimension; in order.
    pub rows: Option<Vec<u64>>,
}

impl Picked {
    /// The indices in each dimension.
    pub fn indices(&self) -> Vec<Vec<u64>> {
        let mut indices: Vec<Vec<u64>> =
            self.slabs.iter().map(|&(start, count, step)| (0..count).map(|nth| start + nth * step).collect()).collect();
        if let (Some(first), Some(rows)) = (indices.first_mut(), &self.rows) {
            first.clone_from(rows);
        }
        indices
    }
}

/// What a number is as a reference: the nth of some objects, or nothing.
pub(super) fn referred<T>(targets: &[T], number: u64) -> Option<&T> {
    let number = number as usize % (targets.len() + 1);
    targets.get(number.checked_sub(1)?)
}

/// Values as small numbers, of which every kind makes something else.
pub fn numbers(seed: u64, count: u64) -> Vec<u64> {
    (0..count).map(|nth| (((seed + nth) * 2_654_435_761 % (1 << 32)) >> 16) % 101).collect()
}
