//! What an index keeps of a chunk: an element of an array, or a record of a B-tree, which also has the chunk's place in the grid.
//!
//! ```text
//!  plain                | O | place, 8 per dimension |
//!  filtered             | O | size | mask, 4 | place… |
//!  structured           | O | size | place… | offsets of sections 1…, 8 each |
//!  filtered structured  | O | size | place… | offsets of sections 1…, 8 each | sizes before the filters, 8 each | masks, 4 each |
//! ```

use hyperslab_base::{Reader, Width, Widths, Writer};

use super::Client;
use crate::{ChunkEntry, Encoded, Result, Sections};

/// What an index keeps of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkElement {
    /// Of dense chunks without filters. Their size is not stored.
    Plain {
        /// The size of each.
        chunk_bytes: u64,
    },
    /// Of dense chunks with filters.
    Filtered {
        /// How wide a stored size is.
        size_width: Width,
    },
    /// Of structured chunks.
    Structured {
        /// How wide a stored size is.
        size_width: Width,
        /// How many sections a chunk has.
        sections: u8,
        /// Whether sections have filters.
        filtered: bool,
    },
}

impl ChunkElement {
    /// What chunks it is for.
    pub const fn client(&self) -> Client {
        match self {
            ChunkElement::Plain { .. } => Client::Plain,
            ChunkElement::Filtered { .. } => Client::Filtered,
            ChunkElement::Structured { filtered: false, .. } => Client::Structured,
            ChunkElement::Structured { filtered: true, .. } => Client::FilteredStructured,
        }
    }

    /// How many bytes it takes, without a place in the grid.
    pub fn size(&self, widths: Widths) -> usize {
        let stored = match *self {
            ChunkElement::Plain { .. } => 0,
            ChunkElement::Filtered { size_width } => size_width.bytes() + 4,
            ChunkElement::Structured { size_width, sections, filtered } => {
                let (sections, of_filters) = (usize::from(sections), if filtered { 8 + 4 } else { 0 });
                size_width.bytes() + 8 * sections.saturating_sub(1) + of_filters * sections
            }
        };
        widths.offsets.bytes() + stored
    }

    /// How many bytes stand before the place in the grid.
    pub fn place_at(&self, widths: Widths) -> usize {
        match self {
            ChunkElement::Plain { .. } | ChunkElement::Filtered { .. } => self.size(widths),
            ChunkElement::Structured { size_width, .. } => widths.offsets.bytes() + size_width.bytes(),
        }
    }

    /// What stands for a chunk that is nowhere.
    pub fn nothing(&self) -> ChunkEntry {
        match *self {
            ChunkElement::Plain { chunk_bytes } => ChunkEntry::dense(None, chunk_bytes, 0),
            ChunkElement::Filtered { .. } => ChunkEntry::dense(None, 0, 0),
            ChunkElement::Structured { sections, filtered, .. } => {
                ChunkEntry::new(None, Sections::nothing(sections, filtered))
            }
        }
    }

    /// Reads a chunk, with its place in a grid of `rank` dimensions: of none in arrays.
    pub fn decode(&self, reader: &mut Reader<'_>, rank: usize, widths: Widths) -> Result<ChunkEntry> {
        let address = reader.address(widths)?;
        let place = |reader: &mut Reader<'_>| (0..rank).map(|_| reader.u64()).collect::<Result<_>>();
        Ok(match *self {
            ChunkElement::Plain { chunk_bytes } => ChunkEntry::dense(address, chunk_bytes, 0).at(place(reader)?),
            ChunkElement::Filtered { size_width } => {
                let (size, mask) = (reader.uint(size_width)?, reader.u32()?);
                ChunkEntry::dense(address, size, mask).at(place(reader)?)
            }
            ChunkElement::Structured { size_width, sections, filtered } => {
                let (size, start) = (reader.uint(size_width)?, place(reader)?);
                let sections = Sections::decode(reader, size, usize::from(sections), filtered)?;
                ChunkEntry::new(address, sections).at(start)
            }
        })
    }

    /// Writes a chunk, with its place in the grid: none in arrays.
    pub fn encode(&self, writer: &mut Writer, chunk: &ChunkEntry, place: &[u64], widths: Widths) -> Encoded<()> {
        writer.address("address of a chunk", widths, chunk.address)?;
        let sections = &chunk.sections;
        match *self {
            ChunkElement::Plain { chunk_bytes } if sections.is_dense() => {
                // Nothing is stored that would tell another size.
                if (sections.bytes(), sections.mask()) != (chunk_bytes, 0) {
                    let why = "a chunk without filters has the size of all others";
                    return Err(writer.refuse("size of a chunk", why));
                }
                place.iter().for_each(|&nth| writer.u64(nth));
            }
            ChunkElement::Filtered { size_width } if sections.is_dense() => {
                writer.uint("size of a chunk", size_width, sections.bytes())?;
                writer.u32(sections.mask());
                place.iter().for_each(|&nth| writer.u64(nth));
            }
            ChunkElement::Structured { size_width, sections: count, filtered } if !sections.is_dense() => {
                if sections.len() != usize::from(count) {
                    let why = format!("{} sections where {count} belong", sections.len());
                    return Err(writer.refuse("sections of a chunk", why));
                }
                writer.uint("size of a chunk", size_width, sections.bytes())?;
                place.iter().for_each(|&nth| writer.u64(nth));
                sections.encode(writer, filtered)?;
            }
            _ => return Err(writer.refuse("chunk", "a dense chunk and a structured one in the same index")),
        }
        Ok(())
    }
}
