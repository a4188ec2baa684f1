//! Blocks that are in memory as decoded structures, and are encoded when they are written.
//!
//! A structure that changes many times between two flushes is encoded and gets its checksum once. The order in which blocks are written does not
//! depend on which form they have in memory.

use std::any::Any;

use crate::Result;

/// A block as a value.
pub trait Structure: Any + Send + Sync {
    /// The bytes of the block, all of them.
    fn encode(&self) -> Result<Vec<u8>>;

    /// About how many bytes of memory the value takes.
    fn footprint(&self) -> usize;
}
