//! A new link: one search for where it belongs, then its way into the tree.

use hyperslab_file::{Error, Owned, Result};
use hyperslab_format::message::Target;

use super::{
    SYMBOLS,
    nodes::{Names, new_entry, store, symbols_of},
    search::{child_with, position},
    symbols::Symbols,
};
use crate::{
    LocalHeap,
    btree_v1::{Editor, Step},
};

/// Where a name belongs that is not in a tree, which must not change before the name is there.
pub struct Vacancy<'a> {
    file: Owned<'a>,
    editor: Editor<'a, Names>,
    path: Vec<Step>,
    /// The symbol table node, and where in it; a tree without links has none.
    place: Option<(u64, usize)>,
}

impl<'a> Vacancy<'a> {
    /// An error if there is a link with this name.
    pub fn find(file: Owned<'a>, root: u64, heap: &LocalHeap, name: &[u8]) -> Result<Vacancy<'a>> {
        let mut editor = Editor::new(file, Names, root);
        let path = editor.descend(|node| child_with(node, heap, name))?;
        let index = path.last().map_or(0, |step| step.index);
        let Some(&(_, child)) = editor.leaf(&path)?.entries.get(index) else {
            return Ok(Vacancy { file, editor, path, place: None });
        };
        if file.superblock().group_leaf_k == 0 {
            return Err(Error::broken(SYMBOLS, child, "the superblock says that it has no room"));
        }
        match position(&symbols_of(file, child)?, heap, name)? {
            Ok(_) => Err(Error::Exists(format!("a link {:?}", String::from_utf8_lossy(name)))),
            Err(at) => Ok(Vacancy { file, editor, path, place: Some((child, at)) }),
        }
    }

    /// Whether the tree has no links.
    pub fn is_first(&self) -> bool {
        self.place.is_none()
    }

    /// Adds a hard or soft link with this name. Says which block shows it when it is written.
    pub fn fill(self, heap: &mut LocalHeap, name: &[u8], target: &Target) -> Result<u64> {
        let Vacancy { file, mut editor, path, place } = self;
        let Some((child, at)) = place else {
            let entry = new_entry(&file, heap, name, target)?;
            let (last, child) = (entry.name, Symbols::put_new(file, vec![entry])?);
            editor.insert(&path, 0, 0, child)?;
            editor.set_right_key(&path, path.len() - 1, last)?;
            let block = editor.shown_by(&path);
            editor.finish(Some(heap.address()))?;
            return Ok(block);
        };
        let (symbols, index) = (symbols_of(file, child)?, path.last().map_or(0, |step| step.index));
        let k = usize::from(file.superblock().group_leaf_k);
        let mut left = if symbols.len() < 2 * k { Vec::new() } else { symbols.to_vec() };
        let is_last = at == symbols.len();
        drop(symbols); // so that it can be changed where it is
        let entry = new_entry(&file, heap, name, target)?;
        if is_last {
            editor.set_right_key(&path, path.len() - 1, entry.name)?;
        }
        if left.is_empty() {
            let block = if file.is_fresh(child) { editor.shown_by(&path) } else { child };
            store(file, editor, heap, &path, child, |symbols| symbols.insert(at, entry))?;
            return Ok(block);
        }
        let mut right = left.split_off(k);
        if at <= k {
            left.insert(at, entry);
        } else {
            right.insert(at - k, entry);
        }
        let border = left.last().map_or(0, |entry| entry.name);
        let block = if at <= k && !file.is_fresh(child) { child } else { editor.shown_by(&path) };
        let new = Symbols::put_new(file, right)?;
        editor.insert(&path, index + 1, border, new)?;
        store(file, editor, heap, &path, child, |symbols| *symbols = left)?;
        Ok(block)
    }
}
