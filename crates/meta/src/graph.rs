//! Which entry waits for which: the flush-dependency graph.
//!
//! A parent names its children, so it must not reach the file before them. The graph alone answers whether an entry waits. It knows
//! no values and no file, so it can be checked exhaustively.

use std::collections::HashSet;

use rustc_hash::{FxHashMap, FxHashSet};

/// The number of an entry; it stays when the entry's address changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub u64);

/// Parents and children, and how many children of each are not clean.
///
/// ```
/// use hyperslab_meta::{Graph, Id};
/// let (header, node) = (Id(1), Id(2));
/// let mut graph = Graph::default();
/// graph.add(header);
/// graph.add(node);
/// assert!(graph.depend(header, node));
/// assert!(!graph.depend(node, header), "a cycle");
/// graph.set_clean(node, false);
/// assert!(graph.waits(header));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    nodes: FxHashMap<Id, Node>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    parents: FxHashSet<Id>,
    children: FxHashSet<Id>,
    /// Children that are not clean.
    waits_for: usize,
    unclean: bool,
}

impl Graph {
    /// A new entry, clean and alone.
    pub fn add(&mut self, id: Id) {
        self.nodes.entry(id).or_default();
    }

    /// Makes `parent` wait for `child`. False, and nothing changes, if one is not there or `child` waits for `parent` already.
    pub fn depend(&mut self, parent: Id, child: Id) -> bool {
        if !self.nodes.contains_key(&parent) || !self.nodes.contains_key(&child) || self.is_above(child, parent) {
            return false;
        }
        let child_unclean = self.nodes.get_mut(&child).is_some_and(|node| {
            node.parents.insert(parent);
            node.unclean
        });
        if let Some(node) = self.nodes.get_mut(&parent)
            && node.children.insert(child)
            && child_unclean
        {
            node.waits_for += 1;
        }
        true
    }

    /// Ends a dependency; whether there was one.
    pub fn release(&mut self, parent: Id, child: Id) -> bool {
        let child_unclean = self.nodes.get_mut(&child).is_some_and(|node| {
            node.parents.remove(&parent);
            node.unclean
        });
        let Some(node) = self.nodes.get_mut(&parent) else { return false };
        let was = node.children.remove(&child);
        if was && child_unclean {
            node.waits_for -= 1;
        }
        was
    }

    /// Takes an entry out, with all its dependencies.
    pub fn remove(&mut self, id: Id) {
        let Some(node) = self.nodes.get(&id).cloned() else { return };
        for child in node.children {
            self.release(id, child);
        }
        for parent in node.parents {
            self.release(parent, id);
        }
        self.nodes.remove(&id);
    }

    /// Says whether the file has all of an entry.
    pub fn set_clean(&mut self, id: Id, clean: bool) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        if node.unclean != clean {
            return;
        }
        node.unclean = !clean;
        let parents: Vec<Id> = node.parents.iter().copied().collect();
        for parent in parents {
            if let Some(node) = self.nodes.get_mut(&parent) {
                node.waits_for = if clean { node.waits_for - 1 } else { node.waits_for + 1 };
            }
        }
    }

    /// Whether some child is not clean.
    pub fn waits(&self, id: Id) -> bool {
        self.nodes.get(&id).is_some_and(|node| node.waits_for > 0)
    }

    /// Whether an entry has children, and so must stay.
    pub fn is_parent(&self, id: Id) -> bool {
        self.nodes.get(&id).is_some_and(|node| !node.children.is_empty())
    }

    /// Whether a walk up from `below` meets `above`. Up, since entries have few ancestors and may have many descendants.
    fn is_above(&self, above: Id, below: Id) -> bool {
        let (mut seen, mut open) = (HashSet::from([below]), vec![below]);
        while let Some(id) = open.pop() {
            if id == above {
                return true;
            }
            let parents = self.nodes.get(&id).into_iter().flat_map(|node| &node.parents);
            open.extend(parents.filter(|&&parent| seen.insert(parent)));
        }
        false
    }
}
