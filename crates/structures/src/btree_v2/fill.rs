//! Many records at once, for a tree that has none: nodes as full as they may be, from the leaves up.

use std::sync::Arc;

use hyperslab_file::{Error, Kind, OpenFile, Owned, Result};
use hyperslab_format::index::btree_v2::{BtreeV2, Pointer, Shape};

use super::{MAX_DEPTH, Tree, WHAT, node::Node, rules::full};

impl Tree {
    /// Adds records, one after the other and in rising order, to a tree without records.
    pub fn fill_empty(&mut self, file: &OpenFile, records: &[u8]) -> Result<()> {
        let (size, header): (usize, &BtreeV2) = (self.record_size(), &self.header);
        let BtreeV2 { kind, node_size, record_size, split, merge, .. } = *header;
        if !records.len().is_multiple_of(size) || !self.is_empty() {
            return Err(Error::broken(WHAT, self.address, "records that are not the first ones, or not whole"));
        }
        let shape = Shape { kind, node_size, record_size, split, merge };
        let none = Pointer { address: None, records: 0, below: 0 };
        for depth in 0..=MAX_DEPTH {
            let header = BtreeV2::new(shape, depth, none, file.widths());
            let mut header =
                header.ok_or_else(|| Error::broken(WHAT, self.address, "nodes without room for children"))?;
            if room(&header, depth) < records.len() / size {
                continue;
            }
            header.root = put(self.owned(file), &header, depth, records)?;
            header.records = header.root.below;
            return self.set_header(file, header);
        }
        Err(Error::broken(WHAT, self.address, "more records than a tree has"))
    }
}

/// How many records have room in a node and below it.
fn room(header: &BtreeV2, level: u16) -> usize {
    (1..=level).fold(full(header, 0), |below, level| {
        let own = full(header, level);
        below.saturating_mul(own + 1).saturating_add(own)
    })
}

/// Puts records into a node and nodes below it, which have as many each as far as possible.
fn put(file: Owned<'_>, header: &BtreeV2, level: u16, records: &[u8]) -> Result<Pointer> {
    let (size, count) = (usize::from(header.record_size), records.len() / usize::from(header.record_size));
    let (mut own, mut children) = (records.to_vec(), Vec::new());
    if let Some(below) = level.checked_sub(1) {
        // A record stands between two children.
        let nodes = (count + 1).div_ceil(room(header, below) + 1).max(2);
        let (each, more) = ((count + 1 - nodes) / nodes, (count + 1 - nodes) % nodes);
        let mut rest = records;
        own.clear();
        for nth in 0..nodes {
            let here = (each + usize::from(nth < more)) * size;
            let (child, behind) = rest.split_at_checked(here).unwrap_or((rest, &[]));
            children.push(put(file, header, below, child)?);
            let (between, behind) = behind.split_at_checked(size).unwrap_or((&[], behind));
            own.extend_from_slice(between);
            rest = behind;
        }
    }
    let own_count = (own.len() / size) as u64;
    let address = file.allocate(Kind::Metadata, header.node_size.into())?;
    file.put_structure(address, Arc::new(Node::new(&file, header, level, own, children)?))?;
    Ok(Pointer { address: Some(address), records: own_count, below: count as u64 })
}
