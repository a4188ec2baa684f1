//! Links of groups of the old kind, in a B-tree with their names in a local heap.

use hyperslab_file::{Error, Owned, Result};
use hyperslab_format::{
    message::{Link, SymbolTable},
    symbol_table::Cache,
};
use hyperslab_structures::{LocalHeap, group_tree};

use super::{group_plan::Happens, waiting_names::WaitingLink};

/// Where a link belongs that the group does not have.
pub(super) struct Vacancy<'a> {
    heap: LocalHeap,
    tree: group_tree::Vacancy<'a>,
}

impl<'a> Vacancy<'a> {
    /// An error if there is a link with this name.
    pub(super) fn find(file: Owned<'a>, table: &SymbolTable, name: &[u8]) -> Result<Vacancy<'a>> {
        let (root, heap) = open(file, table)?;
        let tree = group_tree::Vacancy::find(file, root, &heap, name)?;
        Ok(Vacancy { heap, tree })
    }

    /// Whether the group has no links.
    pub(super) fn is_first(&self) -> bool {
        self.tree.is_first()
    }

    /// Adds a hard or soft link; the block whose write shows it.
    pub(super) fn fill(mut self, link: &Link) -> Result<u64> {
        self.tree.fill(&mut self.heap, &link.name, &link.target)
    }
}

/// Adds hard links, whose names rise, to a group without links; the block whose write shows them.
pub(super) fn fill(file: Owned<'_>, table: &SymbolTable, links: &[WaitingLink<'_>]) -> Result<u64> {
    let (root, mut heap) = open(file, table)?;
    let links: Vec<_> = links.iter().map(|link| (link.name, link.object)).collect();
    group_tree::fill(file, root, &mut heap, &links)
}

/// Lets a link lead to an object, whatever it led to before; the block whose write shows it.
pub(super) fn replace(file: Owned<'_>, table: &SymbolTable, name: &[u8], object: u64) -> Result<u64> {
    let (root, heap) = open(file, table)?;
    let replaced = group_tree::replace(&file, root, &heap, name, (Some(object), Cache::Nothing))?;
    replaced.ok_or_else(|| missing(root))
}

/// Takes a link out; the block whose write hides it.
pub(super) fn remove(file: Owned<'_>, table: &SymbolTable, name: &[u8]) -> Result<u64> {
    let (root, heap) = open(file, table)?;
    let removed = group_tree::remove(&file, root, &heap, name)?;
    removed.map(|removed| removed.block).ok_or_else(|| missing(root))
}

/// Whether nodes of the tree are made or given up by what happens.
pub(super) fn restructures(file: Owned<'_>, table: &SymbolTable, happens: Happens<'_>) -> Result<bool> {
    let (root, heap) = open(file, table)?;
    let (name, adds) = match happens {
        Happens::Gets(link) => (&*link.name, true),
        Happens::Loses(name) => (name, false),
    };
    group_tree::restructures(&file, root, &heap, name, adds)
}

fn missing(root: u64) -> Error {
    Error::broken("group B-tree", root, "a link that was there is not there")
}

/// Gives all space back.
pub(super) fn delete(file: Owned<'_>, table: &SymbolTable) -> Result<()> {
    if let Some(root) = table.btree {
        group_tree::delete(&file, root, &mut |_| Ok(()))?;
    }
    table.heap.map_or(Ok(()), |heap| LocalHeap::open(file, heap)?.delete(&file))
}

fn open(file: Owned<'_>, table: &SymbolTable) -> Result<(u64, LocalHeap)> {
    let (Some(root), Some(heap)) = (table.btree, table.heap) else {
        return Err(Error::broken("symbol table message", 0, "a group without B-tree or heap"));
    };
    Ok((root, LocalHeap::open(file, heap)?))
}
