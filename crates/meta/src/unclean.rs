//! The entries that are not clean, by ring.

use crate::{Id, Ring};

/// The entries of each ring that are not clean, in no order. Each entry knows its position in the list of its ring.
#[derive(Default)]
pub(crate) struct Unclean {
    rings: [Vec<Id>; Ring::ALL.len()],
}

impl Unclean {
    /// Adds an entry; its position.
    pub(crate) fn add(&mut self, ring: Ring, id: Id) -> usize {
        let Some(list) = self.rings.get_mut(ring as usize) else { return 0 };
        list.push(id);
        list.len() - 1
    }

    /// Takes out the entry at a position, which goes to the last one of the list: that one, if there is another.
    pub(crate) fn remove(&mut self, ring: Ring, at: usize) -> Option<Id> {
        let list = self.rings.get_mut(ring as usize).filter(|list| at < list.len())?;
        list.swap_remove(at);
        list.get(at).copied()
    }

    /// The entries of all rings up to `last`.
    pub(crate) fn up_to(&self, last: Ring) -> impl Iterator<Item = Id> {
        self.rings.iter().take(last as usize + 1).flatten().copied()
    }

    /// How many entries the rings up to `last` have.
    pub(crate) fn count(&self, last: Ring) -> usize {
        self.rings.iter().take(last as usize + 1).map(Vec::len).sum()
    }

    /// Whether the rings before this one have none.
    pub(crate) fn is_clean_before(&self, ring: Ring) -> bool {
        self.rings.iter().take(ring as usize).all(Vec::is_empty)
    }

    /// How many entries each ring has.
    pub(crate) fn counts(&self) -> [usize; Ring::ALL.len()] {
        self.rings.each_ref().map(Vec::len)
    }
}
