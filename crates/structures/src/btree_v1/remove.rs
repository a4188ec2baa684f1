//! Removing a child, and the nodes that are empty without it.

use hyperslab_file::{Error, Result};

use super::{Editor, Form, Step};

impl<F: Form> Editor<'_, F> {
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
}
