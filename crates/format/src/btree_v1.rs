//! The first kind of B-tree: of groups, and of chunks.
//!
//! ```text
//!  | TREE | type | level | entries, 2 | left sibling O | right sibling O | key | child O | key | … | child O | key |
//!  key of a group   | place of a name in the heap L |
//!  key of a chunk   | size in bytes, 4 | filter mask, 4 | first element, 8 per dimension | first byte of the element, 8 |
//! ```

use hyperslab_base::{Reader, Width, Widths, Writer};

use crate::{Encoded, Result};

/// One node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node<K> {
    /// Zero for a leaf: its children are not nodes.
    pub level: u8,
    /// The node before it on its level.
    pub left: Option<u64>,
    /// The node behind it on its level.
    pub right: Option<u64>,
    /// Key and child, in order.
    pub entries: Vec<(K, u64)>,
    /// The key behind the last child, which bounds it. A node without children may have none.
    pub last: Option<K>,
}

/// The key of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkKey {
    /// How many bytes are stored.
    pub size: u32,
    /// Which filters were skipped: bit n stands for the n-th of the pipeline.
    pub mask: u32,
    /// The chunk's first element, per dimension.
    pub start: Vec<u64>,
    /// The place in the element, as if its bytes were one more dimension; not zero only in keys that bound a node.
    pub byte: u64,
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

const GROUP: u8 = 0;
const CHUNKS: u8 = 1;
const WHAT: &str = "B-tree node (version 1)";

/// Reads a node of a group's tree. The keys are places of names in the local heap.
pub fn decode_group(bytes: &[u8], widths: Widths) -> Result<Node<u64>> {
    decode(bytes, widths, GROUP, |reader| reader.length(widths))
}

/// Reads a node of a chunk tree, for a dataset of `rank` dimensions. The children of leaves are addresses of chunks.
pub fn decode_chunks(bytes: &[u8], rank: usize, widths: Widths) -> Result<Node<ChunkKey>> {
    decode(bytes, widths, CHUNKS, |reader| {
        let (size, mask) = (reader.u32()?, reader.u32()?);
        let start = (0..rank).map(|_| reader.u64()).collect::<Result<_>>()?;
        Ok(ChunkKey { size, mask, start, byte: reader.u64()? })
    })
}

fn decode<K>(bytes: &[u8], widths: Widths, kind: u8, key: impl Fn(&mut Reader<'_>) -> Result<K>) -> Result<Node<K>> {
    let mut reader = Reader::new(WHAT, bytes);
    reader.signature(b"TREE")?;
    let found = reader.u8()?;
    if found != kind {
        return Err(reader.refuse(format!("a node of type {found} where one of type {kind} belongs")));
    }
    let level = reader.u8()?;
    let count = reader.u16()?;
    let (left, right) = (reader.address(widths)?, reader.address(widths)?);
    let mut entries = Vec::with_capacity(usize::from(count).min(reader.left() / widths.offsets.bytes()));
    for _ in 0..count {
        let key = key(&mut reader)?;
        let child = reader.address(widths)?.ok_or_else(|| reader.refuse("a child without an address"))?;
        entries.push((key, child));
    }
    // A file may end before the key that only writers need.
    let last = key(&mut reader).ok();
    Ok(Node { level, left, right, entries, last })
}

impl Node<u64> {
    /// Writes a node of a group's tree, with room for `2 * k` children.
    pub fn encode(&self, k: u16, widths: Widths) -> Encoded {
        let size = node_size(k, widths.lengths.bytes(), widths);
        encode(self, GROUP, size, widths, |writer, key| writer.length("key", widths, *key))
    }
}

impl Node<ChunkKey> {
    /// Writes a node of a chunk tree, for a dataset of `rank` dimensions and with room for `2 * k` children.
    pub fn encode(&self, k: u16, rank: usize, widths: Widths) -> Encoded {
        let size = node_size(k, chunk_key_size(rank), widths);
        encode(self, CHUNKS, size, widths, |writer, key| {
            if key.start.len() != rank {
                return Err(writer.refuse("key", format!("{} dimensions where {rank} belong", key.start.len())));
            }
            writer.u32(key.size);
            writer.u32(key.mask);
            key.start.iter().for_each(|&start| writer.u64(start));
            writer.u64(key.byte);
            Ok(())
        })
    }
}

fn encode<K>(
    node: &Node<K>,
    kind: u8,
    size: usize,
    widths: Widths,
    key: impl Fn(&mut Writer, &K) -> Encoded<()>,
) -> Encoded {
    let mut writer = Writer::new(WHAT);
    writer.extend(b"TREE");
    writer.extend(&[kind, node.level]);
    writer.count("entries", Width::W2, node.entries.len())?;
    writer.address("left sibling", widths, node.left)?;
    writer.address("right sibling", widths, node.right)?;
    for (before, child) in &node.entries {
        key(&mut writer, before)?;
        writer.address("child", widths, Some(*child))?;
    }
    match &node.last {
        Some(last) => key(&mut writer, last)?,
        None if node.entries.is_empty() => {}
        None => return Err(writer.refuse("last key", "it is missing")),
    }
    writer.fill_to("entries", size)?;
    Ok(writer.into_bytes())
}
