//! Changing a tree. A change goes down once, and changes the nodes on its way where they are, if it can; else nodes are [balanced](super::balance) first.

use hyperslab_file::{Error, Kind, OpenFile, Owned, Result};
use hyperslab_format::index::btree_v2::{BtreeV2, Pointer, Shape};

use super::{
    Entry, Order, Tree, WHAT,
    balance::Change,
    path::Path,
    rules::{FEWEST, full},
};
use crate::lazy::Lazy;

impl Tree {
    /// A new tree without records: its header. `split` and `merge` say in percent when a node is so full that it is split, and so empty that it
    /// is merged; libhdf5 has 100 and 40.
    pub fn create<'f>(
        file: impl Into<Owned<'f>>,
        kind: u8,
        record_size: usize,
        node_size: u32,
        split: u8,
        merge: u8,
    ) -> Result<Tree> {
        let file = file.into();
        let refuse = |why: String| Error::Refused(format!("{WHAT}: {why}"));
        let shape =
            u16::try_from(record_size).ok().map(|record_size| Shape { kind, node_size, record_size, split, merge });
        let root = Pointer { address: None, records: 0, below: 0 };
        let header = shape.and_then(|shape| BtreeV2::new(shape, 0, root, file.widths()));
        let header =
            header.ok_or_else(|| refuse(format!("records of {record_size} bytes do not fit nodes of {node_size}")))?;
        if !(1..=100).contains(&split) || merge == 0 || merge >= split / 2 {
            return Err(refuse(format!("nodes that are split at {split} % and merged at {merge} %")));
        }
        if full(&header, 0) < FEWEST || header.max_records(0).is_none_or(|most| most > u64::from(u16::MAX)) {
            return Err(refuse(format!("nodes of {node_size} bytes do not suit records of {record_size}")));
        }
        let address = file.allocate(Kind::Metadata, BtreeV2::size(file.widths()) as u64)?;
        let header = Lazy::new(header, &file);
        header.put(file, address)?;
        Ok(Tree { address, owner: file.owner(), header })
    }

    /// Where the header is.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Gives the header another place if the file names this one. Only for trees that one block names, which is written later.
    pub fn relocate(&mut self, file: &OpenFile) -> Result<()> {
        if file.is_fresh(self.address) {
            return Ok(());
        }
        self.address = file.shadow(self.address, BtreeV2::size(file.widths()) as u64)?;
        self.header.put(self.owned(file), self.address)
    }

    /// Adds a record; `order` tells how a stored record stands to it. An error that changes nothing if there is an equal one.
    pub fn insert(&mut self, file: &OpenFile, record: &[u8], order: &mut Order<'_>) -> Result<()> {
        match self.entry(file, order)? {
            Entry::Vacant(vacant) => self.fill(file, vacant, record, order),
            Entry::Occupied(_) => Err(Error::broken(WHAT, self.address, "it has this record already")),
        }
    }

    /// Adds a record, or puts it in the place of an equal one.
    pub fn put(&mut self, file: &OpenFile, record: &[u8], order: &mut Order<'_>) -> Result<()> {
        self.check(record)?;
        match self.path(file, order)? {
            Some(path) if path.is_found() => {
                let root = path.modify(self.owned(file), &self.header, &mut |stored| stored.copy_from_slice(record))?;
                self.set_root(file, root)
            }
            path => self.add(file, path, record, order),
        }
    }

    /// Takes out the record for which `order` says that it is the one.
    pub fn remove(&mut self, file: &OpenFile, order: &mut Order<'_>) -> Result<Option<Vec<u8>>> {
        match self.entry(file, order)? {
            Entry::Occupied(occupied) => self.take(file, occupied, order),
            Entry::Vacant(_) => Ok(None),
        }
    }

    /// As [`Tree::remove`], where nodes must be merged or evened out first.
    pub(super) fn remove_balanced(&mut self, file: &OpenFile, order: &mut Order<'_>) -> Result<Option<Vec<u8>>> {
        let Some((header, removed)) = Change::of(self, file)?.removed(order)? else { return Ok(None) };
        self.set_header(file, header)?;
        Ok(Some(removed))
    }

    /// Changes the record for which `order` says that it is the one; it must keep its place in the order. Whether there is one.
    pub fn modify(
        &mut self,
        file: &OpenFile,
        order: &mut Order<'_>,
        change: &mut dyn FnMut(&mut [u8]),
    ) -> Result<bool> {
        let path = self.path(file, order)?;
        let Some(path) = path.filter(Path::is_found) else { return Ok(false) };
        let root = path.modify(self.owned(file), &self.header, change)?;
        self.set_root(file, root)?;
        Ok(true)
    }

    /// The way to what `order` looks for.
    pub(super) fn path(&self, file: &OpenFile, order: &mut Order<'_>) -> Result<Option<Path>> {
        Path::find(self.owned(file), (&self.header, self.address), false, order)
    }

    pub(super) fn check(&self, record: &[u8]) -> Result<()> {
        if record.len() == self.record_size() {
            return Ok(());
        }
        let why = format!("a record of {} bytes where {} belong", record.len(), self.record_size());
        Err(Error::broken(WHAT, self.address, why))
    }

    /// Adds a record at the end of its way.
    pub(super) fn add(
        &mut self,
        file: &OpenFile,
        path: Option<Path>,
        record: &[u8],
        order: &mut Order<'_>,
    ) -> Result<()> {
        match path.filter(|path| path.room(&self.header) > 0) {
            Some(path) => {
                let root = path.add(self.owned(file), &self.header, |leaf, at| {
                    leaf.insert(at, record);
                    Ok(1)
                })?;
                self.set_root(file, root)
            }
            None => {
                let header = Change::of(self, file)?.inserted(record, order)?;
                self.set_header(file, header)
            }
        }
    }

    /// What the header says of the root from now on.
    pub(super) fn set_root(&mut self, file: &OpenFile, root: Pointer) -> Result<()> {
        if root == self.header.root {
            return Ok(());
        }
        let mut header = BtreeV2::clone(&self.header);
        (header.root, header.records) = (root, root.below);
        self.set_header(file, header)
    }

    pub(super) fn set_header(&mut self, file: &OpenFile, header: BtreeV2) -> Result<()> {
        self.header = Lazy::new(header, file);
        self.header.put(self.owned(file), self.address)
    }

    /// Shows every record, then gives back the space of all nodes and of the header.
    pub fn delete(self, file: &OpenFile, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut nodes = Vec::new();
        self.for_each_node(file, &mut |address| nodes.push(address), each)?;
        nodes.into_iter().try_for_each(|node| file.free(node, u64::from(self.header.node_size)))?;
        file.free(self.address, BtreeV2::size(file.widths()) as u64)
    }
}
