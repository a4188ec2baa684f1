//! Changing the links of an old-style group.

use hyperslab_file::{OpenFile, Owned, Result};
use hyperslab_format::{
    message::Target,
    symbol_table::{Cache, Entry},
};

use super::{
    WHAT, node_size,
    nodes::{Names, store, symbols_of},
    search::{child_with, position},
    symbols::Symbols,
    vacancy::Vacancy,
};
use crate::{
    LocalHeap,
    btree_v1::{Editor, Step},
    nodes::Nodes,
};

/// A link that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// What it was; its name is no longer in the heap after the next flush.
    pub entry: Entry,
    /// The block that hides the link when it is written.
    pub block: u64,
}

/// An empty tree; says where its root is, which stays there.
pub fn create<'f>(file: impl Into<Owned<'f>>) -> Result<u64> {
    crate::btree_v1::create(file.into(), &Names)
}

/// Adds a hard or soft link. An error, before anything changes, if there is one with this name.
///
/// Says which block shows the link when it is written: what must not be seen before it is [ordered](hyperslab_file::Change::order) behind that.
pub fn insert(file: &OpenFile, root: u64, heap: &mut LocalHeap, name: &[u8], target: &Target) -> Result<u64> {
    Vacancy::find(file.owned(heap.owner()), root, heap, name)?.fill(heap, name, target)
}

/// Changes what a link leads to; says which block shows it when it is written, if there is a link with this name.
pub fn replace(
    file: &OpenFile,
    root: u64,
    heap: &LocalHeap,
    name: &[u8],
    (header, cache): (Option<u64>, Cache),
) -> Result<Option<u64>> {
    let file = file.owned(heap.owner());
    let mut editor = Editor::new(file, Names, root);
    let Some(Found { path, child, at, entry: old, .. }) = find(file, &mut editor, heap, name)? else { return Ok(None) };
    if old.cache != cache {
        remove_target(&file, heap, &old)?;
    }
    let block = if file.is_fresh(child) { editor.shown_by(&path) } else { child };
    store(file, editor, heap, &path, child, |symbols| {
        symbols
            .get_mut(at)
            .into_iter()
            .for_each(|entry| *entry = Entry { name: entry.name, header, cache: cache.clone() });
    })?;
    Ok(Some(block))
}

/// Removes a link, if there is one with this name, and its strings from the heap.
pub fn remove(file: &OpenFile, root: u64, heap: &LocalHeap, name: &[u8]) -> Result<Option<Removed>> {
    let file = file.owned(heap.owner());
    let mut editor = Editor::new(file, Names, root);
    let Some(Found { path, child, at, entry, last }) = find(file, &mut editor, heap, name)? else { return Ok(None) };
    heap.remove(&file, entry.name)?;
    remove_target(&file, heap, &entry)?;
    let Some((last, is_new)) = last else {
        file.free(child, Symbols::size(&file))?;
        let block = editor.remove(&path)?;
        editor.finish(Some(heap.address()))?;
        return Ok(Some(Removed { entry, block }));
    };
    if is_new {
        editor.set_right_key(&path, path.len() - 1, last)?;
    }
    let block = if file.is_fresh(child) { editor.shown_by(&path) } else { child };
    store(file, editor, heap, &path, child, |symbols| {
        symbols.remove(at);
    })?;
    Ok(Some(Removed { entry, block }))
}

/// Whether nodes are made or given up when a link with this name is added, or removed.
pub fn restructures(file: &OpenFile, root: u64, heap: &LocalHeap, name: &[u8], adds: bool) -> Result<bool> {
    let file = file.owned(heap.owner());
    let mut editor = Editor::new(file, Names, root);
    let path = editor.descend(|node| child_with(node, heap, name))?;
    let index = path.last().map_or(0, |step| step.index);
    let Some(&(_, child)) = editor.leaf(&path)?.entries.get(index) else { return Ok(adds) };
    let count = symbols_of(file, child)?.len();
    Ok(if adds { count >= 2 * usize::from(file.superblock().group_leaf_k) } else { count <= 1 })
}

/// Gives all nodes back; `each` gets every entry.
pub fn delete(file: &OpenFile, root: u64, each: &mut dyn FnMut(Entry) -> Result<()>) -> Result<()> {
    let mut counted = Nodes::of(file, WHAT, node_size(file) as u64);
    let (mut blocks, mut open) = (Vec::new(), vec![(root, None)]);
    while let Some((address, above)) = open.pop() {
        counted.visit(address)?;
        let node = super::read_node(file.into(), address, above)?;
        if node.level > 0 {
            open.extend(node.entries.iter().rev().map(|(_, child)| (*child, Some(node.level))));
        } else {
            for &(_, child) in &node.entries {
                Symbols::read(file.into(), child)?.iter().cloned().try_for_each(&mut *each)?;
                blocks.push((child, Symbols::size(file)));
            }
        }
        blocks.push((address, node_size(file) as u64));
    }
    blocks.into_iter().try_for_each(|(address, size)| file.free(address, size))
}

/// The way to a link.
struct Found {
    /// Through the tree.
    path: Vec<Step>,
    /// The symbol table node.
    child: u64,
    /// Where in it.
    at: usize,
    entry: Entry,
    /// The last name that the node has without this link, if it has one, and whether it is another than before.
    last: Option<(u64, bool)>,
}

fn find(file: Owned<'_>, editor: &mut Editor<'_, Names>, heap: &LocalHeap, name: &[u8]) -> Result<Option<Found>> {
    let path = editor.descend(|node| child_with(node, heap, name))?;
    let index = path.last().map_or(0, |step| step.index);
    let Some(&(_, child)) = editor.leaf(&path)?.entries.get(index) else { return Ok(None) };
    let symbols = symbols_of(file, child)?;
    let Ok(at) = position(&symbols, heap, name)? else { return Ok(None) };
    let is_last = at + 1 == symbols.len();
    let last = symbols.iter().rev().nth(usize::from(is_last)).map(|last| (last.name, is_last));
    Ok(symbols.get(at).cloned().map(|entry| Found { path, child, at, entry, last }))
}

/// Gives up where a soft link leads to.
fn remove_target(file: &OpenFile, heap: &LocalHeap, entry: &Entry) -> Result<()> {
    match entry.cache {
        Cache::SoftLink(place) => heap.remove(file, place.into()),
        _ => Ok(()),
    }
}
