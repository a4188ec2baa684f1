//! Blocks that are in memory as decoded structures, and are encoded when they are written.
//!
//! A structure that changes many times between two flushes is encoded and gets its checksum once. The order in which blocks are written does not
//! depend on which form they have in memory.

use std::{any::Any, sync::Arc};

use crate::{OpenFile, Result, store::CachedBlock};

/// A block as a value.
pub trait Structure: Any + Send + Sync {
    /// The bytes of the block, all of them.
    fn encode(&self) -> Result<Vec<u8>>;

    /// About how many bytes of memory the value takes.
    fn footprint(&self) -> usize;
}

impl OpenFile {
    /// The structure at `address` from now on: a new one, or a changed one.
    pub fn put_structure(&self, address: u64, structure: Arc<dyn Structure>) -> Result<()> {
        self.put_block(address, CachedBlock::of(structure))
    }
}
