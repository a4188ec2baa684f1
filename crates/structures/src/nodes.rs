//! A limit for walks over trees.

use hyperslab_file::{Error, OpenFile, Result};

/// How many nodes a walk may still visit. Nodes do not overlap, so a tree has no more of them than the file has room for, however
/// they point at each other. Some are found twice in a tree whose writer was killed between the two halves of a split.
pub(crate) struct Nodes {
    what: &'static str,
    left: u64,
}

impl Nodes {
    /// For nodes of `size` bytes; the last of a file may be cut.
    pub(crate) fn of(file: &OpenFile, what: &'static str, size: u64) -> Nodes {
        Nodes { what, left: (file.end() / size.max(1)).saturating_mul(4) + 1 }
    }

    /// Counts one.
    pub(crate) fn visit(&mut self, address: u64) -> Result<()> {
        let more = || Error::broken(self.what, address, "the tree has more nodes than the file has room for");
        self.left = self.left.checked_sub(1).ok_or_else(more)?;
        Ok(())
    }
}
