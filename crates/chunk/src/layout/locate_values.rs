//! Values of any layout as clients of the cache.
//!
//! Chunks are what the file has, contiguous values are cut into [`Blocks`]. Compact values are in memory already, as part of the header, and
//! external files are there so that other programs can write them: the cache keeps neither, and only orders their requests by range locks.

use std::sync::Arc;

use hyperslab_driver::SelectionPair;
use hyperslab_file::OpenFile;
use hyperslab_space::{Grid, Piece};

use crate::{
    ChunkCoord, ChunkLayout, Error, Filling, ReadBuffer, Result, Sections, Storage, StoredAs, StoredAt, Values,
    WriteBuffer,
    layout::blocks::Blocks,
    transfer::{allocation::Allocation, scatter},
};

impl Values {
    /// What their chunks are like; nothing if other datasets have the values.
    pub fn chunk_layout(&self) -> Result<Option<Arc<ChunkLayout>>> {
        let layout = match &self.storage {
            Storage::Virtual(_) => return Ok(None),
            Storage::Chunked(chunked) => return Ok(Some(chunked.chunks.clone())),
            Storage::Contiguous(_) => match Blocks::new(&self.extent, self.element) {
                Some(blocks) => {
                    let bytes = usize::try_from(blocks.bytes()).map_err(|_| Error::Memory(blocks.bytes()))?;
                    ChunkLayout::blocks(Grid::new(&blocks.shape)?, self.element, bytes)
                }
                None => ChunkLayout::uncut(self.element),
            },
            Storage::Compact(_) | Storage::External(_) => ChunkLayout::uncut(self.element),
        };
        Ok(Some(Arc::new(layout)))
    }

    /// Whether the first values that are written bring space for all others.
    pub fn allocates_with_first(&self, filling: &Filling<'_>) -> bool {
        match &self.storage {
            Storage::Contiguous(address) => address.is_none(),
            Storage::Chunked(chunked) => chunked.allocates_with_first(filling),
            _ => false,
        }
    }

    /// Whether there are chunks that can never be written, in a dataset of another program.
    pub fn exceeds_index(&self) -> bool {
        matches!(&self.storage, Storage::Chunked(chunked) if chunked.exceeds_index())
    }

    /// Whether all chunks that are in memory are right for another extent, too.
    pub fn keeps_chunks(&self, dims: &[u64], filling: &Filling<'_>) -> bool {
        match &self.storage {
            Storage::Chunked(chunked) => chunked.keeps_chunks(dims, filling),
            _ => true,
        }
    }

    fn blocks(&self) -> Result<Blocks<'_>> {
        Blocks::new(&self.extent, self.element).ok_or_else(not_cut)
    }

    /// Where contiguous values are; nowhere if never written.
    fn address(&self) -> Result<Option<u64>> {
        match &self.storage {
            Storage::Contiguous(address) => Ok(*address),
            _ => Err(not_cut()),
        }
    }

    /// Pieces of blocks, as parts of one request.
    fn pairs<'a>(&self, file: &OpenFile, address: u64, pieces: &'a [Piece]) -> Result<Vec<SelectionPair<'a>>> {
        let start = file.check("contiguous values", address, self.bytes())?;
        let (blocks, element_size) = (self.blocks()?, self.element);
        let pair = |piece: &'a Piece| {
            let touched = scatter::touched(&piece.file, element_size).end as u64;
            if touched > self.block_bytes(&piece.chunk) {
                return Err(beyond(&piece.chunk));
            }
            let offset = start.saturating_add(blocks.offset(&piece.chunk));
            Ok(SelectionPair { memory: &piece.memory, file: &piece.file, offset, element_size })
        };
        pieces.iter().map(pair).collect()
    }
}

/// Refuses what no caller asks for: chunks of values that have none.
fn not_cut() -> Error {
    Error::Layout("the values are not cut into chunks".into())
}

/// Refuses a block that reaches over the end of the values: bytes of others are there.
fn beyond(coord: &[u64]) -> Error {
    Error::Layout(format!("block {coord:?} reaches over the end of the contiguous values"))
}

impl Values {
    /// How the chunk at a coordinate is stored.
    pub(crate) fn stored_as(&self, coord: &[u64]) -> StoredAs {
        match &self.storage {
            Storage::Chunked(chunked) => chunked.stored_as(coord, &chunked.extent),
            _ => StoredAs::Plain(self.block_bytes(coord)),
        }
    }

    /// How many elements of the chunk at a coordinate are in the dataset.
    pub(crate) fn inside(&self, coord: &[u64]) -> u64 {
        match &self.storage {
            Storage::Chunked(chunked) => chunked.inside(coord),
            _ => self.blocks().map_or(0, |blocks| blocks.inside(coord)),
        }
    }

    /// The bytes of a block; the last one ends with the dataset.
    fn block_bytes(&self, coord: &[u64]) -> u64 {
        self.inside(coord).saturating_mul(self.element)
    }

    /// Where the chunks at rising coordinates are; nothing for those that were never written.
    pub(crate) fn locate(&self, file: &OpenFile, coords: &[ChunkCoord]) -> Result<Vec<Option<StoredAt>>> {
        if let Storage::Chunked(chunked) = &self.storage {
            return chunked.locate(file, coords);
        }
        let Some(start) = self.address()? else { return Ok(vec![None; coords.len()]) };
        file.check("contiguous values", start, self.bytes())?;
        let blocks = self.blocks()?;
        let located = |coord: &ChunkCoord| match self.block_bytes(coord) {
            0 => Err(beyond(coord)),
            size => {
                let (address, sections) = (start + blocks.offset(coord), Sections::one(size, 0));
                Ok(Some(StoredAt { address, sections, filtered: false, needed: 0 }))
            }
        };
        coords.iter().map(located).collect()
    }

    /// The addresses of chunks, by rising coordinate, that have been in the file from the start.
    pub(crate) fn addresses(&self, file: &OpenFile, coords: &[ChunkCoord]) -> Result<Vec<u64>> {
        let located = self.locate(file, coords)?.into_iter();
        located.map(|located| located.map(|located| located.address).ok_or_else(not_cut)).collect()
    }

    /// Makes chunks known that are in the file now. Whether the layout message must say something new.
    pub(crate) fn insert(&mut self, file: &OpenFile, allocation: Allocation) -> Result<bool> {
        match &mut self.storage {
            Storage::Chunked(chunked) => chunked.insert(file, allocation),
            // It has been there before.
            _ => Ok(false),
        }
    }

    /// Reads pieces of chunks, by rising coordinate.
    pub(crate) fn read_pieces(&self, file: &OpenFile, pieces: &[Piece], to: &mut ReadBuffer<'_>) -> Result<()> {
        let fill = self.fill.as_deref();
        if let Storage::Chunked(chunked) = &self.storage {
            return chunked.read_pieces(file, pieces, to, fill);
        }
        match self.address()? {
            Some(address) => Ok(file.read_selection(&self.pairs(file, address, pieces)?, to.stored_bytes()?)?),
            None => pieces.iter().try_for_each(|piece| to.fill(fill, &piece.memory, self.element)),
        }
    }

    /// Writes pieces of chunks, by rising coordinate. Whether the layout message must say something new.
    pub(crate) fn write_pieces(
        &mut self,
        file: &OpenFile,
        pieces: &[Piece],
        from: WriteBuffer<'_>,
        filling: &Filling<'_>,
    ) -> Result<bool> {
        if let Storage::Chunked(chunked) = &mut self.storage {
            return chunked.write_pieces(file, pieces, from, filling);
        }
        self.overwrite_pieces(file, pieces, from).map(|()| false)
    }

    /// Writes pieces of contiguous values where they are. The caller holds changes of the file off, or is the operation that changes it.
    pub(crate) fn overwrite_pieces(&self, file: &OpenFile, pieces: &[Piece], from: WriteBuffer<'_>) -> Result<()> {
        let address = self.address()?.ok_or_else(not_cut)?;
        Ok(file.write_selection(&self.pairs(file, address, pieces)?, from.stored_bytes()?)?)
    }
}
