//! Changes that split, merge and even out nodes: those on the way are copied and changed in memory; what is in memory is stored at the end, the header
//! last.
//!
//! Nodes that nothing in the file names yet stay where they are, others go to new space. Nodes are split, merged and evened out as libhdf5
//! does it, so that it can go on with the tree: one that is about to be entered is first made so that it can take or lose a record.

use std::sync::Arc;

use hyperslab_file::{Error, Kind, OpenFile, Owned, Result};
use hyperslab_format::index::btree_v2::{BtreeV2, Pointer};

use super::{
    Order, Tree, WHAT,
    draft::{Child, Draft},
    node::Node,
    rules::{self, Children, FEWEST, Rebalance},
};

/// How often records are moved between neighbours before a node is split or merged.
const TRIES: u32 = 2;
/// One change of a tree.
pub(super) struct Change<'a> {
    file: Owned<'a>,
    address: u64,
    header: BtreeV2,
    root: Option<Draft>,
    /// Nodes that are no longer needed.
    freed: Vec<u64>,
}

impl<'a> Change<'a> {
    pub(super) fn of(tree: &Tree, file: &'a OpenFile) -> Result<Change<'a>> {
        let file = tree.owned(file);
        let mut change =
            Change { file, address: tree.address, header: BtreeV2::clone(&tree.header), root: None, freed: Vec::new() };
        change.root = Some(change.read(tree.header.root, tree.header.depth)?);
        Ok(change)
    }

    /// Adds a record that is not there yet; gives the header.
    pub(super) fn inserted(mut self, record: &[u8], order: &mut Order<'_>) -> Result<BtreeV2> {
        self.grow()?;
        let mut root = self.take_root();
        self.insert(&mut root, self.header.depth, record, order)?;
        self.store(root)
    }

    /// Takes out a record; gives the header, and the record if it was there.
    pub(super) fn removed(mut self, order: &mut Order<'_>) -> Result<Option<(BtreeV2, Vec<u8>)>> {
        self.shrink()?;
        let mut root = self.take_root();
        match self.remove(&mut root, self.header.depth, Some(order))? {
            Some(removed) => Ok(Some((self.store(root)?, removed))),
            None => Ok(None),
        }
    }

    fn take_root(&mut self) -> Draft {
        self.root.take().unwrap_or_else(|| self.node(None, Vec::new(), Vec::new()))
    }

    fn node(&self, address: Option<u64>, records: Vec<u8>, children: Vec<Child>) -> Draft {
        Draft::new(address, usize::from(self.header.record_size), records, children)
    }

    fn broken(&self, why: impl Into<String>) -> Error {
        Error::broken(WHAT, self.address, why)
    }

    fn read(&self, pointer: Pointer, level: u16) -> Result<Draft> {
        let Some(address) = pointer.address.filter(|_| pointer.records > 0) else {
            // Only a tree without records has a node without any.
            return match self.header.records {
                0 if self.header.depth == 0 => Ok(self.node(None, Vec::new(), Vec::new())),
                _ => Err(self.broken("a node without records")),
            };
        };
        let node = Node::read(self.file, &self.header, (address, pointer.records), level)?;
        let children = node.children.iter().copied().map(Child::stored).collect();
        Ok(self.node(Some(address), node.records.clone(), children))
    }

    fn full(&self, level: u16) -> usize {
        rules::full(&self.header, level)
    }

    /// Reads children of a node that are not in memory.
    fn load(&self, node: &mut Draft, first: usize, count: usize, level: u16) -> Result<()> {
        for child in node.children.iter_mut().skip(first).take(count) {
            if child.node.is_none() {
                child.node = Some(Box::new(self.read(child.pointer, level)?));
            }
        }
        Ok(())
    }

    /// Deals the records of children at `level` anew.
    fn deal(&mut self, node: &mut Draft, first: usize, old: usize, counts: &[usize], level: u16) -> Result<()> {
        self.load(node, first, old, level)?;
        let freed = node.deal(first, old, counts)?;
        self.freed.extend(freed);
        Ok(())
    }

    /// Evens out a child at `level` and its neighbours.
    fn even(&mut self, node: &mut Draft, child: usize, level: u16) -> Result<()> {
        let last = node.children.len().saturating_sub(1);
        let counts = |at: usize| node.count_below(at).unwrap_or(0);
        if child > 0 && child < last {
            let total = counts(child - 1) + counts(child) + counts(child + 1);
            let middle = total / 3;
            let left = (total - middle) / 2;
            return self.deal(node, child - 1, 3, &[left, middle, total - middle - left], level);
        }
        let first = child.min(last.saturating_sub(1));
        let (left, right) = (counts(first), counts(first + 1));
        let (half, rest) = ((left + right) / 2, (left + right).div_ceil(2));
        // The odd one goes to the side that had fewer.
        let dealt = if left < right { [rest, half] } else { [half, rest] };
        self.deal(node, first, 2, &dealt, level)
    }

    /// Splits a child at `level` into two.
    fn split(&mut self, node: &mut Draft, child: usize, level: u16) -> Result<()> {
        let count = node.count_below(child).unwrap_or(0);
        let most = self.header.max_records(level + 1).unwrap_or(0);
        if count < FEWEST || node.count() as u64 >= most {
            return Err(self.broken("a node that cannot be split"));
        }
        self.deal(node, child, 1, &[count / 2, count - 1 - count / 2], level)
    }

    /// Makes room in the root: a full one gets a level above it.
    fn grow(&mut self) -> Result<()> {
        let (root, level) = (self.take_root(), self.header.depth);
        if root.count() < self.full(level) {
            self.root = Some(root);
            return Ok(());
        }
        self.header = self
            .header
            .of_depth(level + 1, self.file.widths())
            .ok_or_else(|| self.broken("it cannot get another level"))?;
        if self.full(level + 1) < FEWEST {
            return Err(self.broken("its nodes are too small for another level"));
        }
        let mut above = self.node(None, Vec::new(), vec![Child::changed(root)]);
        self.split(&mut above, 0, level)?;
        self.root = Some(above);
        Ok(())
    }

    /// Takes a level away if all below the root has room in one node.
    fn shrink(&mut self) -> Result<()> {
        loop {
            let mut root = self.take_root();
            let Some(level) = self.header.depth.checked_sub(1) else {
                self.root = Some(root);
                return Ok(());
            };
            let children = Children { level, len: root.children.len(), records: &|at| root.count_below(at) };
            if !children.replace_root(&self.header) {
                self.root = Some(root);
                return Ok(());
            }
            let total = root.children.iter().map(Child::count).sum::<usize>();
            self.deal(&mut root, 0, 2, &[total + 1], level)?;
            self.freed.extend(root.address);
            self.root = root.children.pop().and_then(|child| child.node).map(|node| *node);
            self.header =
                self.header.of_depth(level, self.file.widths()).ok_or_else(|| self.broken("it cannot lose a level"))?;
        }
    }

    fn insert(&mut self, node: &mut Draft, level: u16, record: &[u8], order: &mut Order<'_>) -> Result<()> {
        let mut tries = TRIES;
        loop {
            let at = match node.locate(order)? {
                (_, true) => return Err(self.broken("it has this record already")),
                (at, false) => at,
            };
            let Some(below) = level.checked_sub(1) else {
                node.insert(at, record);
                return Ok(());
            };
            let full = self.full(below);
            if node.count_below(at).is_some_and(|count| count < full) {
                self.load(node, at, 1, below)?;
                return match node.children.get_mut(at).and_then(|child| child.node.as_mut()) {
                    Some(child) => self.insert(child, below, record, order),
                    None => Err(self.broken("a child that is not there")),
                };
            }
            let room = |at: Option<usize>| at.and_then(|at| node.count_below(at)).is_some_and(|count| count < full);
            if tries > 0 && (room(at.checked_sub(1)) || room(Some(at + 1))) {
                self.even(node, at, below)?;
            } else {
                self.split(node, at, below)?;
            }
            tries = tries.saturating_sub(1);
        }
    }

    /// Removes a record from a node or below it: the first one if there is no `order`.
    fn remove(&mut self, node: &mut Draft, level: u16, mut order: Option<&mut Order<'_>>) -> Result<Option<Vec<u8>>> {
        let mut tries = TRIES;
        loop {
            let (at, found) = match &mut order {
                Some(order) => node.locate(*order)?,
                None => (0, level == 0),
            };
            let Some(below) = level.checked_sub(1) else {
                return if found { node.take(at).map(Some) } else { Ok(None) };
            };
            // What takes the place of a record of this node is the first one behind it.
            let child = at + usize::from(found);
            let children = Children { level: below, len: node.children.len(), records: &|at| node.count_below(at) };
            let need = children.before_loss(&self.header, child, tries > 0);
            tries = tries.saturating_sub(1);
            match need {
                Rebalance::Nothing => {}
                Rebalance::Even => {
                    self.even(node, child, below)?;
                    continue;
                }
                Rebalance::Merge { first, old, counts } => {
                    self.deal(node, first, old, &counts, below)?;
                    continue;
                }
            }
            self.load(node, child, 1, below)?;
            let Some(next) = node.children.get_mut(child).and_then(|child| child.node.as_mut()) else {
                return Err(self.broken("a child that is not there"));
            };
            if next.count() < 2 && below == 0 {
                return Err(self.broken("a node that cannot lose its last record"));
            }
            if !found {
                return self.remove(next, below, order);
            }
            let after = self.remove(next, below, None)?.ok_or_else(|| self.broken("a node without records"))?;
            let place = node.record_mut(at)?;
            let removed = place.to_vec();
            place.copy_from_slice(&after);
            return Ok(Some(removed));
        }
    }

    /// Stores what is in memory; gives the header.
    fn store(mut self, mut root: Draft) -> Result<BtreeV2> {
        let size = u64::from(self.header.node_size);
        for address in std::mem::take(&mut self.freed) {
            self.file.free(address, size)?;
        }
        self.header.root = if root.count() > 0 {
            self.store_node(&mut root, self.header.depth)?
        } else {
            root.address.map_or(Ok(()), |address| self.file.free(address, size))?;
            Pointer { address: None, records: 0, below: 0 }
        };
        self.header.records = self.header.root.below;
        Ok(self.header)
    }

    fn store_node(&self, node: &mut Draft, level: u16) -> Result<Pointer> {
        let records = node.count() as u64;
        let mut below = records;
        for child in &mut node.children {
            if let Some(node) = &mut child.node {
                child.pointer = self.store_node(node, level.saturating_sub(1))?;
            }
            below = below.saturating_add(child.pointer.below);
        }
        let children = node.children.iter().map(|child| child.pointer).collect();
        let stored = Node::new(&self.file, &self.header, level, node.take_records(), children)?;
        let size = u64::from(self.header.node_size);
        let address = match node.address {
            Some(address) => self.file.shadow(address, size)?,
            None => self.file.allocate(Kind::Metadata, size)?,
        };
        self.file.put_structure(address, Arc::new(stored))?;
        Ok(Pointer { address: Some(address), records, below })
    }
}
