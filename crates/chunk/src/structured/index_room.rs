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

impl SparseChunk {
    /// Whether the index has room for the chunk, whatever its filters make of it: as it is, or when a piece of it is written.
    pub(crate) fn fits_index(&self, layout: &ChunkLayout, written: Option<(&Piece, WriteBuffer<'_>)>) -> Result<bool> {
        let structured = layout.sections()?;
        if structured.tells_any_size() {
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
            true => {
                let selection = selection_section::most_bytes(most, layout.chunk().len());
                [selection, most.saturating_mul(layout.element()), heap]
            }
            false => {
                let fill = (structured.fill().heap.len() as u64).saturating_mul(all.saturating_sub(least));
                [layout.dense_bytes() as u64, heap.saturating_add(fill), 0]
            }
        };
        Ok(structured.fits_index(sizes.map(|size| size.saturating_add(BEFORE + CHECKSUM as u64))))
    }
}
