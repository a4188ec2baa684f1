//! Values for which the index of a dataset has no room.

use std::ops::Range;

use hyperslab_space::Piece;

use super::{
    packed_values::BEFORE,
    section_coder::CHECKSUM,
    sparse_chunk::{SparseChunk, heap_bytes, numbers},
};
use crate::{ChunkLayout, Error, Result, WriteBuffer};

impl SparseChunk {
    /// Refuses values for which the index of the dataset has no room, before the chunk changes: what filters make of them is known later, so they are expected to make it no
    /// smaller, and larger by a 64th and some more for each filter at most; what a filter adds beyond that is found when the chunk is stored.
    pub(super) fn check_room(&self, layout: &ChunkLayout, piece: &Piece, from: WriteBuffer<'_>) -> Result<()> {
        let (structured, shape) = (layout.sections()?, layout.shape());
        let Some(most) = structured.most_bytes() else { return Ok(()) };
        let fill = structured.fill().heap.len() as u64;
        let around = layout.dense_bytes() as u64 + BEFORE + 2 * CHECKSUM as u64;
        let (now, new) = (self.elements().heap_bytes(), heap_bytes(layout, piece, from)?);
        let bytes = |old: u64, undefined: u64| {
            let heap = now.saturating_sub(old).saturating_add(new).saturating_add(fill.saturating_mul(undefined));
            around.saturating_add(heap)
        };
        let undefined = layout.elements().saturating_sub(self.count());
        if bytes(0, undefined) <= most {
            return Ok(());
        }
        // Points may name an element again and again.
        let mut runs: Vec<Range<u32>> =
            piece.file.runs(1)?.map(|run| numbers(run.offset, run.len)).collect::<Result<_>>()?;
        runs.sort_unstable_by_key(|run| run.start);
        let (mut old, mut defined, mut selected, mut end) = (0, 0, 0, 0);
        for run in runs {
            let run = run.start.max(end)..run.end;
            if run.is_empty() {
                continue;
            }
            end = run.end;
            selected += run.len() as u64;
            self.elements().visit(run, &mut |run, values| {
                (old, defined) = (old + values.heap_bytes(shape)?, defined + run.len() as u64);
                Ok(())
            })?;
        }
        match bytes(old, undefined.saturating_sub(selected - defined)) {
            bytes if bytes <= most => Ok(()),
            bytes => Err(Error::Layout(format!(
                "chunk {:?} would have {bytes} bytes with what is of variable length in its values, and its index has room for {most}: larger chunks and sparse ones have more room",
                piece.chunk.to_vec()
            ))),
        }
    }
}
