//! The second kind of B-tree: links, attributes, huge objects, shared messages, chunks of datasets that grow in several dimensions.
//!
//! ```text
//!  header    | BTHD | version | type | node size, 4 | record size, 2 | depth, 2 | split % | merge % | root O | its records, 2 | records L | checksum, 4 |
//!  internal  | BTIN | version 0 | type | records… | children: O | records | (records below) … | checksum, 4 |
//!  leaf      | BTLF | version 0 | type | records… | checksum, 4 |
//! ```

use std::sync::Arc;

use hyperslab_base::{Reader, Width, Widths, Writer};

use super::{Client, VERSIONS};
use crate::{Encoded, Result};

/// What the header says, with the shape of the nodes that follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BtreeV2 {
    /// The version of the header.
    pub version: u8,
    /// What the records are.
    pub kind: u8,
    /// How many bytes a node takes.
    pub node_size: u32,
    /// How many bytes a record takes.
    pub record_size: u16,
    /// Levels above the leaves.
    pub depth: u16,
    /// How full a node must be to be split, in percent.
    pub split: u8,
    /// How empty a node must be to be merged, in percent.
    pub merge: u8,
    /// The root node and its records.
    pub root: Pointer,
    /// All records.
    pub records: u64,
    /// Per level from the leaves: the most records of a node, and the width of the count of records below.
    levels: Arc<[LevelShape]>,
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
    /// Its records and those below it.
    pub below: u64,
}

/// What a tree is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What the records are.
    pub kind: u8,
    /// How many bytes a node takes.
    pub node_size: u32,
    /// How many bytes a record takes.
    pub record_size: u16,
    /// How full a node must be to be split, in percent.
    pub split: u8,
    /// How empty a node must be to be merged, in percent.
    pub merge: u8,
}

/// What the nodes of one level of a tree have in common: all that is needed to write one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeShape {
    kind: u8,
    level: u16,
    node_size: u32,
    record_size: u16,
    of_level: LevelShape,
    count_width: Width,
}

/// A node's records, and its children if it has any: one more than records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// The records, each [`BtreeV2::record_size`] bytes.
    pub records: Vec<&'a [u8]>,
    /// The children.
    pub children: Vec<Pointer>,
}

/// The name of a node in errors.
const NODE: &str = "B-tree node (version 2)";

/// Signature, version, type and checksum of a node.
const NODE_FRAME: u64 = 10;

/// Every node above the leaves has two children at least, and records are counted with 64 bits.
const MAX_DEPTH: u16 = 64;

impl BtreeV2 {
    /// How many bytes the header takes.
    pub const fn size(widths: Widths) -> usize {
        16 + widths.offsets.bytes() + 2 + widths.lengths.bytes() + 4
    }

    /// Reads the header.
    pub fn decode(bytes: &[u8], widths: Widths) -> Result<BtreeV2> {
        let mut reader = Reader::new("B-tree header (version 2)", bytes);
        reader.signature(b"BTHD")?;
        let version = reader.version(VERSIONS)?;
        reader.sealed(Self::size(widths))?;
        let kind = reader.u8()?;
        let node_size = reader.u32()?;
        let (record_size, depth) = (reader.u16()?, reader.u16()?);
        let [split, merge] = reader.array()?;
        let (address, root_records) = (reader.address(widths)?, u64::from(reader.u16()?));
        let records = reader.length(widths)?;
        if depth > MAX_DEPTH {
            return Err(reader.refuse(format!("a tree of {depth} levels")));
        }
        let shape = Shape { kind, node_size, record_size, split, merge };
        let root = Pointer { address, records: root_records, below: records };
        let tree = BtreeV2::new(shape, depth, root, widths);
        tree.map(|tree| BtreeV2 { version, ..tree }).ok_or_else(|| reader.refuse("nodes of no possible shape"))
    }

    /// A tree of this shape; none if its nodes would have no room for a record.
    ///
    /// ```
    /// use hyperslab_format::{Widths, index::btree_v2::{BtreeV2, Pointer, Shape}};
    /// let shape = Shape { kind: 5, node_size: 512, record_size: 11, split: 100, merge: 40 };
    /// let tree = BtreeV2::new(shape, 0, Pointer { address: None, records: 0, below: 0 }, Widths::EIGHT).unwrap();
    /// assert_eq!(tree.max_records(0), Some(45));
    /// let bytes = tree.encode(Widths::EIGHT)?;
    /// assert_eq!(BtreeV2::decode(&bytes, Widths::EIGHT).unwrap(), tree);
    /// # Ok::<(), hyperslab_format::Unfit>(())
    /// ```
    pub fn new(shape: Shape, depth: u16, root: Pointer, widths: Widths) -> Option<BtreeV2> {
        let Shape { kind, node_size, record_size, split, merge } = shape;
        let room = u64::from(node_size).checked_sub(NODE_FRAME)?;
        let leaf = room.checked_div(u64::from(record_size)).filter(|&most| most > 0)?;
        let count_width = Width::of(leaf);
        let mut levels = vec![LevelShape { max_records: leaf, below_width: None }];
        let mut below = leaf;
        for _ in 0..depth {
            let below_width = levels.len().gt(&1).then(|| Width::of(below));
            let pointer = (widths.offsets.bytes() + count_width.bytes() + below_width.map_or(0, Width::bytes)) as u64;
            let most = room.saturating_sub(pointer) / (u64::from(record_size) + pointer);
            if most == 0 {
                return None;
            }
            levels.push(LevelShape { max_records: most, below_width });
            below = (most + 1).saturating_mul(below).saturating_add(most);
        }
        let (version, records) = (Client::of_record_kind(kind).map_or(0, Client::version), root.below);
        let levels = levels.into();
        Some(BtreeV2 { version, kind, node_size, record_size, depth, split, merge, root, records, levels, count_width })
    }

    /// The same tree with another depth; none if its nodes would have no room for a record.
    pub fn of_depth(&self, depth: u16, widths: Widths) -> Option<BtreeV2> {
        let BtreeV2 { version, kind, node_size, record_size, split, merge, root, .. } = *self;
        let tree = BtreeV2::new(Shape { kind, node_size, record_size, split, merge }, depth, root, widths)?;
        Some(BtreeV2 { version, ..tree })
    }

    /// The most records of a node at `level`, zero for leaves.
    pub fn max_records(&self, level: u16) -> Option<u64> {
        self.levels.get(usize::from(level)).map(|shape| shape.max_records)
    }

    /// Writes the header.
    pub fn encode(&self, widths: Widths) -> Encoded {
        let mut writer = Writer::new("B-tree header (version 2)");
        writer.extend(b"BTHD");
        writer.extend(&[self.version, self.kind]);
        writer.u32(self.node_size);
        writer.u16(self.record_size);
        writer.u16(self.depth);
        writer.extend(&[self.split, self.merge]);
        writer.address("root", widths, self.root.address)?;
        writer.uint("records of the root", Width::W2, self.root.records)?;
        writer.length("records", widths, self.records)?;
        writer.checksum();
        Ok(writer.into_bytes())
    }

    /// Reads a node at `level` (zero for leaves) that has `count` records.
    pub fn decode_node<'a>(&self, bytes: &'a [u8], level: u16, count: u64, widths: Widths) -> Result<Node<'a>> {
        let mut reader = Reader::new(NODE, bytes);
        reader.signature(if level == 0 { b"BTLF" } else { b"BTIN" })?;
        reader.version(0..=0)?;
        let shape = self.levels.get(usize::from(level)).copied();
        let Some(shape) = shape.filter(|shape| count <= shape.max_records) else {
            return Err(reader.refuse(format!("{count} records, more than the node has room for")));
        };
        let pointer = widths.offsets.bytes() + self.count_width.bytes() + shape.below_width.map_or(0, Width::bytes);
        let pointers = if level > 0 { (count as usize + 1) * pointer } else { 0 };
        reader.sealed(NODE_FRAME as usize + count as usize * usize::from(self.record_size) + pointers)?;
        let kind = reader.u8()?;
        if kind != self.kind {
            return Err(reader.refuse(format!("a node of type {kind} in a tree of type {}", self.kind)));
        }
        let records = (0..count).map(|_| reader.take(usize::from(self.record_size))).collect::<Result<_>>()?;
        let mut children = Vec::new();
        if level > 0 {
            for _ in 0..=count {
                let address = reader.address(widths)?;
                let records = reader.uint(self.count_width)?;
                let below = shape.below_width.map(|width| reader.uint(width)).transpose()?;
                children.push(Pointer { address, records, below: below.unwrap_or(records) });
            }
        }
        Ok(Node { records, children })
    }

    /// What the nodes at `level` have in common; none above the root.
    pub fn shape(&self, level: u16) -> Option<NodeShape> {
        let BtreeV2 { kind, node_size, record_size, count_width, .. } = *self;
        let of_level = self.levels.get(usize::from(level)).copied()?;
        Some(NodeShape { kind, level, node_size, record_size, of_level, count_width })
    }

    /// Writes a node at `level`, zero for leaves.
    pub fn encode_node(&self, node: &Node<'_>, level: u16, widths: Widths) -> Encoded {
        let writer = Writer::new(NODE);
        let Some(shape) = self.shape(level) else {
            return Err(writer.refuse("level", format!("{level}, above the root at {}", self.depth)));
        };
        let size = usize::from(self.record_size);
        if let Some(record) = node.records.iter().find(|record| record.len() != size) {
            return Err(writer.refuse("record", format!("{} bytes where {size} belong", record.len())));
        }
        shape.encode(&node.records.concat(), &node.children, widths)
    }
}

impl NodeShape {
    /// How many bytes a record takes.
    pub fn record_size(&self) -> usize {
        usize::from(self.record_size)
    }

    /// Writes a node with these records, one after the other, and these children: one more than records, or none in a leaf.
    pub fn encode(&self, records: &[u8], children: &[Pointer], widths: Widths) -> Encoded {
        let mut writer = Writer::sized(NODE, self.node_size as usize);
        let (count, rest) = (records.len() / self.record_size().max(1), records.len() % self.record_size().max(1));
        if rest != 0 {
            return Err(writer.refuse("record", format!("{rest} bytes where {} belong", self.record_size)));
        }
        if count as u64 > self.of_level.max_records {
            return Err(writer.refuse("records", format!("{count}, more than the node has room for")));
        }
        let wanted = if self.level == 0 { 0 } else { count + 1 };
        if children.len() != wanted {
            return Err(writer.refuse("children", format!("{} where {wanted} belong", children.len())));
        }
        writer.extend(if self.level == 0 { b"BTLF" } else { b"BTIN" });
        writer.extend(&[0, self.kind]);
        writer.extend(records);
        for child in children {
            writer.address("child", widths, child.address)?;
            writer.uint("records of a child", self.count_width, child.records)?;
            match self.of_level.below_width {
                Some(width) => writer.uint("records below a child", width, child.below)?,
                None if child.below == child.records => {}
                None => return Err(writer.refuse("records below a child", "a leaf has none but its own")),
            }
        }
        writer.checksum();
        writer.fill_to("records", self.node_size as usize)?;
        Ok(writer.into_bytes())
    }
}
