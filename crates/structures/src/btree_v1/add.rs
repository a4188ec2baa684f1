//! Adding a child, and the nodes that are split to make room for it.

use hyperslab_file::{Error, Kind, Result};
use hyperslab_format::btree_v1::Node;

use super::{Edited, Editor, Form, Step};

impl<F: Form> Editor<'_, F> {
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
        let at = at.min(node.entries.len());
        node.entries.insert(at, entry);
        if node.entries.len() <= most {
            return Ok(());
        }
        if most < 2 {
            return Err(Error::broken(F::WHAT, address, "the superblock says that it has no room"));
        }
        let count = stays(node, (index, at), most);
        let right = Node {
            level: node.level,
            left: Some(address),
            right: node.right,
            entries: node.entries.split_off(count),
            last: node.last.take(),
        };
        let border = right.entries.first().map(|(key, _)| key.clone());
        let Some(border) = border else { return Err(Error::broken(F::WHAT, address, "there is nothing to split")) };
        node.last = Some(border.clone());
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
}

/// How many children stay in a node that is full and got one more, at `at`, since the child at `index` was split. As libhdf5 has it, unless two fill a node.
fn stays<K>(node: &Node<K>, (index, at): (usize, usize), most: usize) -> usize {
    if most == 2 {
        // The next child of a row finds room beside this one. If it did not, each one would split all nodes up to the root.
        return at.clamp(1, 2);
    }
    // Most nodes at the right end got there one after the other, so that little is added to the left of them later.
    let count = match (node.left, node.right) {
        (_, None) => most * 9 / 10,
        (None, _) => (most / 10).max(1),
        _ => most / 2,
    };
    // The new child stays with the one that it was split from.
    count + usize::from(index < count)
}
