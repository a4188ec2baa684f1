//! A node of a tree as it is in the file, decoded.

use std::sync::Arc;

use hyperslab_file::{Error, OpenFile, Result};
use hyperslab_format::index::btree_v2::{BtreeV2, Pointer};

use super::NODE;

/// A node, and what it was taken for.
pub(super) struct Seen {
    shape: Shape,
    /// The records, one after the other.
    pub(super) records: Vec<u8>,
    /// One more than records, or none in a leaf.
    pub(super) children: Vec<Pointer>,
}

/// What a node says only together with what names it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape {
    kind: u8,
    record_size: usize,
    level: u16,
    records: u64,
}

impl Shape {
    fn new(header: &BtreeV2, level: u16, records: u64) -> Shape {
        Shape { kind: header.kind, record_size: usize::from(header.record_size), level, records }
    }
}

impl Seen {
    /// A node that was just encoded.
    pub(super) fn new(header: &BtreeV2, level: u16, records: Vec<u8>, children: Vec<Pointer>) -> Seen {
        let mut seen = Seen { shape: Shape::new(header, level, 0), records, children };
        seen.shape.records = seen.count() as u64;
        seen
    }

    /// The node at an address that is said to have so many records.
    pub(super) fn read(
        file: &OpenFile,
        header: &BtreeV2,
        (address, records): (u64, u64),
        level: u16,
    ) -> Result<Arc<Seen>> {
        let (size, shape) = (u64::from(header.node_size), Shape::new(header, level, records));
        let decode = |bytes: &[u8]| {
            let node = header.decode_node(bytes, level, records, file.widths()).map_err(Error::at(address))?;
            Ok(Seen { shape, records: node.records.concat(), children: node.children })
        };
        let seen = file.decoded(NODE, address, size, |bytes| decode(bytes))?;
        // What is damaged may be named in two ways.
        if seen.shape == shape { Ok(seen) } else { decode(&file.metadata_up_to(NODE, address, size)?).map(Arc::new) }
    }

    /// How many records it has.
    pub(super) fn count(&self) -> usize {
        self.records.len().checked_div(self.shape.record_size).unwrap_or(0)
    }

    /// The records.
    pub(super) fn records(&self) -> impl Iterator<Item = &[u8]> {
        self.records.chunks_exact(self.shape.record_size.max(1))
    }

    /// A record.
    pub(super) fn record(&self, at: usize) -> Option<&[u8]> {
        let start = at.checked_mul(self.shape.record_size)?;
        self.records.get(start..start.checked_add(self.shape.record_size)?)
    }
}
