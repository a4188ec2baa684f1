//! Where a chunk is: one question, six ways to answer it.

mod change;
mod limit;
mod numbering;
mod stored_size;
mod walk;

use hyperslab_base::Width;
use hyperslab_file::{OpenFile, Owner, Result};
use hyperslab_format::{
    ChunkEntry, Sections,
    index::ChunkElement,
    message::{ChunkIndex, ChunkStructure},
};
use hyperslab_space::{Coords, Extent};
use hyperslab_structures::chunks;

use crate::index::numbering::Numbering;

pub(crate) use change::Change;
pub use limit::{check_new, index_that_holds};
pub(crate) use limit::{check_resize, check_space};
pub use stored_size::Stored;
pub use walk::SurveyedDataset;

/// The index of a chunked dataset.
#[derive(Debug)]
pub enum Index {
    /// No chunk was ever written.
    Empty,
    /// The first kind of B-tree; it counts in elements.
    BtreeV1(chunks::btree_v1::ChunkTree),
    /// There is one chunk.
    Single(ChunkEntry),
    /// All chunks one after the other.
    Implicit(Implicit),
    /// A fixed array.
    FixedArray(chunks::fixed_array::ChunkArray, Numbered),
    /// An extensible array.
    ExtensibleArray(chunks::extensible_array::ChunkArray, Numbered),
    /// The second kind of B-tree.
    BtreeV2(chunks::btree_v2::ChunkTree),
}

/// Chunks by number.
#[derive(Debug)]
pub struct Numbered(Numbering);

/// Chunks that lie one after the other.
#[derive(Debug)]
pub struct Implicit {
    address: u64,
    bytes: u64,
    numbering: Numbering,
}

/// What an index is opened with.
pub(crate) struct Shape<'a> {
    pub(crate) extent: &'a Extent,
    pub(crate) chunk: &'a [u64],
    pub(crate) bytes: u64,
    pub(crate) element_size: u64,
    pub(crate) filtered: bool,
    /// What chunks of several sections hold.
    pub(crate) structure: Option<ChunkStructure>,
    pub(crate) layout_version: u8,
    /// The dataset that the index belongs to.
    pub(crate) owner: Owner,
}

impl Index {
    /// Opens an index.
    pub(crate) fn open(file: &OpenFile, kind: &ChunkIndex, address: Option<u64>, shape: &Shape<'_>) -> Result<Index> {
        let Some(address) = address else { return Ok(Index::Empty) };
        let numbering = |unlimited_first| Numbering::new(shape.extent, shape.chunk, unlimited_first);
        let element = shape.element(file.widths().lengths);
        let (file, rank) = (file.owned(shape.owner), shape.chunk.len());
        Ok(match kind {
            ChunkIndex::BtreeV1 => Index::BtreeV1(chunks::btree_v1::ChunkTree::new(address, rank).owned(shape.owner)),
            ChunkIndex::Single(stored) => {
                let sections = stored.clone().unwrap_or(Sections::one(shape.bytes, 0));
                Index::Single(ChunkEntry::new(Some(address), sections).at(vec![0; rank]))
            }
            ChunkIndex::Implicit => {
                Index::Implicit(Implicit { address, bytes: shape.bytes, numbering: numbering(false) })
            }
            ChunkIndex::FixedArray { .. } => {
                let array = chunks::fixed_array::ChunkArray::open(file, address, element)?;
                Index::FixedArray(array, Numbered(numbering(false)))
            }
            ChunkIndex::ExtensibleArray(_) => {
                let array = chunks::extensible_array::ChunkArray::open(file, address, element)?;
                Index::ExtensibleArray(array, Numbered(numbering(true)))
            }
            ChunkIndex::BtreeV2 { .. } => {
                Index::BtreeV2(chunks::btree_v2::ChunkTree::open(file, address, rank, element)?)
            }
        })
    }

    /// The chunks at places in the grid, in row-major order; nothing for those that were never written. Trees are walked once for all.
    pub fn find_all(&self, file: &OpenFile, coords: &[Coords], chunk: &[u64]) -> Result<Vec<Option<ChunkEntry>>> {
        let mut found = vec![None; coords.len()];
        let mut put = |nth: usize, entry: ChunkEntry| {
            // Trees may have records of chunks that are nowhere.
            if let Some(slot) = found.get_mut(nth).filter(|_| entry.address.is_some()) {
                *slot = Some(entry);
            }
        };
        match self {
            Index::Empty => {}
            Index::BtreeV1(tree) => {
                let start =
                    |coord: &Coords| coord.iter().zip(chunk).map(|(nth, size)| nth.saturating_mul(*size)).collect();
                tree.find_sorted(file, &coords.iter().map(start).collect::<Vec<Coords>>(), &mut put)?;
            }
            Index::BtreeV2(tree) => tree.find_sorted(file, coords, &mut put)?,
            Index::Single(entry) => {
                let first = coords.iter().position(|coord| coord.iter().all(|&nth| nth == 0));
                first.into_iter().for_each(|nth| put(nth, entry.clone()));
            }
            Index::Implicit(all) => {
                let entries = coords.iter().enumerate().filter_map(|(nth, coord)| Some((nth, all.find(coord)?)));
                entries.for_each(|(nth, entry)| put(nth, entry));
            }
            Index::FixedArray(array, Numbered(numbering)) => {
                for (nth, coord) in coords.iter().enumerate() {
                    let entry = numbering.number(coord).map_or(Ok(None), |number| array.get(file, number))?;
                    entry.into_iter().for_each(|entry| put(nth, entry));
                }
            }
            Index::ExtensibleArray(array, Numbered(numbering)) => {
                for (nth, coord) in coords.iter().enumerate() {
                    let entry = numbering.number(coord).map_or(Ok(None), |number| array.get(file, number))?;
                    entry.into_iter().for_each(|entry| put(nth, entry));
                }
            }
        }
        Ok(found)
    }

    /// Calls `each` for all that the index holds, with the coordinate if it is one of a chunk: chunks, and elements of arrays that name
    /// none. What is in order without an index, no coordinate or all of them, is left out.
    pub(crate) fn for_each(
        &self,
        file: &OpenFile,
        chunk: &[u64],
        each: &mut dyn FnMut(Option<Coords>, &ChunkEntry) -> Result<()>,
    ) -> Result<()> {
        match self {
            Index::Empty | Index::Implicit(_) => Ok(()),
            Index::Single(entry) => each(Some(Coords::from_elem(0, chunk.len())), entry),
            Index::BtreeV1(tree) => tree.for_each(file, &mut |entry| {
                let sizes = entry.start.iter().zip(chunk);
                let coord = sizes.map(|(start, size)| start.is_multiple_of(*size).then(|| start / size)).collect();
                each(coord, &entry)
            }),
            Index::BtreeV2(tree) => tree.for_each(file, &mut |entry| each(Some(entry.start.as_slice().into()), &entry)),
            Index::FixedArray(array, Numbered(numbering)) => {
                array.for_each(file, &mut |number, entry| each(numbering.coord(number), entry))
            }
            Index::ExtensibleArray(array, Numbered(numbering)) => {
                array.for_each(file, &mut |number, entry| each(numbering.coord(number), entry))
            }
        }
    }
}

impl Implicit {
    fn find(&self, coord: &[u64]) -> Option<ChunkEntry> {
        let offset = self.numbering.number(coord)?.checked_mul(self.bytes)?;
        let address = self.address.checked_add(offset)?;
        Some(ChunkEntry::dense(Some(address), self.bytes, 0))
    }
}

impl Shape<'_> {
    /// What the index keeps of a chunk.
    fn element(&self, lengths: Width) -> ChunkElement {
        match (self.structure, self.filtered) {
            (Some(structure), filtered) => {
                let (size_width, sections) = (structure.size_width(self.bytes), structure.sections());
                ChunkElement::Structured { size_width, sections, filtered }
            }
            (None, true) => ChunkElement::Filtered { size_width: self.size_width(lengths) },
            (None, false) => ChunkElement::Plain { chunk_bytes: self.bytes },
        }
    }

    /// How many bytes the stored size of a filtered chunk takes: one more than the chunk's own size needs, since filters may make it
    /// larger; from version 5 of the layout on, as many as a length.
    fn size_width(&self, lengths: Width) -> Width {
        if self.layout_version >= 5 {
            return lengths;
        }
        let bytes = 1 + (self.bytes.max(1).ilog2() + 8) / 8;
        Width::new(bytes.min(8) as u8).unwrap_or(Width::W8)
    }
}
