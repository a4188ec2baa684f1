//! The nodes of a tree that changes, and the entries in them.

use std::sync::Arc;

use hyperslab_file::{Error, OpenFile, Owned, Result};
use hyperslab_format::{
    btree_v1::Node,
    message::Target,
    symbol_table::{Cache, Entry},
};

use super::{GroupNode, SYMBOLS, node_size, symbols::Symbols};
use crate::{
    LocalHeap,
    btree_v1::{Editor, Form, Step},
};

/// Nodes whose keys are places of names.
pub(super) struct Names;

impl Form for Names {
    type Key = u64;
    type Node = GroupNode;
    const KEY_BEHIND: bool = true;

    fn k(&self, file: &OpenFile) -> u16 {
        file.superblock().group_internal_k
    }

    fn node_size(&self, file: &OpenFile) -> u64 {
        node_size(file) as u64
    }

    fn node(&self) -> GroupNode {
        GroupNode
    }

    fn encode(&self, file: &OpenFile, node: &Node<u64>) -> Result<Vec<u8>> {
        Ok(node.encode(self.k(file), file.widths())?)
    }
}

/// The entries of a symbol table node, no more than there is room for.
pub(super) fn symbols_of(file: Owned<'_>, address: u64) -> Result<Arc<Symbols>> {
    let symbols = Symbols::read(file, address)?;
    let most = 2 * usize::from(file.superblock().group_leaf_k);
    if symbols.len() > most {
        return Err(Error::broken(SYMBOLS, address, format!("{} links where {most} have room", symbols.len())));
    }
    Ok(symbols)
}

/// Changes a symbol table node, and puts the tree above it: names first, then the tree from above.
pub(super) fn store(
    file: Owned<'_>,
    editor: Editor<'_, Names>,
    heap: &LocalHeap,
    path: &[Step],
    address: u64,
    change: impl FnOnce(&mut Vec<Entry>),
) -> Result<()> {
    let above = editor.shown_by(path);
    editor.finish(Some(heap.address()))?;
    Symbols::change(file, address, change)?;
    file.order_within(heap.address(), address)?;
    file.order_within(above, address)
}

/// An entry whose strings are in the heap from now on.
pub(super) fn new_entry(file: &OpenFile, heap: &mut LocalHeap, name: &[u8], target: &Target) -> Result<Entry> {
    match target {
        Target::Hard(object) => Ok(Entry { name: heap.add(file, name)?, header: Some(*object), cache: Cache::Nothing }),
        Target::Soft(path) => {
            let mut places = [0; 2];
            heap.add_all(file, &[path, name], &mut places)?;
            let [path, name] = places;
            let far = |_| Error::Refused("the names of this group take more than 4 GiB".into());
            Ok(Entry { name, header: None, cache: Cache::SoftLink(u32::try_from(path).map_err(far)?) })
        }
        _ => Err(Error::Refused("a group of the old kind has hard and soft links only".into())),
    }
}
