//! Changing an index: chunks that come, move and go.

use hyperslab_base::Width;
use hyperslab_file::{Error, Kind, OpenFile, Result};
use hyperslab_format::{ChunkEntry, message::ChunkIndex};
use hyperslab_space::Coords;
use hyperslab_structures::chunks;

use super::{Implicit, Index, Numbered, Shape};
use crate::index::numbering::Numbering;

/// A chunk, by its coordinate, as it is from now on; one without an address is gone.
pub(crate) type Change = (Coords, ChunkEntry);

impl Index {
    /// Where the index is; for some, where the chunks are.
    pub fn address(&self) -> Option<u64> {
        match self {
            Index::Empty => None,
            Index::BtreeV1(tree) => Some(tree.root()),
            Index::Single(entry) => entry.address,
            Index::Implicit(all) => Some(all.address),
            Index::FixedArray(array, _) => Some(array.address()),
            Index::ExtensibleArray(array, _) => Some(array.address()),
            Index::BtreeV2(tree) => Some(tree.address()),
        }
    }

    /// A new index without chunks; for chunks that lie one after the other, space for all of them.
    pub(crate) fn create(file: &OpenFile, kind: &ChunkIndex, shape: &Shape<'_>) -> Result<Index> {
        let numbering = |unlimited_first| Numbering::new(shape.extent, shape.chunk, unlimited_first);
        let element = shape.element(file.widths().lengths);
        let (file, rank) = (file.owned(shape.owner), shape.chunk.len());
        Ok(match kind {
            ChunkIndex::BtreeV1 => Index::BtreeV1(chunks::btree_v1::ChunkTree::create(file, rank)?),
            ChunkIndex::Single(_) => Index::Single(element.nothing().at(vec![0; rank])),
            ChunkIndex::Implicit => {
                let numbering = numbering(false);
                let bytes = numbering.count().checked_mul(shape.bytes).ok_or_else(|| too_many(numbering.count()))?;
                let address = file.allocate(Kind::Raw, bytes)?;
                Index::Implicit(Implicit { address, bytes: shape.bytes, numbering })
            }
            ChunkIndex::FixedArray { page_bits } => {
                let numbering = numbering(false);
                let array = chunks::fixed_array::ChunkArray::create(file, numbering.count(), *page_bits, element)?;
                Index::FixedArray(array, Numbered(numbering))
            }
            ChunkIndex::ExtensibleArray(array) => {
                let array = chunks::extensible_array::ChunkArray::create(file, *array, element)?;
                Index::ExtensibleArray(array, Numbered(numbering(true)))
            }
            ChunkIndex::BtreeV2 { node_size, split, merge } => {
                let nodes = (*node_size, *split, *merge);
                Index::BtreeV2(chunks::btree_v2::ChunkTree::create(file, rank, element, nodes)?)
            }
        })
    }

    /// Changes chunks, which must be by rising coordinate. Whether the layout message must say something new.
    pub(crate) fn change(
        &mut self,
        file: &OpenFile,
        kind: &ChunkIndex,
        shape: &Shape<'_>,
        changes: &[Change],
    ) -> Result<bool> {
        let mut moved = false;
        if matches!(self, Index::Empty) {
            if changes.iter().all(|(_, chunk)| chunk.address.is_none()) {
                return Ok(false);
            }
            (*self, moved) = (Index::create(file, kind, shape)?, true);
        }
        match self {
            Index::Empty | Index::Implicit(_) => {}
            Index::Single(entry) => {
                for (_, chunk) in changes.iter().filter(|(coord, _)| coord.iter().all(|&nth| nth == 0)) {
                    (entry.address, entry.sections) = (chunk.address, chunk.sections.clone());
                    moved = true;
                }
                if entry.address.is_none() {
                    *self = Index::Empty;
                }
            }
            Index::BtreeV1(tree) => change_old_tree(tree, file, shape, changes)?,
            Index::BtreeV2(tree) => tree.set_all(file, changes)?,
            Index::FixedArray(array, Numbered(numbering)) => array.set_all(file, &numbered(numbering, changes)?)?,
            Index::ExtensibleArray(array, Numbered(numbering)) => {
                array.set_all(file, &numbered(numbering, changes)?)?
            }
        }
        Ok(moved)
    }

    /// Gives back the space of the index; for chunks that lie one after the other, that of the chunks.
    pub(crate) fn delete(self, file: &OpenFile) -> Result<()> {
        match self {
            Index::Empty | Index::Single(_) => Ok(()),
            Index::BtreeV1(tree) => tree.delete(file, &mut |_| Ok(())),
            Index::BtreeV2(tree) => tree.delete(file),
            Index::FixedArray(array, _) => array.delete(file),
            Index::ExtensibleArray(array, _) => array.delete(file),
            Index::Implicit(all) => {
                let length = all.numbering.count().saturating_mul(all.bytes);
                file.check("chunks", all.address, length)?;
                file.free_values(all.address, length)
            }
        }
    }
}

impl Shape<'_> {
    /// The largest stored chunk that the index can tell of.
    pub(crate) fn most_bytes(&self, kind: &ChunkIndex, lengths: Width) -> u64 {
        match (self.structure, kind) {
            (Some(structure), _) => structure.size_width(self.bytes).max(),
            (None, ChunkIndex::BtreeV1) => u32::MAX.into(),
            (None, ChunkIndex::Single(_)) => lengths.max(),
            (None, _) => self.size_width(lengths).max(),
        }
    }
}

fn numbered(numbering: &Numbering, changes: &[Change]) -> Result<Vec<(u64, ChunkEntry)>> {
    let number = |(coord, chunk): &Change| {
        let number = numbering.number(coord).ok_or_else(|| too_many(u64::MAX))?;
        Ok((number, chunk.clone().at(Vec::new())))
    };
    changes.iter().map(number).collect()
}

fn too_many(count: u64) -> Error {
    Error::Refused(format!("chunk index: {count} chunks are more than it can ever hold"))
}

/// The old tree knows chunks by their first element.
fn change_old_tree(
    tree: &chunks::btree_v1::ChunkTree,
    file: &OpenFile,
    shape: &Shape<'_>,
    changes: &[Change],
) -> Result<()> {
    let start = |coord: &Coords| coord.iter().zip(shape.chunk).map(|(nth, size)| nth.saturating_mul(*size)).collect();
    let is_there = |(_, chunk): &&Change| chunk.address.is_some();
    let (there, gone): (Vec<_>, Vec<_>) = changes.iter().partition(is_there);
    if !there.is_empty() {
        let extent: Vec<u64> = shape.chunk.iter().copied().chain([shape.element_size]).collect();
        let entry = |(coord, chunk): &&Change| chunk.clone().at(start(coord));
        tree.insert_all(file, &extent, &there.iter().map(entry).collect::<Vec<_>>())?;
    }
    if !gone.is_empty() {
        tree.remove_all(file, &gone.iter().map(|(coord, _)| start(coord)).collect::<Vec<Vec<u64>>>())?;
    }
    Ok(())
}
