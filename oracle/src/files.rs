//! Questions about files, one JSON object each; `files.py` is the other side.

use crate::program::Program;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// A question to libhdf5.
#[derive(Serialize)]
#[serde(tag = "job", rename_all = "lowercase")]
pub enum FileQuestion<'a> {
    /// The names of all files for a purpose; answered by a list.
    Recipes,
    /// Write a file and say what is in it; answered by [`Made`].
    Make {
        /// Where.
        path: &'a Path,
        /// `random`, or the name of a file for a purpose.
        recipe: &'a str,
        /// What decides all that is left open.
        seed: u64,
    },
    /// Read selections of a dataset; answered by [`Read`].
    Read {
        /// The file.
        path: &'a Path,
        /// The path of the dataset, in hexadecimal.
        dataset: &'a str,
        /// What to read.
        programs: &'a [Program],
        /// The type of the values in memory: `stored`, `i64` or `f64`.
        memory: &'a str,
    },
}

/// What is in a file.
#[derive(Debug, Deserialize)]
pub struct Made {
    /// Every link and what it leads to, in the order of their paths. `record` makes the same of what Hyperslab sees.
    pub objects: Vec<Value>,
}

/// Values by selection.
#[derive(Debug, Deserialize)]
pub struct Read {
    /// Short values in hexadecimal, a digest of long ones; nothing where libhdf5 does not read.
    pub values: Vec<Option<String>>,
}
