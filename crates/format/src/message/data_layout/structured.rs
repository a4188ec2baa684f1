//! The data layout message of structured chunks: class 4 of version 5, of which a proposal of the format and its prototypes tell.

use hyperslab_base::{Reader, Widths, Writer};

use super::chunk_index::{BTREE_V1, IMPLICIT, SINGLE};
use super::{ChunkIndex, ChunkStructure, Layout, STRUCTURED, chunk_shape::ChunkShape, chunked};
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
    let shape = ChunkShape::decode(reader)?;
    let structure = decode_structure(reader)?;
    let index = decode_index(reader, structure, &shape)?;
    let address = reader.address(widths)?;
    chunked(reader, Some(structure), shape.sizes, shape.plain_edges, index, address)
}

/// Writes the class and what is behind it, up to the address. `sizes` are those of a chunk and of an element.
pub(super) fn encode(
    writer: &mut Writer,
    structure: ChunkStructure,
    (sizes, plain_edges): (Vec<u64>, bool),
    index: &ChunkIndex,
    widths: Widths,
) -> Encoded<()> {
    let filtered_single = matches!(index, ChunkIndex::Single(Some(sections)) if sections.has_unfiltered());
    let shape = ChunkShape { plain_edges, filtered_single, sizes };
    writer.extend(&[STRUCTURED, 0]);
    writer.u16(structure.bits());
    shape.encode(writer)?;
    let checksummed = structure.checksummed();
    writer.extend(&[OFFSET_SIZE, structure.sections(), checksummed.len() as u8]);
    writer.extend(checksummed);
    match index {
        ChunkIndex::Single(Some(sections)) if sections.len() == usize::from(structure.sections()) => {
            writer.u8(SINGLE);
            let width = structure.size_width(shape.dense_bytes());
            writer.uint("size of the chunk", width, sections.bytes())?;
            sections.encode(writer, filtered_single)
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

fn decode_index(reader: &mut Reader<'_>, structure: ChunkStructure, shape: &ChunkShape) -> Result<ChunkIndex> {
    match reader.u8()? {
        SINGLE => {
            let size = reader.uint(structure.size_width(shape.dense_bytes()))?;
            let sections = Sections::decode(reader, size, usize::from(structure.sections()), shape.filtered_single)?;
            Ok(ChunkIndex::Single(Some(sections)))
        }
        kind @ (BTREE_V1 | IMPLICIT) => {
            Err(reader.refuse(format!("chunk index {kind}, which is not for structured chunks")))
        }
        kind => ChunkIndex::decode_structure(reader, kind),
    }
}
