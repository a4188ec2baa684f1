//! The way from the root to a record, and changes along it that leave the shape of the tree as it is.
//!
//! Most changes add a record to a leaf that has room, take one from a leaf that has enough, or replace one. They go down once, and change nodes where
//! they are if nothing in the file names them yet; what is above them gets new counts only. A node that the file names goes to new space, and so do
//! all above it.

use std::sync::Arc;

use hyperslab_file::{Error, Owned, Result};
use hyperslab_format::index::btree_v2::{BtreeV2, Pointer};

use super::{
    NODE, Order, WHAT,
    node::Node,
    rules::{Children, Rebalance, full, sparse},
};

/// A node on the way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    address: u64,
    level: u16,
    /// How many records it has.
    pub(super) count: usize,
    /// The first of its records that is not before what is looked for.
    pub(super) at: usize,
    /// The child that comes next.
    child: usize,
}

/// The way to a record, or to the leaf where it belongs.
pub(super) struct Path {
    /// From the root on.
    pub(super) steps: Vec<Step>,
    /// Which step has the record, and that, if there is one.
    found: Option<(usize, Vec<u8>)>,
    /// The next record above the leaf, if it was asked for: what comes before it belongs to this leaf.
    pub(super) bound: Option<Vec<u8>>,
}

impl Path {
    /// The way to what `order` looks for; none in a tree without records.
    pub(super) fn find(
        file: Owned<'_>,
        (header, at): (&BtreeV2, u64),
        wants_bound: bool,
        order: &mut Order<'_>,
    ) -> Result<Option<Path>> {
        let mut path = Path { steps: Vec::with_capacity(usize::from(header.depth) + 1), found: None, bound: None };
        let mut next = header.root;
        for level in (0..=header.depth).rev() {
            let Some(address) = next.address.filter(|_| next.records > 0) else {
                return match header.records {
                    0 if header.depth == 0 => Ok(None),
                    _ => Err(Error::broken(WHAT, at, "a node without records")),
                };
            };
            let node = Node::read(file, header, (address, next.records), level)?;
            let (at, found) = node.locate_from(0, order)?;
            path.steps.push(Step { address, level, count: node.count(), at, child: at + usize::from(found) });
            if let Some(record) = node.record(at).filter(|_| found) {
                path.found = Some((path.steps.len() - 1, record.to_vec()));
                return Ok(Some(path));
            }
            if wants_bound
                && level > 0
                && let Some(record) = node.record(at)
            {
                path.bound = Some(record.to_vec());
            }
            if level > 0 {
                next = node.children.get(at).copied().ok_or_else(|| no_child(address))?;
            }
        }
        Ok(Some(path))
    }

    /// Whether the record is there.
    pub(super) fn is_found(&self) -> bool {
        self.found.is_some()
    }

    /// The record that was found; none has no bytes.
    pub(super) fn record(&self) -> &[u8] {
        self.found.as_ref().map_or(&[], |(_, record)| record)
    }

    /// Whether it leads to a leaf, and not to a record above.
    pub(super) fn ends_in_leaf(&self) -> bool {
        self.steps.last().is_some_and(|step| step.level == 0)
    }

    /// How many records its leaf can take before a node on the way must be split or evened out first.
    pub(super) fn room(&self, header: &BtreeV2) -> usize {
        let have_room = self.steps.iter().all(|step| step.count < full(header, step.level));
        let leaf = self.steps.last().filter(|step| have_room && step.level == 0);
        leaf.map_or(0, |leaf| full(header, 0).saturating_sub(leaf.count))
    }

    /// Goes on to the leaf that loses a record when the one that was found is removed: its own, or the first behind it. Whether no node on the
    /// way must be merged or evened out first.
    pub(super) fn reach_leaf(&mut self, file: Owned<'_>, header: &BtreeV2) -> Result<bool> {
        while let Some(&last) = self.steps.last()
            && last.level > 0
        {
            let above = Node::read(file, header, (last.address, last.count as u64), last.level)?;
            let pointer = above.children.get(last.child).copied().ok_or_else(|| no_child(last.address))?;
            let Some(address) = pointer.address else { return Ok(false) };
            let count = usize::try_from(pointer.records).unwrap_or(usize::MAX);
            self.steps.push(Step { address, level: last.level - 1, count, at: 0, child: 0 });
        }
        self.keeps_shape(file, header)
    }

    /// Whether no node on the way must be merged or evened out before the leaf loses a record.
    fn keeps_shape(&self, file: Owned<'_>, header: &BtreeV2) -> Result<bool> {
        let below = self.steps.iter().skip(1);
        let is_sparse = |step: &Step| step.count <= sparse(header, step.level);
        let in_doubt = |(above, below): &(&Step, &Step)| above.count == 1 || is_sparse(below);
        for (nth, (above, step)) in self.steps.iter().zip(below).enumerate().filter(|(_, pair)| in_doubt(pair)) {
            let node = Node::read(file, header, (above.address, above.count as u64), above.level)?;
            let records = |at: usize| node.children.get(at).and_then(|child| usize::try_from(child.records).ok());
            let children = Children { level: step.level, len: node.children.len(), records: &records };
            let replaced = nth == 0 && children.replace_root(header);
            if replaced || !matches!(children.before_loss(header, above.child, true), Rebalance::Nothing) {
                return Ok(false);
            }
        }
        Ok(self.steps.last().is_some_and(|leaf| leaf.count > 1))
    }

    /// Adds to the records of the leaf; `change` says how many. Gives what the header says of the root then.
    pub(super) fn add(
        &self,
        file: Owned<'_>,
        header: &BtreeV2,
        change: impl FnOnce(&mut Node, usize) -> Result<usize>,
    ) -> Result<Pointer> {
        let (leaf, above) = self.split()?;
        let (address, added) = leaf.change(file, header, |node| change(node, leaf.at))?;
        lift(file, header, above, (address, leaf.count + added), added as i64, None)
    }

    /// Takes out the record that was found, on the way that [`Path::reach_leaf`] went.
    pub(super) fn remove(&self, file: Owned<'_>, header: &BtreeV2) -> Result<(Pointer, Vec<u8>)> {
        let (leaf, above) = self.split()?;
        let (address, mut record) = leaf.change(file, header, |node| node.take(leaf.at))?;
        let found = self.found.as_ref().map(|(found, _)| *found);
        let swap = found.filter(|&found| found < above.len()).map(|found| (found, &mut record));
        let root = lift(file, header, above, (address, leaf.count - 1), -1, swap)?;
        Ok((root, record))
    }

    /// Changes the record that was found.
    pub(super) fn modify(
        &self,
        file: Owned<'_>,
        header: &BtreeV2,
        change: &mut dyn FnMut(&mut [u8]),
    ) -> Result<Pointer> {
        let (last, above) = self.split()?;
        let (address, ()) = last.change(file, header, |node| {
            change(node.record_mut(last.at)?);
            Ok(())
        })?;
        // What names it has not changed, if it stays where it is.
        if address == last.address {
            Ok(header.root)
        } else {
            lift(file, header, above, (address, last.count), 0, None)
        }
    }

    /// The last step, and those above it.
    fn split(&self) -> Result<(&Step, &[Step])> {
        self.steps.split_last().ok_or_else(|| Error::broken(WHAT, 0, "a way without nodes"))
    }
}

/// Tells the nodes above one that changed where it is now, how many records it has, and how many `more` are below. `swap` is a step whose record changes
/// places with another. Gives what the header says of the root then.
fn lift(
    file: Owned<'_>,
    header: &BtreeV2,
    above: &[Step],
    (mut address, mut count): (u64, usize),
    more: i64,
    mut swap: Option<(usize, &mut Vec<u8>)>,
) -> Result<Pointer> {
    for (nth, step) in above.iter().enumerate().rev() {
        let records = count as u64;
        let (moved, ()) = step.change(file, header, |node| {
            let child = node.children.get_mut(step.child).ok_or_else(|| no_child(step.address))?;
            let below = if step.level == 1 { records } else { child.below.saturating_add_signed(more) };
            *child = Pointer { address: Some(address), records, below };
            if let Some((_, record)) = swap.take_if(|(found, _)| *found == nth) {
                node.record_mut(step.at)?.swap_with_slice(record);
            }
            Ok(())
        })?;
        (address, count) = (moved, step.count);
    }
    Ok(Pointer { address: Some(address), records: count as u64, below: header.root.below.saturating_add_signed(more) })
}

impl Step {
    /// Changes the node where it is if nothing in the file names it yet; else in new space. Gives where it is now.
    fn change<R>(
        &self,
        file: Owned<'_>,
        header: &BtreeV2,
        change: impl FnOnce(&mut Node) -> Result<R>,
    ) -> Result<(u64, R)> {
        let place = (self.address, self.count as u64);
        if file.is_fresh(self.address) {
            return Ok((self.address, Node::change(file, header, place, self.level, change)?));
        }
        let mut node = (*Node::read(file, header, place, self.level)?).clone();
        let changed = change(&mut node)?;
        let address = file.shadow(self.address, header.node_size.into())?;
        file.put_structure(address, Arc::new(node))?;
        Ok((address, changed))
    }
}

fn no_child(address: u64) -> Error {
    Error::broken(NODE, address, "a child that is not there")
}
