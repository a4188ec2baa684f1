//! The data layout message of structured chunks: class 4 of version 5, of which a proposal of the format and its prototypes tell.

use hyperslab_base::{Reader, Widths, Writer};

use super::chunk_index::{BTREE_V1, IMPLICIT, SINGLE};
use super::encode::{chunk_flags, encode_sizes};
use super::{
    ChunkIndex, ChunkStructure, FILTERED_SINGLE, Layout, PLAIN_EDGES, STRUCTURED, chunked, decode_flags, decode_sizes,
};
use crate::{Encoded, Result, Sections};

/// How wide offsets of sections are, wherever they are stored.
const OFFSET_SIZE: u8 = 8;

/// Reads what is behind the class.
pub(super) fn decode(reader: &mut Reader<'_>, widths: Widths) -> Result<Layout> {
    reader.version(0..=0)?;
    // Prototypes of the format disagree about the type of sparse chunks, which is 0 or 1: their sections tell what they are.
    let structure_type = reader.u16()?;
    if structure_type > 3 {
        return Err(reader.refuse(format!("structured chunks of the unknown type {structure_type}")));
    }
    let flags = decode_flags(reader)?;
    let sizes = decode_sizes(reader)?;
    let structure = decode_structure(reader)?;
    let index = decode_index(reader, structure, flags & FILTERED_SINGLE != 0, dense_bytes(&sizes))?;
    let address = reader.address(widths)?;
    chunked(reader, Some(structure), sizes, flags & PLAIN_EDGES != 0, index, address)
}

/// Writes the class and what is behind it, up to the address. `sizes` are those of a chunk and of an element.
pub(super) fn encode(
    writer: &mut Writer,
    structure: ChunkStructure,
    sizes: &[u64],
    plain_edges: bool,
    index: &ChunkIndex,
    widths: Widths,
) -> Encoded<()> {
    let filtered = matches!(index, ChunkIndex::Single(Some(sections)) if sections.has_unfiltered());
    writer.extend(&[STRUCTURED, 0]);
    writer.u16(structure.bits());
    writer.u8(chunk_flags(plain_edges, filtered));
    encode_sizes(writer, sizes)?;
    let checksummed = structure.checksummed();
    writer.extend(&[OFFSET_SIZE, structure.sections(), checksummed.len() as u8]);
    writer.extend(checksummed);
    match index {
        ChunkIndex::Single(Some(sections)) if sections.len() == usize::from(structure.sections()) => {
            writer.u8(SINGLE);
            let width = structure.size_width(dense_bytes(sizes));
            writer.uint("size of the chunk", width, sections.bytes())?;
            sections.encode(writer, filtered)
        }
        ChunkIndex::Single(_) => {
            Err(writer.refuse("index", format!("it must tell the {} sections of the chunk", structure.sections())))
        }
        ChunkIndex::Implicit | ChunkIndex::BtreeV1 => {
            Err(writer.refuse("index", "structured chunks cannot have this one"))
        }
        index => index.encode(writer, widths),
    }
}

fn decode_structure(reader: &mut Reader<'_>) -> Result<ChunkStructure> {
    let offset_size = reader.u8()?;
    if offset_size != OFFSET_SIZE {
        return Err(reader.refuse(format!("offsets of sections of {offset_size} bytes")));
    }
    let (sections, checksummed) = (reader.u8()?, reader.u8()?);
    let checksummed = reader.take(usize::from(checksummed))?;
    let unknown = || reader.refuse(format!("unknown structure: {sections} sections, checksums in {checksummed:?}"));
    ChunkStructure::of(sections, checksummed).ok_or_else(unknown)
}

fn decode_index(
    reader: &mut Reader<'_>,
    structure: ChunkStructure,
    filtered: bool,
    dense_bytes: u64,
) -> Result<ChunkIndex> {
    match reader.u8()? {
        SINGLE => {
            let size = reader.uint(structure.size_width(dense_bytes))?;
            let sections = Sections::decode(reader, size, usize::from(structure.sections()), filtered)?;
            Ok(ChunkIndex::Single(Some(sections)))
        }
        kind @ (BTREE_V1 | IMPLICIT) => {
            Err(reader.refuse(format!("chunk index {kind}, which is not for structured chunks")))
        }
        kind => ChunkIndex::decode_structure(reader, kind),
    }
}

/// How many bytes a chunk would take with the values of all its elements.
fn dense_bytes(sizes: &[u64]) -> u64 {
    sizes.iter().fold(1, |bytes, size| bytes.saturating_mul(*size))
}
