//! A node of a tree as the metadata cache holds it: decoded, and encoded when it is written.

use std::{cmp::Ordering, sync::Arc};

use hyperslab_base::Widths;
use hyperslab_file::{Block, Error, Extent, OpenFile, Owned, Result, Seal, Structure};
use hyperslab_format::index::btree_v2::{BtreeV2, NodeShape, Pointer};

use super::{NODE, Order};

/// A node, and what it was taken for: a node says only together with what names it how many records it has.
#[derive(Clone)]
pub(crate) struct Node {
    shape: NodeShape,
    widths: Widths,
    /// The records, one after the other.
    pub(crate) records: Vec<u8>,
    /// One more than records, or none in a leaf.
    pub(crate) children: Vec<Pointer>,
}

/// A node in the file, as the header of its tree and what names it describe it.
pub(crate) struct TreeNode<'a> {
    pub(crate) header: &'a BtreeV2,
    pub(crate) records: u64,
    pub(crate) level: u16,
}

impl Block for TreeNode<'_> {
    type Value = Node;
    const WHAT: &'static str = "B-tree node (version 2)";

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Checksum
    }

    fn extent(&self, _: &OpenFile) -> Extent {
        Extent::UpTo(self.header.node_size.into())
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Node> {
        let TreeNode { header, records, level } = *self;
        let node = header.decode_node(bytes, level, records, file.widths()).map_err(Error::at(address))?;
        Node::new(file, header, level, node.records.concat(), node.children)
    }

    fn fits(&self, node: &Node) -> bool {
        self.header.shape(self.level) == Some(node.shape) && node.count() as u64 == self.records
    }

    fn structure(node: &Arc<Node>) -> Option<Arc<dyn Structure>> {
        Some(node.clone())
    }
}

impl Structure for Node {
    fn encode(&self) -> Result<Vec<u8>> {
        Ok(self.shape.encode(&self.records, &self.children, self.widths)?)
    }

    fn footprint(&self) -> usize {
        size_of::<Node>() + self.records.capacity() + self.children.capacity() * size_of::<Pointer>()
    }
}

impl Node {
    /// A new node at `level`.
    pub(super) fn new(
        file: &OpenFile,
        header: &BtreeV2,
        level: u16,
        records: Vec<u8>,
        children: Vec<Pointer>,
    ) -> Result<Node> {
        let shape = header.shape(level).ok_or_else(|| Error::broken(NODE, 0, format!("level {level} of a tree")))?;
        Ok(Node { shape, widths: file.widths(), records, children })
    }

    /// The node at an address that is said to have so many records.
    pub(super) fn read(
        file: Owned<'_>,
        header: &BtreeV2,
        (address, records): (u64, u64),
        level: u16,
    ) -> Result<Arc<Node>> {
        file.load(&TreeNode { header, records, level }, address)
    }

    /// Changes the node at an address in place.
    pub(super) fn change<R>(
        file: Owned<'_>,
        header: &BtreeV2,
        (address, records): (u64, u64),
        level: u16,
        change: impl FnOnce(&mut Node) -> Result<R>,
    ) -> Result<R> {
        file.change(&TreeNode { header, records, level }, address, change)
    }

    /// How many records it has.
    pub(crate) fn count(&self) -> usize {
        self.records.len().checked_div(self.shape.record_size()).unwrap_or(0)
    }

    /// The records.
    pub(crate) fn records(&self) -> impl Iterator<Item = &[u8]> {
        self.records.chunks_exact(self.shape.record_size().max(1))
    }

    /// A record.
    pub(super) fn record(&self, at: usize) -> Option<&[u8]> {
        let start = at.checked_mul(self.shape.record_size())?;
        self.records.get(start..start.checked_add(self.shape.record_size())?)
    }

    /// A record to change.
    pub(super) fn record_mut(&mut self, at: usize) -> Result<&mut [u8]> {
        let start = at.saturating_mul(self.shape.record_size());
        let record = self.records.get_mut(start..start.saturating_add(self.shape.record_size()));
        record.ok_or_else(missing)
    }

    /// The first record from `low` on that is not before what is looked for, and whether it is just that.
    pub(super) fn locate_from(&self, mut low: usize, order: &mut Order<'_>) -> Result<(usize, bool)> {
        let mut high = self.count();
        while low < high {
            let middle = usize::midpoint(low, high);
            match order(self.record(middle).ok_or_else(missing)?)? {
                Ordering::Equal => return Ok((middle, true)),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        Ok((low, false))
    }

    /// Puts a record in front of another.
    pub(super) fn insert(&mut self, at: usize, record: &[u8]) {
        let start = at.saturating_mul(self.shape.record_size()).min(self.records.len());
        insert_bytes(&mut self.records, start, record);
    }

    /// Takes a record out.
    pub(super) fn take(&mut self, at: usize) -> Result<Vec<u8>> {
        let record = self.record(at).ok_or_else(missing)?.to_vec();
        let start = at * record.len();
        self.records.drain(start..start + record.len());
        Ok(record)
    }
}

/// Makes room in the middle of bytes, and copies others there.
pub(super) fn insert_bytes(bytes: &mut Vec<u8>, at: usize, others: &[u8]) {
    let end = bytes.len();
    bytes.extend_from_slice(others);
    bytes.copy_within(at..end, at + others.len());
    if let Some(place) = bytes.get_mut(at..at + others.len()) {
        place.copy_from_slice(others);
    }
}

fn missing() -> Error {
    Error::broken(NODE, 0, "a record that is not there")
}
