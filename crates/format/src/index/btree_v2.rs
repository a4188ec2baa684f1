//! The second kind of B-tree: links, attributes, huge objects, shared messages, chunks of datasets that grow in several dimensions.
//!
//! ```text
//!  header    | BTHD | version 0 | type | node size, 4 | record size, 2 | depth, 2 | split % | merge % | root O | its records, 2 | records L | checksum, 4 |
//!  internal  | BTIN | version 0 | type | records… | children: O | records | (records below) … | checksum, 4 |
//!  leaf      | BTLF | version 0 | type | records… | checksum, 4 |
//! ```

use hyperslab_base::{Reader, Width, Widths};

use crate::Result;

/// What the header says, with the shape of the nodes that follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BtreeV2 {
    /// What the records are.
    pub kind: u8,
    /// How many bytes a node takes.
    pub node_size: u32,
    /// How many bytes a record takes.
    pub record_size: u16,
    /// Levels above the leaves.
    pub depth: u16,
    /// The root node and its records.
    pub root: Pointer,
    /// All records.
    pub records: u64,
    /// Per level from the leaves: the most records of a node, and the width of the count of records below.
    levels: Vec<LevelShape>,
    count_width: Width,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LevelShape {
    max_records: u64,
    below_width: Option<Width>,
}

/// A node and how many records it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// Where it is.
    pub address: Option<u64>,
    /// Its records.
    pub records: u64,
}

/// A node's records, and its children if it has any: one more than records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// The records, each [`BtreeV2::record_size`] bytes.
    pub records: Vec<&'a [u8]>,
    /// The children.
    pub children: Vec<Pointer>,
}

/// Signature, version, type and checksum of a node.
const NODE_FRAME: u64 = 10;

impl BtreeV2 {
    /// How many bytes the header takes.
    pub const fn size(widths: Widths) -> usize {
        16 + widths.offsets.bytes() + 2 + widths.lengths.bytes() + 4
    }

    /// Reads the header.
    pub fn decode(bytes: &[u8], widths: Widths) -> Result<BtreeV2> {
        let mut reader = Reader::new("B-tree header (version 2)", bytes);
        reader.signature(b"BTHD")?;
        reader.version(0..=0)?;
        let kind = reader.u8()?;
        let node_size = reader.u32()?;
        let (record_size, depth) = (reader.u16()?, reader.u16()?);
        reader.skip(2)?; // when nodes are split and merged
        let root = Pointer { address: reader.address(widths)?, records: u64::from(reader.u16()?) };
        let records = reader.length(widths)?;
        reader.checksum(bytes)?;
        let refuse = || reader.refuse("nodes of no possible shape");
        let room = u64::from(node_size).checked_sub(NODE_FRAME).ok_or_else(refuse)?;
        let leaf = room.checked_div(u64::from(record_size)).filter(|&most| most > 0).ok_or_else(refuse)?;
        let count_width = width_of(leaf);
        let mut levels = vec![LevelShape { max_records: leaf, below_width: None }];
        let mut below = leaf;
        for _ in 0..depth {
            let below_width = levels.len().gt(&1).then(|| width_of(below));
            let pointer = (widths.offsets.bytes() + count_width.bytes() + below_width.map_or(0, Width::bytes)) as u64;
            let most = room.saturating_sub(pointer) / (u64::from(record_size) + pointer);
            if most == 0 {
                return Err(refuse());
            }
            levels.push(LevelShape { max_records: most, below_width });
            below = (most + 1).saturating_mul(below).saturating_add(most);
        }
        Ok(BtreeV2 { kind, node_size, record_size, depth, root, records, levels, count_width })
    }

    /// Reads a node at `level` (zero for leaves) that has `count` records.
    pub fn decode_node<'a>(&self, bytes: &'a [u8], level: u16, count: u64, widths: Widths) -> Result<Node<'a>> {
        let mut reader = Reader::new("B-tree node (version 2)", bytes);
        reader.signature(if level == 0 { b"BTLF" } else { b"BTIN" })?;
        reader.version(0..=0)?;
        let kind = reader.u8()?;
        if kind != self.kind {
            return Err(reader.refuse(format!("a node of type {kind} in a tree of type {}", self.kind)));
        }
        let shape = self.levels.get(usize::from(level)).copied();
        let Some(shape) = shape.filter(|shape| count <= shape.max_records) else {
            return Err(reader.refuse(format!("{count} records, more than the node has room for")));
        };
        let records = (0..count).map(|_| reader.take(usize::from(self.record_size))).collect::<Result<_>>()?;
        let mut children = Vec::new();
        if level > 0 {
            for _ in 0..=count {
                let address = reader.address(widths)?;
                let records = reader.uint(self.count_width)?;
                if let Some(width) = shape.below_width {
                    reader.uint(width)?;
                }
                children.push(Pointer { address, records });
            }
        }
        reader.checksum(bytes)?;
        Ok(Node { records, children })
    }
}

/// The fewest bytes that hold a number.
fn width_of(number: u64) -> Width {
    Width::new((64 - number.leading_zeros()).div_ceil(8).max(1) as u8).unwrap_or(Width::W8)
}
