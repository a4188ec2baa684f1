//! Which versions libhdf5 writes. The lower bound of a file asks for a version; what the version cannot hold raises it.
//!
//! | lower bound | superblock | header | groups | dataspace | fill value | chunked layout | pipeline | attribute |
//! |---|---|---|---|---|---|---|---|---|
//! | earliest | 0 | 1 | old | 1 | 2 | 3 | 1 | 1 |
//! | 1.8 | 2 | 2 | new | 2 | 3 | 3 | 2 | 3 |
//! | 1.10, 1.12, 1.14 | 3 | 2 | new | 2 | 3 | 4 | 2 | 3 |
//! | 2.0 | 3 | 2 | new | 2 | 3 | 4, filtered 5 | 2 | 3 |
//!
//! Chunks of 4 GiB and more and structured chunks have version 5 of the layout under any bound. Layouts that are not chunked have version 3, virtual ones 4.
//! Structured chunks, which libhdf5 does not write yet, need version 3 of the superblock and have their filters in a message of their own, of version 1.
//! Datatypes have their own table, `hyperslab_dtype::Version`; selections have theirs in `hyperslab_space`.

use hyperslab_space::{Extent, UNLIMITED};

pub use hyperslab_space::LibVersion;

use crate::{
    Sections,
    message::{AllocTime, ArrayShape, CharSet, ChunkIndex, ChunkStructure, Layout, Link, Shared, Target},
    superblock::DEFAULT_CHUNK_K,
};

/// What a new file has beyond the usual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileNeeds {
    /// One process writes while others read.
    pub swmr: bool,
    /// It has a table of shared messages, or its space is not managed as usual.
    pub extension: bool,
    /// Half the number of children of a chunk B-tree node.
    pub chunk_internal_k: u16,
}

impl Default for FileNeeds {
    fn default() -> FileNeeds {
        FileNeeds { swmr: false, extension: false, chunk_internal_k: DEFAULT_CHUNK_K }
    }
}

/// The version of the superblock of a new file.
///
/// ```
/// use hyperslab_format::version::{FileNeeds, LibVersion, superblock};
/// assert_eq!(superblock(LibVersion::Earliest, FileNeeds::default()), 0);
/// assert_eq!(superblock(LibVersion::Earliest, FileNeeds { chunk_internal_k: 64, ..FileNeeds::default() }), 1);
/// assert_eq!(superblock(LibVersion::V114, FileNeeds::default()), 3);
/// ```
pub fn superblock(libver_min: LibVersion, needs: FileNeeds) -> u8 {
    let least = match libver_min {
        LibVersion::Earliest => 0,
        LibVersion::V18 => 2,
        _ => 3,
    };
    let needed = match needs {
        FileNeeds { swmr: true, .. } => 3,
        FileNeeds { extension: true, .. } => 2,
        FileNeeds { chunk_internal_k: DEFAULT_CHUNK_K, .. } => 0,
        _ => 1,
    };
    needed.max(least)
}

/// The version of a new object header; `ordered` if it remembers the order in which its messages were made.
pub fn object_header(libver_min: LibVersion, ordered: bool) -> u8 {
    if ordered { 2 } else { one_then(libver_min, 2) }
}

/// Whether a new group is of the new kind, with link messages; `tracked` if links remember the order in which they were made,
/// `filtered` if their heap has filters.
pub fn new_group(libver_min: LibVersion, tracked: bool, filtered: bool) -> bool {
    libver_min >= LibVersion::V18 || tracked || filtered
}

/// Whether a group of the old kind can hold a link; one that it cannot hold makes a new kind of group of it.
pub fn old_group_holds(link: &Link) -> bool {
    link.charset == CharSet::Ascii && matches!(link.target, Target::Hard(_) | Target::Soft(_))
}

/// The version of the dataspace message.
pub fn dataspace(libver_min: LibVersion, is_null: bool) -> u8 {
    if is_null { 2 } else { one_then(libver_min, 2) }
}

/// The version of the fill value message.
pub fn fill_value(libver_min: LibVersion) -> u8 {
    if libver_min == LibVersion::Earliest { 2 } else { 3 }
}

/// Whether a fill value that the user gave is also written in its first form.
pub fn old_fill_value(libver_min: LibVersion) -> bool {
    libver_min == LibVersion::Earliest
}

/// Whether the modification time of a dataset is a message; else version 2 of the header has it.
pub fn modification_time(libver_min: LibVersion) -> bool {
    libver_min == LibVersion::Earliest
}

/// The version of the data layout message; `filtered` if chunks go through filters.
///
/// ```
/// use hyperslab_format::{message::{ChunkIndex, ChunkStructure, Layout}, version::{LibVersion, data_layout}};
/// let contiguous = Layout::Contiguous { address: None, size: Some(8) };
/// assert_eq!(data_layout(LibVersion::V200, &contiguous, false), 3);
/// let chunked = |structure| {
///     let (chunk, index) = (vec![10], ChunkIndex::FixedArray { page_bits: 10 });
///     Layout::Chunked { structure, chunk, element_size: 4, plain_edges: false, index, address: None }
/// };
/// assert_eq!(data_layout(LibVersion::V114, &chunked(None), true), 4);
/// assert_eq!(data_layout(LibVersion::V200, &chunked(None), true), 5);
/// assert_eq!(data_layout(LibVersion::V110, &chunked(Some(ChunkStructure::Sparse)), false), 5);
/// ```
pub fn data_layout(libver_min: LibVersion, layout: &Layout, filtered: bool) -> u8 {
    match layout {
        Layout::Compact(_) | Layout::Contiguous { .. } => 3,
        Layout::Virtual { .. } => 4,
        Layout::Chunked { structure: Some(_), .. } => 5,
        Layout::Chunked { structure: None, chunk, element_size, .. } => {
            let bytes = chunk.iter().fold(*element_size, |bytes, size| bytes.saturating_mul(*size));
            if bytes > u64::from(u32::MAX) || libver_min >= LibVersion::V200 && filtered {
                5
            } else if libver_min >= LibVersion::V110 {
                4
            } else {
                3
            }
        }
    }
}

/// How the chunks of a new dataset are found, with the parameters that libhdf5 takes; `layout_version` comes from [`data_layout`].
///
/// ```
/// use hyperslab_format::{message::{AllocTime, ChunkIndex}, version::chunk_index};
/// use hyperslab_space::Extent;
/// let index = |dims: &[u64], max: &[Option<u64>]| {
///     chunk_index(4, &Extent::with_max(dims, max).unwrap(), &[5, 5], false, AllocTime::Incremental)
/// };
/// assert_eq!(index(&[5, 5], &[Some(5), Some(5)]), ChunkIndex::Single(None));
/// assert_eq!(index(&[9, 9], &[Some(9), Some(9)]), ChunkIndex::FixedArray { page_bits: 10 });
/// assert!(matches!(index(&[9, 9], &[None, Some(9)]), ChunkIndex::ExtensibleArray(_)));
/// assert!(matches!(index(&[9, 9], &[None, None]), ChunkIndex::BtreeV2 { .. }));
/// ```
pub fn chunk_index(layout_version: u8, extent: &Extent, chunk: &[u64], filtered: bool, alloc: AllocTime) -> ChunkIndex {
    if layout_version < 4 {
        return ChunkIndex::BtreeV1;
    }
    if has_one_chunk(extent, chunk) {
        return ChunkIndex::Single(filtered.then_some(Sections::one(0, 0)));
    }
    match array_or_tree(extent) {
        ChunkIndex::FixedArray { .. } if !filtered && alloc == AllocTime::Early => ChunkIndex::Implicit,
        index => index,
    }
}

/// How the structured chunks of a new dataset are found: as ordinary ones, but never without what the index says of a chunk.
///
/// ```
/// use hyperslab_format::{Sections, message::{ChunkIndex, ChunkStructure}, version::structured_chunk_index};
/// use hyperslab_space::Extent;
/// let index = |dims: &[u64], filtered| {
///     let extent = Extent::with_max(dims, &[Some(9), Some(9)]).unwrap();
///     structured_chunk_index(&extent, &[9, 9], ChunkStructure::SparseVlen, filtered)
/// };
/// assert_eq!(index(&[9, 9], true), ChunkIndex::Single(Some(Sections::nothing(3, true))));
/// assert_eq!(index(&[5, 9], true), ChunkIndex::FixedArray { page_bits: 10 });
/// ```
pub fn structured_chunk_index(extent: &Extent, chunk: &[u64], structure: ChunkStructure, filtered: bool) -> ChunkIndex {
    if has_one_chunk(extent, chunk) {
        return ChunkIndex::Single(Some(Sections::nothing(structure.sections(), filtered)));
    }
    array_or_tree(extent)
}

/// Whether all values of a dataset are in one chunk for ever.
fn has_one_chunk(extent: &Extent, chunk: &[u64]) -> bool {
    extent.dims() == extent.max() && extent.dims() == chunk
}

/// The index of chunks that takes an entry for each: which one depends on the number of dimensions without a limit.
fn array_or_tree(extent: &Extent) -> ChunkIndex {
    match extent.max().iter().filter(|&&max| max == UNLIMITED).count() {
        0 => ChunkIndex::FixedArray { page_bits: 10 },
        1 => ChunkIndex::ExtensibleArray(ArrayShape {
            count_bits: 32,
            in_index: 4,
            min_blocks: 4,
            min_elements: 16,
            page_bits: 10,
        }),
        _ => CHUNK_TREE,
    }
}

/// The tree of chunks of layouts from version 4 on.
pub const CHUNK_TREE: ChunkIndex = ChunkIndex::BtreeV2 { node_size: 2048, split: 100, merge: 40 };

/// The version of the filter pipeline message.
pub fn filter_pipeline(libver_min: LibVersion) -> u8 {
    one_then(libver_min, 2)
}

/// The version of the attribute message; `shared` if its datatype or dataspace is somewhere else.
pub fn attribute(libver_min: LibVersion, charset: CharSet, shared: bool) -> u8 {
    let needed = match charset {
        CharSet::Utf8 => 3,
        CharSet::Ascii if shared => 2,
        CharSet::Ascii => 1,
    };
    needed.max(one_then(libver_min, 3))
}

/// The version of the body of a shared message; the lower bound does not matter.
pub fn shared(place: &Shared) -> u8 {
    match place {
        Shared::Heap(_) => 3,
        Shared::Committed(_) => 2,
    }
}

/// Version 1 for the earliest bound, `later` for all others.
fn one_then(libver_min: LibVersion, later: u8) -> u8 {
    if libver_min == LibVersion::Earliest { 1 } else { later }
}
