//! Changing the links of an old-style group.

use std::sync::Arc;

use hyperslab_file::{Error, Kind, OpenFile, Result};
use hyperslab_format::{
    btree_v1::{self, Node},
    symbol_table::{self, Cache, Entry},
};

use super::{
    SYMBOLS, WHAT, node_size, read_symbols,
    search::{child_with, position},
};
use crate::{
    LocalHeap,
    btree_v1::{Editor, Form, Step},
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
pub fn create(file: &OpenFile) -> Result<u64> {
    crate::btree_v1::create(file, &Names)
}

/// Adds a link, which is what `target` says. An error, before anything changes, if there is one with this name.
///
/// Says which block shows the link when it is written: what must not be seen before it is [ordered](OpenFile::order) behind that.
pub fn insert(
    file: &OpenFile,
    root: u64,
    heap: &mut LocalHeap,
    name: &[u8],
    target: impl FnOnce(&mut LocalHeap) -> Result<(Option<u64>, Cache)>,
) -> Result<u64> {
    let new_entry = |heap: &mut LocalHeap| -> Result<Entry> {
        let (header, cache) = target(heap)?;
        Ok(Entry { name: heap.add(file, name)?, header, cache })
    };
    let mut editor = Editor::new(file, Names, root);
    let path = editor.descend(|node| child_with(node, heap, name))?;
    let leaf = editor.leaf(&path)?;
    let index = path.last().map_or(0, |step| step.index);
    let Some(&(_, child)) = leaf.entries.get(index) else {
        let entry = new_entry(heap)?;
        let (last, child) = (entry.name, put_new(file, vec![entry])?);
        editor.insert(&path, 0, 0, child)?;
        editor.set_right_key(&path, path.len() - 1, last)?;
        let block = editor.shown_by(&path);
        editor.finish(Some(heap.address()))?;
        return Ok(block);
    };
    let symbols = symbols_of(file, child)?;
    let Err(at) = position(&symbols, heap, name)? else {
        let name = String::from_utf8_lossy(name);
        return Err(Error::Refused(format!("the group has a link named {name:?} already")));
    };
    let k = usize::from(file.superblock().group_leaf_k);
    if k == 0 {
        return Err(Error::broken(SYMBOLS, child, "the superblock says that it has no room"));
    }
    let mut symbols = symbols.to_vec();
    let entry = new_entry(heap)?;
    let (place, depth) = (entry.name, path.len() - 1);
    if at == symbols.len() {
        editor.set_right_key(&path, depth, place)?;
    }
    if symbols.len() < 2 * k {
        symbols.insert(at, entry);
        let block = if file.is_fresh(child) { editor.shown_by(&path) } else { child };
        return store(file, editor, heap, &path, (child, symbols)).map(|()| block);
    }
    let mut right = symbols.split_off(k);
    if at <= k {
        symbols.insert(at, entry);
    } else {
        right.insert(at - k, entry);
    }
    let border = symbols.last().map_or(0, |entry| entry.name);
    let block = if at <= k && !file.is_fresh(child) { child } else { editor.shown_by(&path) };
    let new = put_new(file, right)?;
    editor.insert(&path, index + 1, border, new)?;
    store(file, editor, heap, &path, (child, symbols)).map(|()| block)
}

/// Changes what a link leads to; says which block shows it when it is written, if there is a link with this name.
pub fn replace(
    file: &OpenFile,
    root: u64,
    heap: &LocalHeap,
    name: &[u8],
    (header, cache): (Option<u64>, Cache),
) -> Result<Option<u64>> {
    let mut editor = Editor::new(file, Names, root);
    let Some((path, child, mut symbols, at)) = find(file, &mut editor, heap, name)? else { return Ok(None) };
    if let Some(entry) = symbols.get_mut(at) {
        let old = std::mem::replace(entry, Entry { name: entry.name, header, cache });
        if old.cache != entry.cache {
            remove_target(file, heap, &old)?;
        }
    }
    let block = if file.is_fresh(child) { editor.shown_by(&path) } else { child };
    store(file, editor, heap, &path, (child, symbols)).map(|()| Some(block))
}

/// Removes a link, if there is one with this name, and its strings from the heap.
pub fn remove(file: &OpenFile, root: u64, heap: &LocalHeap, name: &[u8]) -> Result<Option<Removed>> {
    let mut editor = Editor::new(file, Names, root);
    let Some((path, child, mut symbols, at)) = find(file, &mut editor, heap, name)? else { return Ok(None) };
    let entry = symbols.remove(at);
    heap.remove(file, entry.name)?;
    remove_target(file, heap, &entry)?;
    let Some(last) = symbols.last() else {
        file.free(child, symbols_size(file))?;
        let block = editor.remove(&path)?;
        editor.finish(Some(heap.address()))?;
        return Ok(Some(Removed { entry, block }));
    };
    if at == symbols.len() {
        editor.set_right_key(&path, path.len() - 1, last.name)?;
    }
    let block = if file.is_fresh(child) { editor.shown_by(&path) } else { child };
    store(file, editor, heap, &path, (child, symbols))?;
    Ok(Some(Removed { entry, block }))
}

/// Whether nodes are made or given up when a link with this name is added, or removed.
pub fn restructures(file: &OpenFile, root: u64, heap: &LocalHeap, name: &[u8], adds: bool) -> Result<bool> {
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
        let node = super::read_node(file, address, above)?;
        if node.level > 0 {
            open.extend(node.entries.iter().rev().map(|(_, child)| (*child, Some(node.level))));
        } else {
            for &(_, child) in &node.entries {
                read_symbols(file, child)?.iter().cloned().try_for_each(&mut *each)?;
                blocks.push((child, symbols_size(file)));
            }
        }
        blocks.push((address, node_size(file) as u64));
    }
    blocks.into_iter().try_for_each(|(address, size)| file.free(address, size))
}

/// Nodes whose keys are places of names.
struct Names;

impl Form for Names {
    type Key = u64;
    const WHAT: &'static str = WHAT;
    const KEY_BEHIND: bool = true;

    fn k(&self, file: &OpenFile) -> u16 {
        file.superblock().group_internal_k
    }

    fn node_size(&self, file: &OpenFile) -> u64 {
        node_size(file) as u64
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &[u8]) -> Result<Node<u64>> {
        btree_v1::decode_group(bytes, file.widths()).map_err(Error::at(address))
    }

    fn encode(&self, file: &OpenFile, node: &Node<u64>) -> Result<Vec<u8>> {
        Ok(node.encode(self.k(file), file.widths())?)
    }
}

/// The way to a link: through the tree, the symbol table node with its entries, the entry.
type Found = (Vec<Step>, u64, Vec<Entry>, usize);

fn find(file: &OpenFile, editor: &mut Editor<'_, Names>, heap: &LocalHeap, name: &[u8]) -> Result<Option<Found>> {
    let path = editor.descend(|node| child_with(node, heap, name))?;
    let index = path.last().map_or(0, |step| step.index);
    let Some(&(_, child)) = editor.leaf(&path)?.entries.get(index) else { return Ok(None) };
    let symbols = symbols_of(file, child)?;
    let at = position(&symbols, heap, name)?.ok();
    Ok(at.map(|at| (path, child, symbols.to_vec(), at)))
}

fn symbols_of(file: &OpenFile, address: u64) -> Result<Arc<Vec<Entry>>> {
    let symbols = read_symbols(file, address)?;
    let most = 2 * usize::from(file.superblock().group_leaf_k);
    if symbols.len() > most {
        return Err(Error::broken(SYMBOLS, address, format!("{} links where {most} have room", symbols.len())));
    }
    Ok(symbols)
}

fn symbols_size(file: &OpenFile) -> u64 {
    symbol_table::node_size(file.superblock().group_leaf_k, file.widths()) as u64
}

fn put_new(file: &OpenFile, symbols: Vec<Entry>) -> Result<u64> {
    let bytes = symbol_table::encode_node(&symbols, file.superblock().group_leaf_k, file.widths())?;
    let address = file.allocate(Kind::Metadata, bytes.len() as u64)?;
    file.put_decoded(address, bytes, Arc::new(symbols))?;
    Ok(address)
}

/// Puts a changed symbol table node and the tree above it: names first, then the tree from above.
fn store(
    file: &OpenFile,
    editor: Editor<'_, Names>,
    heap: &LocalHeap,
    path: &[Step],
    (address, symbols): (u64, Vec<Entry>),
) -> Result<()> {
    let bytes = symbol_table::encode_node(&symbols, file.superblock().group_leaf_k, file.widths())?;
    let above = editor.shown_by(path);
    editor.finish(Some(heap.address()))?;
    file.put_decoded(address, bytes, Arc::new(symbols))?;
    file.order(heap.address(), address)?;
    file.order(above, address)
}

/// Gives up where a soft link leads to.
fn remove_target(file: &OpenFile, heap: &LocalHeap, entry: &Entry) -> Result<()> {
    match entry.cache {
        Cache::SoftLink(place) => heap.remove(file, place.into()),
        _ => Ok(()),
    }
}
