//! Changing the first kind of B-tree, whatever its keys are.
//!
//! Lives here: how children are added and removed, node by node, as libhdf5 does it. Does not live here: what keys and children mean; that is in
//! `group_tree` and `chunks::btree_v1`.
//!
//! Nodes have no checksums and are changed in place, so the file is kept whole by order: *a node is written before what is below it*. A
//! child that is split is in its parent twice for a moment, and what it lost can be found in its new neighbour before it is taken away.
//! Nodes never change their level, so no order can contradict another. The root stays where it is.

use std::{
    collections::{BTreeSet, hash_map::Entry},
    sync::Arc,
};

use hyperslab_file::{Block, Error, Kind, OpenFile, Owned, Result};
use hyperslab_format::btree_v1::Node;
use rustc_hash::FxHashMap;

/// What the nodes of a tree are made of.
pub(crate) trait Form {
    type Key: Clone + Send + Sync + 'static;
    /// A node of the tree.
    type Node: Block<Value = Node<Self::Key>>;
    /// Its name in errors.
    const WHAT: &'static str = Self::Node::WHAT;
    /// The key that goes with a child that is removed: the one behind it, or the one before it.
    const KEY_BEHIND: bool;

    /// Half of the children that a node has room for.
    fn k(&self, file: &OpenFile) -> u16;
    fn node_size(&self, file: &OpenFile) -> u64;
    fn node(&self) -> Self::Node;
    fn encode(&self, file: &OpenFile, node: &Node<Self::Key>) -> Result<Vec<u8>>;
}

/// A node on the way down, and which of its children comes next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) address: u64,
    pub(crate) index: usize,
}

/// A tree that is being changed. Its nodes are in memory until [`Editor::finish`].
pub(crate) struct Editor<'a, F: Form> {
    file: Owned<'a>,
    pub(crate) form: F,
    root: u64,
    nodes: FxHashMap<u64, Edited<F::Key>>,
    orders: BTreeSet<(u64, u64)>,
}

struct Edited<K> {
    node: Arc<Node<K>>,
    changed: bool,
    /// Whether nothing in the file names it yet.
    is_fresh: bool,
}

impl<K> Edited<K> {
    /// A node that was not there before.
    fn new(node: Node<K>) -> Self {
        Edited { node: Arc::new(node), changed: true, is_fresh: true }
    }
}

/// A tree without children.
pub(crate) fn create<F: Form>(file: Owned<'_>, form: &F) -> Result<u64> {
    let root = Node { level: 0, left: None, right: None, entries: Vec::new(), last: None };
    let bytes = form.encode(&file, &root)?;
    let address = file.allocate(Kind::Metadata, bytes.len() as u64)?;
    file.put(address, bytes)?;
    Ok(address)
}

fn read<F: Form>(file: Owned<'_>, form: &F, address: u64) -> Result<Edited<F::Key>> {
    let node = file.load(&form.node(), address)?;
    let most = 2 * usize::from(form.k(&file));
    if node.entries.len() > most {
        let why = format!("{} children where {most} have room", node.entries.len());
        return Err(Error::broken(F::WHAT, address, why));
    }
    Ok(Edited { node, changed: false, is_fresh: file.is_fresh(address) })
}

impl<'a, F: Form> Editor<'a, F> {
    pub(crate) fn new(file: Owned<'a>, form: F, root: u64) -> Self {
        Editor { file, form, root, nodes: FxHashMap::default(), orders: BTreeSet::new() }
    }

    /// The node at an address.
    pub(crate) fn node(&mut self, address: u64) -> Result<&Node<F::Key>> {
        self.edited(address).map(|edited| &*edited.node)
    }

    fn change(&mut self, address: u64) -> Result<&mut Node<F::Key>> {
        let edited = self.edited(address)?;
        edited.changed = true;
        Ok(Arc::make_mut(&mut edited.node))
    }

    fn edited(&mut self, address: u64) -> Result<&mut Edited<F::Key>> {
        match self.nodes.entry(address) {
            Entry::Occupied(here) => Ok(here.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(read(self.file, &self.form, address)?)),
        }
    }

    /// The way to a leaf; `choose` says which child of a node is next. A leaf may have no children.
    pub(crate) fn descend(&mut self, choose: impl Fn(&Node<F::Key>) -> Result<usize>) -> Result<Vec<Step>> {
        let (mut path, mut address, mut above) = (Vec::new(), self.root, None);
        loop {
            let node = self.node(address)?;
            if above.is_some_and(|above| node.level >= above) {
                return Err(Error::broken(F::WHAT, address, "a node that is not below its parent"));
            }
            let index = choose(node)?;
            path.push(Step { address, index });
            if node.level == 0 {
                return Ok(path);
            }
            above = Some(node.level);
            let child = node.entries.get(index).map(|&(_, child)| child);
            address = child.ok_or_else(|| Error::broken(F::WHAT, address, "a node without children"))?;
        }
    }

    /// The leaf at the end of a path.
    pub(crate) fn leaf(&mut self, path: &[Step]) -> Result<&Node<F::Key>> {
        let step = self.step(path, path.len().saturating_sub(1))?;
        self.node(step.address)
    }

    /// The key behind everything that a path leads to, if something is behind it.
    pub(crate) fn key_behind(&mut self, path: &[Step]) -> Result<Option<F::Key>> {
        for step in path.iter().rev() {
            if let Some((key, _)) = self.node(step.address)?.entries.get(step.index + 1) {
                return Ok(Some(key.clone()));
            }
        }
        Ok(None)
    }

    /// Sets the entry of the leaf that a path leads to.
    pub(crate) fn set(&mut self, path: &[Step], key: F::Key, child: u64) -> Result<()> {
        let step = self.step(path, path.len().saturating_sub(1))?;
        if let Some(entry) = self.change(step.address)?.entries.get_mut(step.index) {
            *entry = (key, child);
        }
        self.keep_order(path);
        Ok(())
    }

    /// Adds a child at `at` to the leaf at the end of a path: before or behind the child that the path leads to.
    pub(crate) fn insert(&mut self, path: &[Step], at: usize, key: F::Key, child: u64) -> Result<()> {
        self.insert_at(path, path.len().saturating_sub(1), at, (key, child))?;
        self.keep_order(path);
        Ok(())
    }

    fn insert_at(&mut self, path: &[Step], depth: usize, at: usize, entry: (F::Key, u64)) -> Result<()> {
        let most = 2 * usize::from(self.form.k(&self.file));
        let Step { address, index } = self.step(path, depth)?;
        let node = self.change(address)?;
        if node.entries.len() < most {
            node.entries.insert(at.min(node.entries.len()), entry);
            return Ok(());
        }
        if most < 2 {
            return Err(Error::broken(F::WHAT, address, "the superblock says that it has no room"));
        }
        // Most nodes at the right end got there one after the other, so that little is added to the left of them later.
        let mut count = match (node.left, node.right) {
            (_, None) => most * 9 / 10,
            (None, _) => most / 10,
            _ => most / 2,
        };
        count = count.clamp(1, most - 1);
        let mut right = Node {
            level: node.level,
            left: Some(address),
            right: node.right,
            entries: node.entries.split_off(count),
            last: node.last.take(),
        };
        let border = right.entries.first().map(|(key, _)| key.clone());
        let Some(border) = border else { return Err(Error::broken(F::WHAT, address, "there is nothing to split")) };
        node.last = Some(border.clone());
        // The new child stays with the one that it was split from.
        if index < count {
            node.entries.insert(at.min(node.entries.len()), entry);
        } else {
            right.entries.insert(at.saturating_sub(count).min(right.entries.len()), entry);
        }
        let new = self.file.allocate(Kind::Metadata, self.form.node_size(&self.file))?;
        if depth == 0 {
            return self.split_root(address, (new, right), border);
        }
        self.change(address)?.right = Some(new);
        self.nodes.insert(new, Edited::new(right));
        if let Some(next) = self.neighbour(path, depth, true)? {
            self.change(next)?.left = Some(new);
            self.keep_below(path, depth, next);
        }
        let above = self.step(path, depth - 1)?;
        self.insert_at(path, depth - 1, above.index + 1, (border, new))
    }

    /// What is left of the root moves, so that the root itself does not.
    fn split_root(&mut self, root: u64, (new, mut right): (u64, Node<F::Key>), border: F::Key) -> Result<()> {
        let moved = self.file.allocate(Kind::Metadata, self.form.node_size(&self.file))?;
        let old = self.change(root)?;
        let Some(first) = old.entries.first().map(|(key, _)| key.clone()) else {
            return Err(Error::broken(F::WHAT, root, "there is nothing to split"));
        };
        let level = old.level.checked_add(1).ok_or_else(|| Error::broken(F::WHAT, root, "it has too many levels"))?;
        let entries = vec![(first, moved), (border, new)];
        let above = Node { level, left: None, right: None, entries, last: right.last.clone() };
        let mut left = std::mem::replace(old, above);
        (left.left, left.right) = (None, Some(new));
        right.left = Some(moved);
        self.nodes.insert(moved, Edited::new(left));
        self.nodes.insert(new, Edited::new(right));
        Ok(())
    }

    /// Removes the child that a path leads to, and the nodes that are empty without it. Says which node hides it when it is written.
    pub(crate) fn remove(&mut self, path: &[Step]) -> Result<u64> {
        let mut path = path.to_vec();
        while let Some(&Step { address, index }) = path.last() {
            let depth = path.len() - 1;
            let node = self.change(address)?;
            let count = node.entries.len();
            if index >= count {
                return Err(Error::broken(F::WHAT, address, "a child that is gone"));
            }
            if count > 1 {
                let (key, _) = node.entries.remove(index);
                match node.entries.get_mut(index) {
                    Some((next, _)) if F::KEY_BEHIND => *next = key,
                    None if F::KEY_BEHIND => {
                        path.last_mut().into_iter().for_each(|step| step.index -= 1);
                        self.set_right_key(&path, depth, key)?;
                    }
                    Some((first, _)) if index == 0 => {
                        let first = first.clone();
                        self.set_left_key(&path, depth, first)?;
                    }
                    _ => {}
                }
                break;
            }
            if depth == 0 {
                node.entries.clear();
                (node.level, node.last) = (0, None);
                break;
            }
            self.unlink(&path, depth)?;
            path.pop();
        }
        self.keep_order(&path);
        Ok(self.shown_by(&path))
    }

    /// Takes a node with one child out of the row of its level.
    fn unlink(&mut self, path: &[Step], depth: usize) -> Result<()> {
        let address = self.step(path, depth)?.address;
        let (before, behind) = (self.neighbour(path, depth, false)?, self.neighbour(path, depth, true)?);
        let node = self.node(address)?;
        let (first, last) = (node.entries.first().map(|(key, _)| key.clone()), node.last.clone());
        if let Some(before) = before {
            let neighbour = self.change(before)?;
            neighbour.right = behind;
            if !F::KEY_BEHIND && last.is_some() {
                neighbour.last = last;
            }
            self.keep_below(path, depth, before);
        }
        if let Some(behind) = behind {
            let neighbour = self.change(behind)?;
            neighbour.left = before;
            if let (true, Some(first), Some(entry)) = (F::KEY_BEHIND, first, neighbour.entries.first_mut()) {
                entry.0 = first;
            }
            self.keep_below(path, depth, behind);
        }
        self.nodes.remove(&address);
        self.file.free(address, self.form.node_size(&self.file))
    }

    /// Sets the key behind the child that a path leads to at `depth`, and where else it stands.
    pub(crate) fn set_right_key(&mut self, path: &[Step], depth: usize, key: F::Key) -> Result<()> {
        for depth in (0..=depth).rev() {
            let Step { address, index } = self.step(path, depth)?;
            let node = self.change(address)?;
            if let Some((next, _)) = node.entries.get_mut(index + 1) {
                *next = key;
                break;
            }
            node.last = Some(key.clone());
            if let Some(behind) = self.neighbour(path, depth, true)? {
                self.change(behind)?.entries.first_mut().into_iter().for_each(|entry| entry.0 = key.clone());
                self.keep_below(path, depth, behind);
            }
        }
        self.keep_order(path);
        Ok(())
    }

    /// Sets the key before the child that a path leads to at `depth`, and where else it stands.
    pub(crate) fn set_left_key(&mut self, path: &[Step], depth: usize, key: F::Key) -> Result<()> {
        for depth in (0..=depth).rev() {
            let Step { address, index } = self.step(path, depth)?;
            self.change(address)?.entries.get_mut(index).into_iter().for_each(|entry| entry.0 = key.clone());
            if index > 0 {
                break;
            }
            if let Some(before) = self.neighbour(path, depth, false)? {
                self.change(before)?.last = Some(key.clone());
                self.keep_below(path, depth, before);
            }
        }
        self.keep_order(path);
        Ok(())
    }

    /// The node beside the one at `depth`, found from above: what nodes say of their neighbours is not needed to read a tree.
    fn neighbour(&mut self, path: &[Step], depth: usize, behind: bool) -> Result<Option<u64>> {
        for above in (0..depth).rev() {
            let Step { address, index } = self.step(path, above)?;
            let index = if behind { index.checked_add(1) } else { index.checked_sub(1) };
            let node = self.node(address)?;
            let Some(&(_, mut beside)) = index.and_then(|index| node.entries.get(index)) else { continue };
            for _ in above + 1..depth {
                let entries = &self.node(beside)?.entries;
                let next = if behind { entries.first() } else { entries.last() };
                let Some(&(_, next)) = next else { return Ok(None) };
                beside = next;
            }
            return Ok(Some(beside));
        }
        Ok(None)
    }

    fn step(&self, path: &[Step], depth: usize) -> Result<Step> {
        path.get(depth).copied().ok_or_else(|| Error::broken(F::WHAT, self.root, "a way that leads nowhere"))
    }

    /// The lowest node of a path, above `depth`, that is in the file.
    fn published(&self, path: &[Step], depth: usize) -> Option<u64> {
        let is_fresh =
            |address: &u64| self.nodes.get(address).map_or_else(|| self.file.is_fresh(*address), |node| node.is_fresh);
        path.get(..depth)?.iter().rev().map(|step| step.address).find(|address| !is_fresh(address))
    }

    /// The lowest node of a path that is in the file: when it is written, changes below show.
    pub(crate) fn shown_by(&self, path: &[Step]) -> u64 {
        self.published(path, path.len()).unwrap_or(self.root)
    }

    fn keep_below(&mut self, path: &[Step], depth: usize, block: u64) {
        if let Some(above) = self.published(path, depth) {
            self.orders.insert((above, block));
        }
    }

    fn keep_order(&mut self, path: &[Step]) {
        for (depth, step) in path.iter().enumerate().skip(1) {
            if self.nodes.get(&step.address).is_some_and(|edited| edited.changed) {
                self.keep_below(path, depth, step.address);
            }
        }
    }

    /// Puts all changed nodes, each after the block at `first`, if there is one.
    pub(crate) fn finish(mut self, first: Option<u64>) -> Result<()> {
        let mut blocks = Vec::new();
        for (address, edited) in self.nodes.drain() {
            if edited.changed {
                blocks.push((address, self.form.encode(&self.file, &edited.node)?, edited.node));
            }
        }
        blocks.sort_by_key(|&(address, ..)| address);
        for (address, bytes, node) in blocks {
            self.file.put_decoded(address, Arc::new(bytes), node)?;
            if let Some(first) = first {
                self.file.order_within(first, address)?;
            }
        }
        self.orders.iter().try_for_each(|&(above, below)| self.file.order_within(above, below))
    }
}
