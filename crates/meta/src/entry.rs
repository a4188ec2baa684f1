//! What the cache holds.

use std::sync::Arc;

use crate::Failure;

/// The bytes of an entry. Shared, so that one that has its bytes is written from where they are.
pub type Encoded = Arc<Vec<u8>>;

/// A block of a file as a value.
pub trait Entry: Send + Sync + 'static {
    /// The bytes that go to the file, all of them.
    fn encode(&self) -> Result<Encoded, Failure>;

    /// About how much memory the value takes; what the budget counts.
    fn footprint(&self) -> usize;
}

/// Which object an entry belongs to, by the address of its header. Entries of an object are flushed and evicted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Owner(pub u64);

impl Owner {
    /// The file as a whole, or an object that is not known yet. An entry of this owner belongs to the first object that asks for it.
    pub const FILE: Owner = Owner(0);
}

/// The order of last resort: entries of a ring are written when no entry of a ring before it is dirty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ring {
    /// Blocks that nothing in the file names yet: they may be written before everything else, in any order. Once written, they are the user's.
    Fresh,
    /// Objects and their structures.
    User,
    /// Free space: settled when nothing is allocated any more.
    FreeSpace,
    /// The superblock's extension.
    Extension,
    /// The superblock: last of all.
    Superblock,
}

/// Where an entry belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// When it is written at the earliest.
    pub ring: Ring,
    /// Which object it is part of.
    pub owner: Owner,
}

impl Membership {
    /// A part of an object that nothing in the file names yet.
    pub fn fresh(owner: Owner) -> Membership {
        Membership { ring: Ring::Fresh, owner }
    }

    /// A part of an object.
    pub fn user(owner: Owner) -> Membership {
        Membership { ring: Ring::User, owner }
    }
}

impl Ring {
    /// All rings, in the order in which they are written.
    pub const ALL: [Ring; 5] = [Ring::Fresh, Ring::User, Ring::FreeSpace, Ring::Extension, Ring::Superblock];
}
