//! A chunk in memory: the value of the cache.
//!
//! Only the methods here know of which kind a chunk is. The cache, the loader and the storer do not, so another kind is a variant here, a
//! [`ChunkKind`](crate::ChunkKind) and a file beside `dense.rs`.

use std::ops::Range;

use hyperslab_space::{Piece, Space};

use super::{ChunkCoord, EncodedChunk, ReadBuffer, StoredAt, WriteBuffer, dense::DenseChunk};
use crate::{ChunkKind, ChunkLayout, Error, Filling, Rest, Result, SparseChunk, structured::OwnValues};

/// A chunk in memory.
pub enum ResidentChunk {
    /// All values, whether they were ever written or not.
    Dense(DenseChunk),
    /// Those that were written.
    Sparse(SparseChunk),
}

/// Memory that one thread uses again for each chunk that it decodes or encodes.
#[derive(Default)]
pub struct Workspace {
    /// Becomes the next chunk in memory.
    pub(crate) room: Vec<u8>,
    /// What comes out of the filters.
    pub(crate) out: Vec<u8>,
    /// What is between two filters.
    pub(crate) scratch: Vec<u8>,
}

/// How a chunk is stored at a coordinate of the dataset as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredAs {
    /// Through the filters.
    Filtered,
    /// As it is in memory, with so many bytes.
    Plain(u64),
}

impl ResidentChunk {
    /// A chunk that is not stored: with the fill value if it is `blank`, else with any values, because all of it is written next.
    pub(crate) fn new(
        layout: &ChunkLayout,
        filling: &Filling<'_>,
        blank: bool,
        workspace: &mut Workspace,
    ) -> Result<ResidentChunk> {
        match layout.kind() {
            ChunkKind::Dense => DenseChunk::new(layout, filling, blank, workspace).map(ResidentChunk::Dense),
            ChunkKind::Sparse => Ok(ResidentChunk::Sparse(SparseChunk::new(layout))),
        }
    }

    /// What the stored bytes stand for. Of a sparse chunk that is at this place, section 0 may be all that was read.
    pub(crate) fn decode(
        layout: &ChunkLayout,
        at: &StoredAt,
        encoded: EncodedChunk<'_>,
        workspace: &mut Workspace,
    ) -> Result<ResidentChunk> {
        match layout.kind() {
            ChunkKind::Dense => DenseChunk::decode(layout, at, encoded, workspace).map(ResidentChunk::Dense),
            ChunkKind::Sparse => {
                SparseChunk::decode(layout, &at.sections, &encoded, workspace).map(ResidentChunk::Sparse)
            }
        }
    }

    /// The chunk as the file will have it. What needs no coding is not copied.
    pub(crate) fn encode(
        &self,
        layout: &ChunkLayout,
        coord: &ChunkCoord,
        form: StoredAs,
        workspace: &mut Workspace,
    ) -> Result<EncodedChunk<'_>> {
        match self {
            ResidentChunk::Dense(dense) => dense.encode(layout, coord, form, workspace),
            ResidentChunk::Sparse(sparse) => sparse.encode(layout, coord, form, workspace),
        }
    }

    /// As [`ResidentChunk::encode`], for a chunk that is not needed any more.
    pub(crate) fn into_encoded(
        self,
        layout: &ChunkLayout,
        coord: &ChunkCoord,
        form: StoredAs,
        workspace: &mut Workspace,
    ) -> Result<EncodedChunk<'static>> {
        match self {
            ResidentChunk::Dense(dense) => dense.into_encoded(layout, coord, form, workspace),
            ResidentChunk::Sparse(sparse) => sparse.encode(layout, coord, form, workspace),
        }
    }

    /// Lets a part of the chunk be as if it was never written: a dense chunk has the fill value there.
    pub(crate) fn blank(&mut self, layout: &ChunkLayout, filling: &Filling<'_>, part: &Space) -> Result<()> {
        match self {
            ResidentChunk::Dense(dense) => dense.fill(layout, filling, part),
            ResidentChunk::Sparse(sparse) => sparse.erase(part),
        }
    }

    /// Copies values of the caller into the chunk, or converts them on the way.
    pub(crate) fn gather(&mut self, layout: &ChunkLayout, piece: &Piece, from: WriteBuffer<'_>) -> Result<()> {
        match self {
            ResidentChunk::Dense(dense) => dense.gather(layout, piece, from),
            ResidentChunk::Sparse(sparse) => sparse.gather(layout, piece, from),
        }
    }

    /// Copies values of the chunk to the caller, or converts them on the way. The buffer has all places of the piece.
    pub(crate) fn scatter(&self, layout: &ChunkLayout, piece: &Piece, to: &mut ReadBuffer<'_>) -> Result<()> {
        match self {
            ResidentChunk::Dense(dense) => dense.scatter(layout, piece, to),
            ResidentChunk::Sparse(sparse) => sparse.scatter(layout, piece, to),
        }
    }

    /// Calls `each` for runs of selected elements that are defined, by their numbers, in the order of the selection. In a dense chunk all are.
    pub(crate) fn defined(&self, selection: &Space, each: &mut dyn FnMut(Range<u64>) -> Result<()>) -> Result<()> {
        match self {
            ResidentChunk::Dense(_) => selection.runs(1)?.try_for_each(|run| each(run.offset..run.end())),
            ResidentChunk::Sparse(sparse) => {
                sparse.defined(selection, &mut |run| each(u64::from(run.start)..u64::from(run.end)))
            }
        }
    }

    /// Adds the values of the selected elements that are defined to others, by rising number and each once, and calls `each` for runs of these elements. Only of
    /// chunks that tell which elements are defined.
    pub(crate) fn append_defined(
        &self,
        selection: &Space,
        values: &mut OwnValues,
        each: &mut dyn FnMut(Range<u32>) -> Result<()>,
    ) -> Result<()> {
        match self {
            ResidentChunk::Dense(_) => Err(Error::Layout("a dense chunk has no list of its defined elements".into())),
            ResidentChunk::Sparse(sparse) => sparse.append_defined(selection, values, each),
        }
    }

    /// Whether all of the chunk is in memory.
    pub(crate) fn is_complete(&self) -> bool {
        self.first_missing().is_none()
    }

    /// The first of its stored sections that is not in memory; those after it are not, either. Nothing if all of the chunk is.
    pub(crate) fn first_missing(&self) -> Option<usize> {
        match self {
            ResidentChunk::Dense(_) => None,
            ResidentChunk::Sparse(sparse) => sparse.first_missing(),
        }
    }

    /// Takes what was missing.
    pub(crate) fn complete(&mut self, rest: Rest) -> Result<()> {
        match self {
            ResidentChunk::Dense(_) => Ok(()),
            ResidentChunk::Sparse(sparse) => sparse.complete(rest),
        }
    }

    /// Gives back memory of what the file has, if the chunk is of use without it.
    pub(crate) fn shed(&mut self) {
        match self {
            ResidentChunk::Dense(_) => {}
            ResidentChunk::Sparse(sparse) => sparse.shed(),
        }
    }

    /// The most memory that the chunk takes more when a piece of it is written.
    pub(crate) fn growth(&self, layout: &ChunkLayout, piece: &Piece, from: WriteBuffer<'_>) -> Result<usize> {
        match self {
            ResidentChunk::Dense(_) => Ok(0),
            ResidentChunk::Sparse(sparse) => {
                Ok(usize::try_from(sparse.growth(layout, piece, from)?).unwrap_or(usize::MAX))
            }
        }
    }

    /// Whether the index has room for the chunk whatever its filters make of it, as it is or when a piece of it is written: then it may stay in memory until it is flushed.
    pub(crate) fn fits_index(&self, layout: &ChunkLayout, written: Option<(&Piece, WriteBuffer<'_>)>) -> Result<bool> {
        match self {
            ResidentChunk::Dense(_) => Ok(true),
            ResidentChunk::Sparse(sparse) => sparse.fits_index(layout, written),
        }
    }

    /// About how much more memory encoding takes than the chunk does: requests expect no more than that of it.
    pub(crate) fn encoding_excess(&self, layout: &ChunkLayout) -> Result<usize> {
        match self {
            ResidentChunk::Dense(_) => Ok(0),
            ResidentChunk::Sparse(sparse) => {
                let bytes = usize::try_from(sparse.encoding_memory(layout)?).unwrap_or(usize::MAX);
                Ok(bytes.saturating_sub(sparse.memory()))
            }
        }
    }

    /// The memory that the values take, in bytes.
    pub(crate) fn memory(&self) -> usize {
        match self {
            ResidentChunk::Dense(dense) => dense.memory(),
            ResidentChunk::Sparse(sparse) => sparse.memory(),
        }
    }

    /// Tells the layout what a chunk takes that was loaded: others will take about as much.
    pub(crate) fn tell(&self, layout: &ChunkLayout) {
        if let (ResidentChunk::Sparse(sparse), Some(structured)) = (self, layout.structured()) {
            structured.count(sparse);
        }
    }

    /// Gives back memory that decoding took for the worst case.
    pub(crate) fn condense(&mut self) {
        match self {
            ResidentChunk::Dense(dense) => dense.condense(),
            ResidentChunk::Sparse(_) => {}
        }
    }

    /// Leaves the memory of a chunk that is not needed any more to the next one.
    pub(crate) fn recycle(self, workspace: &mut Workspace) {
        match self {
            ResidentChunk::Dense(dense) => dense.recycle(workspace),
            ResidentChunk::Sparse(_) => {}
        }
    }
}
