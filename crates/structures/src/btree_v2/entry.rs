//! One search for what is looked at first and changed then: where a record is, or where it belongs.

use std::cmp::Ordering;

use hyperslab_file::{OpenFile, Result};
use hyperslab_format::index::btree_v2::Pointer;

use super::{Order, Tree, path::Path};

/// The place of a record in a tree. [`Tree::fill`] and [`Tree::take`] search again if the root tells another number of records than it had then, so at most one
/// record may come or go in between.
pub enum Entry {
    /// The tree has the record.
    Occupied(Occupied),
    /// The tree does not have it.
    Vacant(Vacant),
}

/// Where a record is.
pub struct Occupied {
    path: Path,
    root: Pointer,
}

/// Where a record belongs.
pub struct Vacant {
    path: Option<Path>,
    root: Pointer,
}

impl Occupied {
    /// The record.
    pub fn record(&self) -> &[u8] {
        self.path.record()
    }
}

impl Tree {
    /// The place of the record for which `order` says that it is the one.
    pub fn entry(&self, file: &OpenFile, order: &mut Order<'_>) -> Result<Entry> {
        let (path, root) = (self.path(file, order)?, self.header.root);
        Ok(match path {
            Some(path) if path.is_found() => Entry::Occupied(Occupied { path, root }),
            path => Entry::Vacant(Vacant { path, root }),
        })
    }

    /// Adds a record where it belongs; `order` tells how a stored record stands to it.
    pub fn fill(&mut self, file: &OpenFile, vacant: Vacant, record: &[u8], order: &mut Order<'_>) -> Result<()> {
        self.check(record)?;
        if vacant.root != self.header.root {
            return self.insert(file, record, order);
        }
        self.add(file, vacant.path, record, order)
    }

    /// Takes out a record; `order` tells how a stored record stands to it. Nothing if the tree changed since, and does not have it any more.
    pub fn take(&mut self, file: &OpenFile, occupied: Occupied, order: &mut Order<'_>) -> Result<Option<Vec<u8>>> {
        let Occupied { mut path, root } = occupied;
        if root != self.header.root {
            return self.remove(file, order);
        }
        if path.reach_leaf(self.owned(file), &self.header)? {
            let (root, removed) = path.remove(self.owned(file), &self.header)?;
            self.set_root(file, root)?;
            return Ok(Some(removed));
        }
        // No two records are the same, so that this one needs no closer look.
        let mut known = |stored: &[u8]| if stored == path.record() { Ok(Ordering::Equal) } else { order(stored) };
        self.remove_balanced(file, &mut known)
    }
}
