//! The first kind of B-tree: of groups, and of chunks.
//!
//! ```text
//!  | TREE | type | level | entries, 2 | left sibling O | right sibling O | key | child O | key | … | child O | key |
//!  key of a group   | place of a name in the heap L |
//!  key of a chunk   | size in bytes, 4 | filter mask, 4 | first element, 8 per dimension | 0, 8 |
//! ```

use hyperslab_base::{Reader, Widths};

use crate::{ChunkEntry, Result};

/// One node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node<K> {
    /// Zero for a leaf: its children are not nodes.
    pub level: u8,
    /// Key and child; the key after the last child bounds it and is left out.
    pub entries: Vec<(K, u64)>,
}

/// The bytes before the first key.
pub const fn head_size(widths: Widths) -> usize {
    8 + 2 * widths.offsets.bytes()
}

/// How many bytes a node takes that has room for `2 * k` children and keys of `key_size`.
pub const fn node_size(k: u16, key_size: usize, widths: Widths) -> usize {
    let children = 2 * k as usize;
    head_size(widths) + children * widths.offsets.bytes() + (children + 1) * key_size
}

/// The bytes of a chunk's key, for a dataset of `rank` dimensions.
pub const fn chunk_key_size(rank: usize) -> usize {
    8 + 8 * (rank + 1)
}

/// Reads a node of a group's tree. The keys are places of names in the local heap.
pub fn decode_group(bytes: &[u8], widths: Widths) -> Result<Node<u64>> {
    decode(bytes, widths, 0, |reader| reader.length(widths))
}

/// Reads a node of a chunk tree, for a dataset of `rank` dimensions. The children of leaves are addresses of chunks.
pub fn decode_chunks(bytes: &[u8], rank: usize, widths: Widths) -> Result<Node<ChunkEntry>> {
    decode(bytes, widths, 1, |reader| {
        let (size, mask) = (u64::from(reader.u32()?), reader.u32()?);
        let start = (0..rank).map(|_| reader.u64()).collect::<Result<_>>()?;
        reader.skip(8)?;
        Ok(ChunkEntry { start, address: None, size, mask })
    })
}

fn decode<K>(bytes: &[u8], widths: Widths, kind: u8, key: impl Fn(&mut Reader<'_>) -> Result<K>) -> Result<Node<K>> {
    let mut reader = Reader::new("B-tree node (version 1)", bytes);
    reader.signature(b"TREE")?;
    let found = reader.u8()?;
    if found != kind {
        return Err(reader.refuse(format!("a node of type {found} where one of type {kind} belongs")));
    }
    let level = reader.u8()?;
    let count = reader.u16()?;
    reader.address(widths)?; // siblings: the tree is walked from above
    reader.address(widths)?;
    let mut entries = Vec::with_capacity(usize::from(count).min(reader.left() / widths.offsets.bytes()));
    for _ in 0..count {
        let key = key(&mut reader)?;
        let child = reader.address(widths)?.ok_or_else(|| reader.refuse("a child without an address"))?;
        entries.push((key, child));
    }
    Ok(Node { level, entries })
}
