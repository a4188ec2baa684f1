//! Which entries belong to which object.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{Id, Owner};

/// The entries of each owner, but for the one at the owner's own address: that is found by its address, and most objects have no other.
#[derive(Default)]
pub(crate) struct Owners {
    further: FxHashMap<Owner, FxHashSet<Id>>,
}

impl Owners {
    /// The entry at `address` belongs to an owner.
    pub(crate) fn add(&mut self, owner: Owner, address: u64, id: Id) {
        if owner.0 != address {
            self.further.entry(owner).or_default().insert(id);
        }
    }

    /// The entry at `address` no longer belongs to an owner.
    pub(crate) fn remove(&mut self, owner: Owner, address: u64, id: Id) {
        if owner.0 != address
            && let Some(further) = self.further.get_mut(&owner)
        {
            further.remove(&id);
            if further.is_empty() {
                self.further.remove(&owner);
            }
        }
    }

    /// The entries of an owner at other addresses than its own.
    pub(crate) fn further(&self, owner: Owner) -> impl Iterator<Item = Id> {
        self.further.get(&owner).into_iter().flatten().copied()
    }
}
