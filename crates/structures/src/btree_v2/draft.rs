//! A copy of a node while records move between nodes, with those below it that change too.

use std::cmp::Ordering;

use hyperslab_file::{Error, Result};
use hyperslab_format::index::btree_v2::Pointer;

use super::{NODE, Order, node::insert_bytes};

/// A node that is being changed. All drafts of a tree are stored at the end.
pub(super) struct Draft {
    /// Where it was; none for a new one.
    pub(super) address: Option<u64>,
    /// The records, one after the other.
    records: Vec<u8>,
    record_size: usize,
    /// One more than records, or none in a leaf.
    pub(super) children: Vec<Child>,
}

/// A child: as the file has it, and in memory if it changes.
pub(super) struct Child {
    pub(super) pointer: Pointer,
    pub(super) node: Option<Box<Draft>>,
}

impl Child {
    /// A child that does not change.
    pub(super) fn stored(pointer: Pointer) -> Child {
        Child { pointer, node: None }
    }

    /// A child that was changed or made.
    pub(super) fn changed(node: Draft) -> Child {
        let pointer = Pointer { address: node.address, records: 0, below: 0 };
        Child { pointer, node: Some(Box::new(node)) }
    }

    /// How many records it has.
    pub(super) fn count(&self) -> usize {
        match &self.node {
            Some(node) => node.count(),
            None => usize::try_from(self.pointer.records).unwrap_or(usize::MAX),
        }
    }
}

impl Draft {
    /// A node of records of `record_size` bytes.
    pub(super) fn new(address: Option<u64>, record_size: usize, records: Vec<u8>, children: Vec<Child>) -> Draft {
        Draft { address, records, record_size, children }
    }

    /// How many records it has.
    pub(super) fn count(&self) -> usize {
        self.records.len().checked_div(self.record_size).unwrap_or(0)
    }

    /// The records, which it is then without.
    pub(super) fn take_records(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.records)
    }

    /// How many records a child has.
    pub(super) fn count_below(&self, child: usize) -> Option<usize> {
        self.children.get(child).map(Child::count)
    }

    /// The first record that is not before what is looked for, and whether it is just that.
    pub(super) fn locate(&self, order: &mut Order<'_>) -> Result<(usize, bool)> {
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let middle = usize::midpoint(low, high);
            match order(self.record(middle)?)? {
                Ordering::Equal => return Ok((middle, true)),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        Ok((low, false))
    }

    fn missing(&self) -> Error {
        missing(self.address)
    }

    fn record(&self, at: usize) -> Result<&[u8]> {
        let start = at.saturating_mul(self.record_size);
        self.records.get(start..start.saturating_add(self.record_size)).ok_or_else(|| self.missing())
    }

    /// A record to change.
    pub(super) fn record_mut(&mut self, at: usize) -> Result<&mut [u8]> {
        let (start, address) = (at.saturating_mul(self.record_size), self.address);
        self.records.get_mut(start..start.saturating_add(self.record_size)).ok_or_else(|| missing(address))
    }

    /// Puts a record in front of another.
    pub(super) fn insert(&mut self, at: usize, record: &[u8]) {
        let start = at.saturating_mul(self.record_size).min(self.records.len());
        insert_bytes(&mut self.records, start, record);
    }

    /// Takes a record out.
    pub(super) fn take(&mut self, at: usize) -> Result<Vec<u8>> {
        let record = self.record(at)?.to_vec();
        let start = at * self.record_size;
        self.records.drain(start..start + self.record_size);
        Ok(record)
    }

    /// Deals the records of `old` children from `first` on, which are all in memory, to children with these `counts` of records. The
    /// records between them change places with those of the node. Gives the addresses that are no longer needed.
    pub(super) fn deal(&mut self, first: usize, old: usize, counts: &[usize]) -> Result<Vec<u64>> {
        let size = self.record_size;
        let kept: usize = counts.iter().map(|count| (count + 1) * size).sum();
        let (mut records, mut below, mut addresses) = (Vec::with_capacity(kept), Vec::new(), Vec::with_capacity(old));
        let between: Vec<u8> = {
            let start = (first * size).min(self.records.len());
            let end = (start + old.saturating_sub(1) * size).min(self.records.len());
            self.records.drain(start..end).collect()
        };
        let mut between = between.chunks_exact(size.max(1));
        if first + old > self.children.len() {
            return Err(self.missing());
        }
        let address = self.address;
        for child in self.children.drain(first..first + old) {
            let Some(node) = child.node else { return Err(missing(address)) };
            records.extend_from_slice(&node.records);
            records.extend_from_slice(between.next().unwrap_or_default());
            below.extend(node.children);
            addresses.extend(node.address);
        }
        let (mut records, mut below, mut addresses) = (records.as_slice(), below.into_iter(), addresses.into_iter());
        let is_leaf = below.len() == 0;
        let (mut dealt, mut ups) = (Vec::with_capacity(counts.len()), Vec::new());
        for (nth, &count) in counts.iter().enumerate() {
            let (own, rest) = records.split_at_checked(count * size).ok_or_else(|| self.missing())?;
            let children = below.by_ref().take(if is_leaf { 0 } else { count + 1 }).collect();
            dealt.push(Child::changed(Draft::new(addresses.next(), size, own.to_vec(), children)));
            records = rest;
            if nth + 1 < counts.len() {
                let (up, rest) = records.split_at_checked(size).ok_or_else(|| self.missing())?;
                ups.extend_from_slice(up);
                records = rest;
            }
        }
        let start = (first * size).min(self.records.len());
        insert_bytes(&mut self.records, start, &ups);
        self.children.splice(first..first, dealt);
        Ok(addresses.collect())
    }
}

fn missing(node: Option<u64>) -> Error {
    Error::broken(NODE, node.unwrap_or(0), "a record that is not there")
}
