//! What a range of the file holds: the document's `H5FD_mem_t`.
//!
//! Lives here: the seven memory types. Does not live here: where each goes (that is [`Multi`](crate::Multi)). Every
//! request names one.

/// What the bytes of a request are, as `H5FD_mem_t` tells it.
///
/// The document's `H5FD_MEM_NOLIST`, which ends a shortened list of types, is no memory type: such a list has
/// `Option<MemoryType>` entries and `None` ends it, see [`vector::read_parts`](crate::vector::read_parts).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum MemoryType {
    /// Not told, or of no matter.
    #[default]
    Default,
    /// The superblock and what belongs to it.
    Superblock,
    /// B-tree nodes.
    Btree,
    /// Values of datasets.
    RawData,
    /// Global heap collections.
    GlobalHeap,
    /// Local heaps.
    LocalHeap,
    /// Object headers.
    ObjectHeader,
}

impl MemoryType {
    /// All types that a file can map to a place of their own: all but [`MemoryType::Default`].
    pub const MAPPED: [MemoryType; 6] = [
        MemoryType::Superblock,
        MemoryType::Btree,
        MemoryType::RawData,
        MemoryType::GlobalHeap,
        MemoryType::LocalHeap,
        MemoryType::ObjectHeader,
    ];
}
