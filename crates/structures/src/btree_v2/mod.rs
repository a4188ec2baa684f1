//! The second kind of B-tree: records in order, of whatever kind.

mod balance;
mod bulk;
mod change;
mod draft;
mod entry;
mod fill;
mod node;
mod path;
mod rules;

use std::{cmp::Ordering, sync::Arc};

use hyperslab_base::Widths;
use hyperslab_file::{Block, Error, Extent, OpenFile, Owned, Owner, Result, Seal, Structure};
use hyperslab_format::index::btree_v2::{BtreeV2, Pointer};

use self::node::Node;
use crate::{
    lazy::{Encode, Lazy},
    nodes::Nodes,
};
pub use entry::{Entry, Occupied, Vacant};
pub(crate) use node::TreeNode;

const WHAT: &str = "B-tree (version 2)";
const NODE: &str = TreeNode::WHAT;
/// Deeper than any tree with a number of records that can be counted.
const MAX_DEPTH: u16 = 64;
/// Nodes may have so many bytes in any file; larger ones no more than the file, because a change of a tree allocates whole nodes.
const ANY_NODE: u64 = 1 << 20;

/// How a record stands to what is looked for.
type Order<'a> = dyn FnMut(&[u8]) -> Result<Ordering> + 'a;

/// A tree whose header was read.
#[derive(Clone, Debug)]
pub struct Tree {
    address: u64,
    /// The object that it belongs to.
    owner: Owner,
    header: Arc<Lazy<BtreeV2>>,
}

/// What a walk over all records needs.
struct Walk<'a> {
    /// How many records may still come.
    budget: u64,
    visit: &'a mut dyn FnMut(u64) -> Result<()>,
    each: &'a mut dyn FnMut(&[u8]) -> Result<()>,
}

/// The header of a tree in the file.
pub(crate) struct TreeHeader;

impl Block for TreeHeader {
    type Value = Lazy<BtreeV2>;
    const WHAT: &'static str = WHAT;

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Checksum
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        Extent::Exact(BtreeV2::size(file.widths()) as u64)
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Lazy<BtreeV2>> {
        let header = BtreeV2::decode(bytes, file.widths()).map_err(Error::at(address))?;
        Ok(Lazy::of(header, file.widths()))
    }

    fn structure(value: &Arc<Lazy<BtreeV2>>) -> Option<Arc<dyn Structure>> {
        Some(value.clone())
    }
}

impl Encode for BtreeV2 {
    fn encode(&self, widths: Widths) -> Result<Vec<u8>> {
        Ok(self.encode(widths)?)
    }

    fn fits(&self) -> bool {
        self.root.records <= u64::from(u16::MAX)
    }
}

impl Tree {
    /// Reads the header and checks what the records are.
    pub fn open<'f>(file: impl Into<Owned<'f>>, address: u64, kinds: &[u8]) -> Result<Tree> {
        let file = file.into();
        let header = file.load(&TreeHeader, address)?;
        if !kinds.contains(&header.kind) {
            return Err(Error::broken(WHAT, address, format!("records of type {} do not belong here", header.kind)));
        }
        if header.depth > MAX_DEPTH {
            return Err(Error::broken(WHAT, address, format!("{} levels", header.depth)));
        }
        let node = u64::from(header.node_size);
        if node > ANY_NODE && node > file.end() {
            return Err(Error::broken(WHAT, address, format!("nodes of {node} bytes, more than the file has")));
        }
        Ok(Tree { address, owner: file.owner(), header })
    }

    /// The file as the tree's object sees it.
    fn owned<'f>(&self, file: &'f OpenFile) -> Owned<'f> {
        file.owned(self.owner)
    }

    /// What the records are.
    pub fn kind(&self) -> u8 {
        self.header.kind
    }

    /// How many bytes a record has.
    pub fn record_size(&self) -> usize {
        usize::from(self.header.record_size)
    }

    /// How many records it has.
    pub fn len(&self) -> u64 {
        self.header.records
    }

    /// Whether it has no records.
    pub fn is_empty(&self) -> bool {
        self.header.records == 0
    }

    /// Calls `each` for every record, in order.
    pub fn for_each(&self, file: &OpenFile, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.for_each_node(file, &mut |_| (), each)
    }

    /// The same, and the address of every node.
    fn for_each_node(
        &self,
        file: &OpenFile,
        node: &mut dyn FnMut(u64),
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut nodes = Nodes::of(file, WHAT, u64::from(self.header.node_size));
        let mut walk = Walk {
            budget: self.header.records,
            visit: &mut |address| {
                node(address);
                nodes.visit(address)
            },
            each,
        };
        self.walk(file, self.header.root, self.header.depth, &mut walk)
    }

    fn walk(&self, file: &OpenFile, node: Pointer, level: u16, walk: &mut Walk<'_>) -> Result<()> {
        let Some(address) = self.address_of(node) else { return Ok(()) };
        (walk.visit)(address)?;
        let node = Node::read(self.owned(file), &self.header, (address, node.records), level)?;
        // A tree cannot show more records than its header counts.
        walk.budget = walk
            .budget
            .checked_sub(node.count() as u64)
            .ok_or_else(|| Error::broken(WHAT, self.address, "more records than the header counts"))?;
        let mut children = node.children.iter();
        for record in node.records() {
            if let Some(&child) = children.next() {
                self.walk(file, child, level - 1, walk)?;
            }
            (walk.each)(record)?;
        }
        children.try_for_each(|&child| self.walk(file, child, level - 1, walk))
    }

    /// The record for which `order` says that it is the one; `order` tells how a record stands to what is looked for.
    pub fn find<T>(
        &self,
        file: &OpenFile,
        order: &mut Order<'_>,
        take: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut at = self.header.root;
        for level in (0..=self.header.depth).rev() {
            let Some(address) = self.address_of(at) else { return Ok(None) };
            let node = Node::read(self.owned(file), &self.header, (address, at.records), level)?;
            let (low, found) = node.locate_from(0, order)?;
            if let Some(record) = node.record(low).filter(|_| found) {
                return take(record).map(Some);
            }
            match node.children.get(low) {
                Some(&child) => at = child,
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Finds many records in one walk that reads each node once. `wanted` is in the order of the records; `order` tells how a record
    /// stands to one of them, and `each` gets the number of every one that is found.
    pub fn find_sorted<T>(
        &self,
        file: &OpenFile,
        wanted: &[T],
        order: &dyn Fn(&[u8], &T) -> Ordering,
        each: &mut dyn FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        self.find_below(file, self.header.root, self.header.depth, (0, wanted), order, each)
    }

    fn find_below<T>(
        &self,
        file: &OpenFile,
        node: Pointer,
        level: u16,
        (mut first, mut wanted): (usize, &[T]),
        order: &dyn Fn(&[u8], &T) -> Ordering,
        each: &mut dyn FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        if wanted.is_empty() {
            return Ok(());
        }
        let Some(address) = self.address_of(node) else { return Ok(()) };
        let node = Node::read(self.owned(file), &self.header, (address, node.records), level)?;
        let mut children = node.children.iter();
        for record in node.records() {
            let count = wanted.partition_point(|one| order(record, one) == Ordering::Greater);
            let (before, rest) = wanted.split_at_checked(count).unwrap_or((wanted, &[]));
            if let Some(&child) = children.next() {
                self.find_below(file, child, level - 1, (first, before), order, each)?;
            }
            (first, wanted) = (first + count, rest);
            if let Some((one, rest)) = wanted.split_first()
                && order(record, one) == Ordering::Equal
            {
                each(first, record)?;
                (first, wanted) = (first + 1, rest);
            }
            if wanted.is_empty() {
                return Ok(());
            }
        }
        match children.next() {
            Some(&child) => self.find_below(file, child, level - 1, (first, wanted), order, each),
            None => Ok(()),
        }
    }

    /// Where a node is, if there is one.
    fn address_of(&self, node: Pointer) -> Option<u64> {
        node.address.filter(|_| node.records > 0 || self.header.depth > 0)
    }
}
