//! Groups of the old kind: symbol table entries, and the nodes that hold them.
//!
//! ```text
//!  entry  | link name L | object header O | what is cached, 4 | 0, 4 | cache, 16 |
//!  node   | SNOD | version 1 | 0 | symbols, 2 | entries… |
//! ```

use hyperslab_base::{Reader, Width, Widths, Writer};

use crate::{Encoded, Result};

/// One link of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where the name is in the group's local heap.
    pub name: u64,
    /// The object header; undefined for soft links.
    pub header: Option<u64>,
    /// What the entry says about the object.
    pub cache: Cache,
}

/// What a symbol table entry keeps of the object it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cache {
    /// Nothing.
    Nothing,
    /// It is a group: where its B-tree and heap are.
    Group {
        /// The B-tree.
        btree: Option<u64>,
        /// The local heap.
        heap: Option<u64>,
    },
    /// It is a soft link: where its target is in the local heap.
    SoftLink(u32),
}

impl Entry {
    /// How many bytes an entry takes.
    pub const fn size(widths: Widths) -> usize {
        widths.lengths.bytes() + widths.offsets.bytes() + 24
    }

    /// Reads an entry.
    pub fn decode(reader: &mut Reader<'_>, widths: Widths) -> Result<Entry> {
        let name = reader.length(widths)?;
        let header = reader.address(widths)?;
        let kind = reader.u32()?;
        reader.skip(4)?;
        let mut scratch = Reader::new("symbol table entry", reader.take(16)?);
        let cache = match kind {
            0 => Cache::Nothing,
            1 => Cache::Group { btree: scratch.address(widths)?, heap: scratch.address(widths)? },
            2 => Cache::SoftLink(scratch.u32()?),
            _ => return Err(reader.refuse(format!("unknown cache type {kind}"))),
        };
        Ok(Entry { name, header, cache })
    }

    /// Writes an entry.
    pub fn encode(&self, writer: &mut Writer, widths: Widths) -> Encoded<()> {
        writer.length("name", widths, self.name)?;
        writer.address("object header", widths, self.header)?;
        writer.u32(match self.cache {
            Cache::Nothing => 0,
            Cache::Group { .. } => 1,
            Cache::SoftLink(_) => 2,
        });
        writer.zeros(4);
        let end = writer.position() + 16;
        match self.cache {
            Cache::Nothing => {}
            Cache::Group { btree, heap } => {
                writer.address("cached B-tree", widths, btree)?;
                writer.address("cached heap", widths, heap)?;
            }
            Cache::SoftLink(place) => writer.u32(place),
        }
        writer.fill_to("cache", end)
    }
}

/// Reads the entries of a symbol table node.
pub fn decode_node(bytes: &[u8], widths: Widths) -> Result<Vec<Entry>> {
    let mut reader = Reader::new("symbol table node", bytes);
    reader.signature(b"SNOD")?;
    reader.version(1..=1)?;
    reader.skip(1)?;
    let symbols = reader.u16()?;
    (0..symbols).map(|_| Entry::decode(&mut reader, widths)).collect()
}

/// Writes a symbol table node with room for `2 * leaf_k` entries.
pub fn encode_node(entries: &[Entry], leaf_k: u16, widths: Widths) -> Encoded {
    let mut writer = Writer::new("symbol table node");
    writer.extend(b"SNOD");
    writer.extend(&[1, 0]);
    writer.count("symbols", Width::W2, entries.len())?;
    entries.iter().try_for_each(|entry| entry.encode(&mut writer, widths))?;
    writer.fill_to("symbols", node_size(leaf_k, widths))?;
    Ok(writer.into_bytes())
}

/// How many bytes a symbol table node takes, with `2 * leaf_k` entries.
pub fn node_size(leaf_k: u16, widths: Widths) -> usize {
    8 + 2 * usize::from(leaf_k) * Entry::size(widths)
}
