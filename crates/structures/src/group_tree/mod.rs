//! The links of an old-style group: a B-tree over symbol table nodes.

mod change;
mod fill;
mod nodes;
mod search;
mod symbols;
mod vacancy;

use std::sync::Arc;

use hyperslab_file::{Block, Error, Extent, OpenFile, Owned, Result, Seal};
use hyperslab_format::{btree_v1, symbol_table};

pub(crate) use self::symbols::{SymbolNode, Symbols};
use crate::{LocalHeap, nodes::Nodes};

pub use change::{Removed, create, delete, insert, remove, replace, restructures};
pub use fill::fill;
pub use vacancy::Vacancy;

const WHAT: &str = "group B-tree";
const SYMBOLS: &str = SymbolNode::WHAT;

/// Calls `each` for every entry of the tree at `root`, in order of names.
pub fn for_each<'f>(
    file: impl Into<Owned<'f>>,
    root: u64,
    each: &mut dyn FnMut(symbol_table::Entry) -> Result<()>,
) -> Result<()> {
    for_each_node(file.into(), root, &mut |entries| entries.iter().cloned().try_for_each(&mut *each))
}

/// How many entries the tree at `root` has: its nodes tell, no name is looked at.
pub fn count<'f>(file: impl Into<Owned<'f>>, root: u64) -> Result<u64> {
    let mut count = 0;
    for_each_node(file.into(), root, &mut |entries| {
        count += entries.len() as u64;
        Ok(())
    })?;
    Ok(count)
}

/// Is shown the entries of a symbol table node.
type EachNode<'a> = dyn FnMut(&[symbol_table::Entry]) -> Result<()> + 'a;

fn for_each_node(file: Owned<'_>, root: u64, each: &mut EachNode<'_>) -> Result<()> {
    let mut nodes = Nodes::of(&file, WHAT, node_size(&file) as u64);
    let mut symbols = Nodes::of(&file, SYMBOLS, Symbols::size(&file));
    walk(file, root, None, (&mut nodes, &mut symbols), each)
}

/// The entry with this name.
pub fn find(file: &OpenFile, root: u64, heap: &LocalHeap, name: &[u8]) -> Result<Option<symbol_table::Entry>> {
    let (file, mut address) = (file.owned(heap.owner()), root);
    let mut above = None;
    loop {
        let node = read_node(file, address, above)?;
        let child = search::child_with(&node, heap, name)?;
        let Some(&(_, child)) = node.entries.get(child) else { return Ok(None) };
        if node.level == 0 {
            let symbols = Symbols::read(file, child)?;
            let found = search::position(&symbols, heap, name)?;
            return Ok(found.ok().and_then(|at| symbols.get(at).cloned()));
        }
        (address, above) = (child, Some(node.level));
    }
}

fn walk(
    file: Owned<'_>,
    address: u64,
    above: Option<u8>,
    (nodes, symbols): (&mut Nodes, &mut Nodes),
    each: &mut EachNode<'_>,
) -> Result<()> {
    nodes.visit(address)?;
    let node = read_node(file, address, above)?;
    for &(_, child) in &node.entries {
        if node.level > 0 {
            walk(file, child, Some(node.level), (nodes, symbols), each)?;
        } else {
            symbols.visit(child)?;
            each(&Symbols::read(file, child)?)?;
        }
    }
    Ok(())
}

/// A node of the tree.
pub(crate) struct GroupNode;

impl Block for GroupNode {
    type Value = btree_v1::Node<u64>;
    const WHAT: &'static str = WHAT;

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Signature
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        Extent::UpTo(node_size(file) as u64)
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<btree_v1::Node<u64>> {
        btree_v1::decode_group(bytes, file.widths()).map_err(Error::at(address))
    }
}

/// Levels go down from node to node, so that no tree is endless.
fn read_node(file: Owned<'_>, address: u64, above: Option<u8>) -> Result<Arc<btree_v1::Node<u64>>> {
    let node = file.load(&GroupNode, address)?;
    match above {
        Some(above) if node.level >= above => Err(Error::broken(WHAT, address, "a node that is not below its parent")),
        _ => Ok(node),
    }
}

fn node_size(file: &OpenFile) -> usize {
    let widths = file.widths();
    btree_v1::node_size(file.superblock().group_internal_k, widths.lengths.bytes(), widths)
}
