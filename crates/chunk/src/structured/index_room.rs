//! Chunks for which the index of a dataset may have no room.
//!
//! Some indexes tell the size of a chunk in few bytes. A changed chunk stays in memory only if they are enough whatever its filters make of it, so that each flush can store it. Others
//! are stored by the request that writes them, which fails if the index has no room.

use hyperslab_space::Piece;

use super::{
    packed_values::BEFORE,
    section_coder::CHECKSUM,
    selection_section,
    sparse_chunk::{SparseChunk, heap_bytes},
};
use crate::{ChunkLayout, Result, WriteBuffer};

/// What sections have beside values and selections, at most.
const AROUND: u64 = BEFORE + CHECKSUM as u64;

impl SparseChunk {
    /// Whether the index has room for the chunk, whatever its filters make of it: as it is, or when a piece of it is written.
    pub(crate) fn fits_index(&self, layout: &ChunkLayout, written: Option<(&Piece, WriteBuffer<'_>)>) -> Result<bool> {
        let structured = layout.sections()?;
        if structured.fits_any_chunk() {
            return Ok(true);
        }
        let (mut more, mut heap, mut erases) = (0, self.elements().heap_bytes(), false);
        if let Some((piece, from)) = written {
            heap = heap.saturating_add(heap_bytes(layout, piece, from)?);
            (more, erases) = (piece.file.npoints(), from.erases());
        }
        let (all, least) = (layout.elements(), if erases { 0 } else { self.count() });
        let most = self.count().saturating_add(more).min(all);
        let sizes = match structured.structure().is_sparse() {
            true => most_sparse_sizes(most, (layout.chunk().len(), layout.element()), heap),
            false => {
                let fill = (structured.fill().heap.len() as u64).saturating_mul(all.saturating_sub(least));
                [layout.dense_bytes() as u64, heap.saturating_add(fill), 0].map(|size| size.saturating_add(AROUND))
            }
        };
        Ok(structured.fits_index(sizes))
    }
}

/// The most bytes that the sections of a sparse chunk of so many dimensions have before their filters, with so many elements of `element` bytes and `heap` bytes of variable length in them.
pub(crate) fn most_sparse_sizes(elements: u64, (rank, element): (usize, u64), heap: u64) -> [u64; 3] {
    let selection = selection_section::most_bytes(elements, rank);
    [selection, elements.saturating_mul(element), heap].map(|size| size.saturating_add(AROUND))
}
