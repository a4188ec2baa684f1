//! Which entry waits for which: the flush-dependency graph.
//!
//! A parent names its children, so it must not reach the file before them. The graph alone answers whether an entry waits. It knows
//! no values and no file, so it can be checked exhaustively.

use rustc_hash::{FxHashMap, FxHashSet};

/// The number of an entry; it stays when the entry's address changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub u64);

/// Parents and children, and how many children of each are not settled: not clean, or waiting themselves. So a parent waits for all that is under it that is
/// not clean, also through clean entries in the middle.
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
/// let root = Id(3);
/// graph.add(root);
/// assert!(graph.depend(root, header));
/// assert!(graph.waits(root), "the header is clean, but what it names is not in the file");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    nodes: FxHashMap<Id, Node>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    parents: FxHashSet<Id>,
    children: FxHashSet<Id>,
    /// Children that are not settled.
    waits_for: usize,
    unclean: bool,
}

impl Node {
    /// Whether the file has it, and all that is under it.
    fn is_stored(&self) -> bool {
        !self.unclean && self.waits_for == 0
    }
}

impl Graph {
    /// A new entry, clean and alone.
    pub fn add(&mut self, id: Id) {
        self.nodes.entry(id).or_default();
    }

    /// Makes `parent` wait for `child`. False, and nothing changes, if one is not there or `child` waits for `parent` already.
    pub fn depend(&mut self, parent: Id, child: Id) -> bool {
        let (Some(above), true) = (self.nodes.get(&parent), self.nodes.contains_key(&child)) else { return false };
        if above.children.contains(&child) {
            return true;
        }
        if self.is_above(child, parent) {
            return false;
        }
        let is_stored = self.nodes.get_mut(&child).is_none_or(|node| {
            node.parents.insert(parent);
            node.is_stored()
        });
        let is_new = self.nodes.get_mut(&parent).is_some_and(|node| node.children.insert(child));
        if is_new && !is_stored {
            self.change(parent, |node| node.waits_for += 1);
        }
        true
    }

    /// Ends a dependency; whether there was one.
    pub fn release(&mut self, parent: Id, child: Id) -> bool {
        let is_stored = self.nodes.get_mut(&child).is_none_or(|node| {
            node.parents.remove(&parent);
            node.is_stored()
        });
        let was = self.nodes.get_mut(&parent).is_some_and(|node| node.children.remove(&child));
        if was && !is_stored {
            self.change(parent, |node| node.waits_for -= 1);
        }
        was
    }

    /// Takes an entry out that has no dependencies: one that has some stays.
    pub fn part(&mut self, id: Id) {
        if self.nodes.get(&id).is_some_and(|node| node.parents.is_empty() && node.children.is_empty()) {
            self.nodes.remove(&id);
        }
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
        self.change(id, |node| node.unclean = !clean);
    }

    /// Changes what an entry waits for. If it is settled then and was not before, or the other way round, its parents hear of it, and theirs.
    fn change(&mut self, id: Id, change: impl FnOnce(&mut Node)) {
        let mut open = Vec::new();
        self.change_one(id, change, &mut open);
        while let Some((id, is_stored)) = open.pop() {
            let count =
                |node: &mut Node| node.waits_for = if is_stored { node.waits_for - 1 } else { node.waits_for + 1 };
            self.change_one(id, count, &mut open);
        }
    }

    /// Changes an entry; `open` gets the parents that must hear of it, and whether it is settled now.
    fn change_one(&mut self, id: Id, change: impl FnOnce(&mut Node), open: &mut Vec<(Id, bool)>) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let before = node.is_stored();
        change(node);
        let after = node.is_stored();
        if before != after {
            open.extend(node.parents.iter().map(|&parent| (parent, after)));
        }
    }

    /// Whether something under the entry is not clean.
    pub fn waits(&self, id: Id) -> bool {
        self.nodes.get(&id).is_some_and(|node| node.waits_for > 0)
    }

    /// Whether an entry has children, and so must stay.
    pub fn is_parent(&self, id: Id) -> bool {
        self.nodes.get(&id).is_some_and(|node| !node.children.is_empty())
    }

    /// Whether `below` is under `above`, or the same. Two walks, up from the one and down from the other, take turns: an entry may have many entries
    /// above it or under it, but seldom both.
    fn is_above(&self, above: Id, below: Id) -> bool {
        let (mut up, mut down) = (Walk::from(below), Walk::from(above));
        loop {
            match up.step(above, |id| self.nodes.get(&id).map(|node| &node.parents)) {
                Step::On => {}
                end => return end == Step::Met,
            }
            match down.step(below, |id| self.nodes.get(&id).map(|node| &node.children)) {
                Step::On => {}
                end => return end == Step::Met,
            }
        }
    }
}

/// The entries that a walk came to, and those of them from which it goes on.
struct Walk {
    seen: FxHashSet<Id>,
    open: Vec<Id>,
}

#[derive(PartialEq)]
enum Step {
    On,
    Met,
    /// There are no further entries.
    End,
}

impl Walk {
    fn from(id: Id) -> Walk {
        Walk { seen: FxHashSet::from_iter([id]), open: vec![id] }
    }

    /// Goes from one entry to its next ones.
    fn step<'a>(&mut self, goal: Id, next: impl Fn(Id) -> Option<&'a FxHashSet<Id>>) -> Step {
        let Some(id) = self.open.pop() else { return Step::End };
        if id == goal {
            return Step::Met;
        }
        let Walk { seen, open } = self;
        open.extend(next(id).into_iter().flatten().filter(|&&id| seen.insert(id)));
        Step::On
    }
}
