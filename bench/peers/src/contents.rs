//! What every file holds: datasets of four values, each with an attribute.

use anyhow::{Result, bail, ensure};
use hyperslab::{File, Node};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// So many groups with so many datasets each; without groups, all datasets are in the root group.
#[derive(Clone, Copy)]
pub(crate) struct Contents {
    pub(crate) groups: usize,
    pub(crate) datasets: usize,
}

/// The name of the attribute.
pub(crate) const SCALE: &str = "scale";

/// The values of the dataset with a number.
pub(crate) fn values(nth: usize) -> [f64; 4] {
    std::array::from_fn(|at| (4 * nth + at) as f64)
}

/// The value of its attribute.
pub(crate) fn scale(nth: usize) -> f64 {
    nth as f64 / 2.0
}

/// Its name.
pub(crate) fn dataset_name(nth: usize) -> String {
    format!("data{nth}")
}

/// The name of a group.
pub(crate) fn group_name(nth: usize) -> String {
    format!("group{nth}")
}

impl Contents {
    /// The number of each dataset in a group, counted through the file.
    pub(crate) fn numbers(self, group: usize) -> std::ops::Range<usize> {
        group * self.datasets..(group + 1) * self.datasets
    }

    /// Reads a file and holds it against what it should have.
    pub(crate) fn check(self, path: &Path) -> Result<()> {
        let file = File::open(path)?;
        let root = file.root()?;
        for group in 0..self.groups.max(1) {
            let holder = if self.groups == 0 { root.clone() } else { root.group(group_name(group))? };
            let mut missing: BTreeMap<Vec<u8>, usize> =
                self.numbers(group).map(|nth| (dataset_name(nth).into_bytes(), nth)).collect();
            for (name, node) in holder.members()? {
                let (Node::Dataset(dataset), Some(nth)) = (node?, missing.remove(&name)) else {
                    bail!("there is something else");
                };
                ensure!(
                    dataset.shape() == [4] && dataset.read::<f64>()? == values(nth),
                    "other values in dataset {nth}"
                );
                let stored: f64 = dataset.attribute(SCALE)?.read_scalar()?;
                ensure!(stored == scale(nth), "another attribute of dataset {nth}");
            }
            ensure!(missing.is_empty(), "{} datasets are missing", missing.len());
        }
        Ok(file.close()?)
    }
}

/// Where a file of this benchmark is.
pub(crate) fn path(name: &str) -> Result<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/files");
    std::fs::create_dir_all(&directory)?;
    Ok(directory.join(name))
}
