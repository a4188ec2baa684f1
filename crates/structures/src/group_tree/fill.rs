//! Many links at once, for a tree that has none: full nodes, from the links up.

use std::sync::Arc;

use hyperslab_file::{Error, Kind, Owned, Result};
use hyperslab_format::{
    btree_v1::Node,
    symbol_table::{Cache, Entry},
};

use super::{WHAT, node_size, nodes::Names, read_node, symbols::Symbols};
use crate::{LocalHeap, btree_v1::Form};

/// A node that is not below another one yet.
struct Child {
    address: u64,
    /// The name before its first one, and its last one.
    bounds: (u64, u64),
}

/// Adds hard links to a tree without links; their names rise. Says which block shows them when it is written. An error, before anything changes, if the
/// tree has links.
pub fn fill(file: Owned<'_>, root: u64, heap: &mut LocalHeap, links: &[(&[u8], u64)]) -> Result<u64> {
    let (leaf_k, fan) = (usize::from(file.superblock().group_leaf_k), 2 * usize::from(Names.k(&file)));
    if leaf_k == 0 || fan < 2 || !read_node(file, root, None)?.entries.is_empty() {
        return Err(Error::broken(WHAT, root, "it has no room for all links of the group"));
    }
    let (names, mut places): (Vec<_>, _) = (links.iter().map(|(name, _)| *name).collect(), vec![0; links.len()]);
    heap.add_all(&file, &names, &mut places)?;
    let entry =
        |(&name, (_, object)): (&u64, &(&[u8], u64))| Entry { name, header: Some(*object), cache: Cache::Nothing };
    let entries: Vec<Entry> = places.iter().zip(links).map(entry).collect();
    let (mut children, mut before) = (Vec::new(), 0);
    for entries in entries.chunks(2 * leaf_k) {
        let last = entries.last().map_or(0, |entry| entry.name);
        children.push(Child { address: Symbols::put_new(file, entries.to_vec())?, bounds: (before, last) });
        before = last;
    }
    let mut level = 0;
    while children.len() > fan {
        children = put_level(file, level, &children, fan)?;
        level += 1;
    }
    put(file, root, node(level, (None, None), &children))?;
    file.order_within(heap.address(), root)?;
    Ok(root)
}

/// Puts the nodes above children; they are the next children.
fn put_level(file: Owned<'_>, level: u8, children: &[Child], fan: usize) -> Result<Vec<Child>> {
    let addresses = children.chunks(fan).map(|_| file.allocate(Kind::Metadata, node_size(&file) as u64));
    let addresses = addresses.collect::<Result<Vec<u64>>>()?;
    let mut nodes = Vec::with_capacity(addresses.len());
    for (nth, (children, &address)) in children.chunks(fan).zip(&addresses).enumerate() {
        let beside = |nth: Option<usize>| nth.and_then(|nth| addresses.get(nth).copied());
        put(file, address, node(level, (beside(nth.checked_sub(1)), beside(nth.checked_add(1))), children))?;
        let bounds = children.first().zip(children.last()).map(|(first, last)| (first.bounds.0, last.bounds.1));
        nodes.push(Child { address, bounds: bounds.unwrap_or_default() });
    }
    Ok(nodes)
}

fn node(level: u8, (left, right): (Option<u64>, Option<u64>), children: &[Child]) -> Node<u64> {
    let entries = children.iter().map(|child| (child.bounds.0, child.address)).collect();
    Node { level, left, right, entries, last: children.last().map(|child| child.bounds.1) }
}

fn put(file: Owned<'_>, address: u64, node: Node<u64>) -> Result<()> {
    let bytes = Names.encode(&file, &node)?;
    file.put_decoded(address, Arc::new(bytes), Arc::new(node))
}
