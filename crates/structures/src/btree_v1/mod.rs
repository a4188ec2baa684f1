//! Changing the first kind of B-tree, whatever its keys are.
//!
//! Lives here: how children are added (`add`) and removed (`remove`), node by node. Does not live here: what keys and
//! children mean; that is in `group_tree` and `chunks::btree_v1`.
//!
//! Nodes have no checksums and are changed in place, so the file is kept whole by order: *a node is written before what is below it*. A
//! child that is split is in its parent twice for a moment, and what it lost can be found in its new neighbour before it is taken away.
//! Nodes never change their level, so no order can contradict another. The root stays where it is.

mod add;
mod remove;

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
