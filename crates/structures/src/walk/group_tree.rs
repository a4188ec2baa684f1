//! The links of an old-style group.

use std::cmp::Ordering;

use hyperslab_file::{Block, OpenFile, Survey};
use hyperslab_format::btree_v1::{self, Node};

use super::btree_v1::{Form, walk};
use crate::{
    LocalHeap,
    group_tree::{GroupNode, SymbolNode, Symbols},
};

const SYMBOLS: &str = SymbolNode::WHAT;

struct Group<'a> {
    file: &'a OpenFile,
    heap: Option<&'a LocalHeap>,
    /// How many bytes of names may still be compared; those of a bad file may share them.
    left: u64,
    /// The last name that was met.
    last: Option<u64>,
}

/// Shows the tree at `root` and its symbol table nodes; with the heap, names are looked at too: they must rise.
pub fn group_tree(file: &OpenFile, root: u64, heap: Option<&LocalHeap>, survey: &mut dyn Survey) {
    let left = file.end().saturating_mul(4);
    walk(file, root, &mut Group { file, heap, left, last: None }, survey);
}

impl Form for Group<'_> {
    type Key = u64;
    type Block = GroupNode;

    fn block(&self) -> GroupNode {
        GroupNode
    }

    fn node_size(&self, file: &OpenFile) -> u64 {
        let widths = file.widths();
        btree_v1::node_size(self.k(file), widths.lengths.bytes(), widths) as u64
    }

    fn k(&self, file: &OpenFile) -> u16 {
        file.superblock().group_internal_k
    }

    fn node(&mut self, survey: &mut dyn Survey, address: u64, node: &Node<u64>) {
        if node.level > 0 {
            return;
        }
        let bounds = node.entries.iter().map(|(key, _)| *key).skip(1).chain(node.last);
        for ((key, child), bound) in node.entries.iter().zip(bounds) {
            // A child holds the names after its own key, up to and with the next one's.
            if self.last.is_some_and(|last| self.compare(last, *key) == Some(Ordering::Greater)) {
                survey.problem(
                    Self::WHAT,
                    address,
                    format!("the key of the node at {child:#x} is before the names before it"),
                );
            }
            let Some(entries) = self.symbols(*child, survey) else { continue };
            for entry in &*entries {
                if self.last.is_some_and(|last| self.compare(last, entry.name).is_some_and(Ordering::is_ge)) {
                    survey.problem(SYMBOLS, *child, "its names do not rise".into());
                }
                self.last = Some(entry.name);
            }
            if self.last.is_some_and(|last| self.compare(last, bound) == Some(Ordering::Greater)) {
                survey.problem(Self::WHAT, address, format!("the node at {child:#x} has names beyond its key"));
            }
        }
    }
}

impl Group<'_> {
    fn symbols(&self, address: u64, survey: &mut dyn Survey) -> Option<Symbols> {
        let k = self.file.superblock().group_leaf_k;
        let there = self.file.end().saturating_sub(address).min(Symbols::size(self.file));
        if !survey.block(SYMBOLS, address, there.max(1)) {
            return None;
        }
        let entries = survey.found(SYMBOLS, address, self.file.load_once(&SymbolNode, address))?;
        if entries.len() > 2 * usize::from(k) {
            survey.problem(SYMBOLS, address, format!("{} entries where {} have room", entries.len(), 2 * k));
        }
        Some(entries)
    }

    /// How two names stand to each other; nothing if that cannot be told.
    fn compare(&mut self, left: u64, right: u64) -> Option<Ordering> {
        let heap = self.heap?;
        let (left, right) = (heap.string(left).ok()?, heap.string(right).ok()?);
        self.left = self.left.checked_sub((left.len() + right.len()) as u64)?;
        Some(left.cmp(right))
    }
}
