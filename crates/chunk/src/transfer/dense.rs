//! A dense chunk in memory: all its values, in the stored datatype, after the filters were undone.

use std::borrow::Cow;

use hyperslab_base::memory;
use hyperslab_space::{Piece, Space};

use super::{ChunkCoord, EncodedChunk, ReadBuffer, StoredAs, StoredAt, Workspace, WriteBuffer, scatter};
use crate::{ChunkLayout, Error, Filling, Result};

/// A dense chunk in memory.
pub struct DenseChunk {
    bytes: Vec<u8>,
}

impl DenseChunk {
    /// A chunk that is not stored: with the fill value if it is `blank`, else with any bytes, because all of it is written next.
    pub(super) fn new(
        layout: &ChunkLayout,
        filling: &Filling<'_>,
        blank: bool,
        workspace: &mut Workspace,
    ) -> Result<DenseChunk> {
        let mut bytes = std::mem::take(&mut workspace.room);
        let is_fresh = bytes.capacity() == 0;
        if is_fresh {
            bytes = memory::zeroed(layout.dense_bytes() as u64)?;
        }
        memory::resize(&mut bytes, layout.dense_bytes(), 0)?;
        let mut chunk = DenseChunk { bytes };
        if blank && !(is_fresh && filling.is_zero()) {
            chunk.fill(layout, filling, &Space::simple(&[layout.elements()])?)?;
        }
        Ok(chunk)
    }

    pub(super) fn decode(
        layout: &ChunkLayout,
        at: &StoredAt,
        encoded: EncodedChunk<'_>,
        workspace: &mut Workspace,
    ) -> Result<DenseChunk> {
        let Some(codec) = layout.codec().filter(|_| encoded.filtered) else {
            return match encoded.into_bytes() {
                Cow::Owned(bytes) => Ok(DenseChunk { bytes }),
                Cow::Borrowed(bytes) => Ok(DenseChunk { bytes: memory::copied(bytes)? }),
            };
        };
        let Workspace { room, scratch, .. } = workspace;
        let (mask, stored) = (encoded.sections.mask(), encoded.bytes().unwrap_or(&[]));
        codec.decode(&encoded.coord, stored, mask, at.needed, room, scratch)?;
        Ok(DenseChunk { bytes: std::mem::take(room) })
    }

    pub(super) fn encode(
        &self,
        layout: &ChunkLayout,
        coord: &ChunkCoord,
        form: StoredAs,
        workspace: &mut Workspace,
    ) -> Result<EncodedChunk<'_>> {
        encode(layout, coord, Cow::Borrowed(&self.bytes), form, workspace)
    }

    pub(super) fn into_encoded(
        self,
        layout: &ChunkLayout,
        coord: &ChunkCoord,
        form: StoredAs,
        workspace: &mut Workspace,
    ) -> Result<EncodedChunk<'static>> {
        encode(layout, coord, Cow::Owned(self.bytes), form, workspace)
    }

    pub(super) fn fill(&mut self, layout: &ChunkLayout, filling: &Filling<'_>, part: &Space) -> Result<()> {
        scatter::fill(filling.value, &mut self.bytes, part, layout.element())
    }

    pub(super) fn gather(&mut self, layout: &ChunkLayout, piece: &Piece, from: WriteBuffer<'_>) -> Result<()> {
        from.take(&piece.memory, &mut self.bytes, &piece.file, layout.element())
    }

    pub(super) fn scatter(&self, layout: &ChunkLayout, piece: &Piece, to: &mut ReadBuffer<'_>) -> Result<()> {
        to.put(&self.bytes, &piece.file, &piece.memory, layout.element())
    }

    pub(super) fn memory(&self) -> usize {
        self.bytes.capacity()
    }

    pub(super) fn condense(&mut self) {
        self.bytes.shrink_to_fit();
    }

    pub(super) fn recycle(self, workspace: &mut Workspace) {
        workspace.room = self.bytes;
    }
}

/// A dense chunk as the file will have it, from bytes that need not be in a chunk of their own.
pub(crate) fn encode<'a>(
    layout: &ChunkLayout,
    coord: &ChunkCoord,
    values: Cow<'a, [u8]>,
    form: StoredAs,
    workspace: &mut Workspace,
) -> Result<EncodedChunk<'a>> {
    let size = match (form, layout.codec()) {
        (StoredAs::Filtered, Some(codec)) => {
            let Workspace { room, out, scratch } = workspace;
            let mask = codec.encode(coord, &values, out, scratch)?;
            if let Cow::Owned(values) = values {
                *room = values;
            }
            // Filters take room for the worst case; what waits for other chunks takes what it has.
            return Ok(EncodedChunk::dense(coord.clone(), Cow::Owned(memory::copied(out)?), mask, true));
        }
        (StoredAs::Filtered, None) => return Err(Error::Layout(format!("chunk {coord:?} has no filters"))),
        (StoredAs::Plain(size), _) => usize::try_from(size).unwrap_or(usize::MAX).min(values.len()),
    };
    let values = match values {
        Cow::Borrowed(values) => Cow::Borrowed(values.get(..size).unwrap_or(values)),
        Cow::Owned(mut values) => {
            values.truncate(size);
            Cow::Owned(values)
        }
    };
    Ok(EncodedChunk::dense(coord.clone(), values, 0, false))
}
