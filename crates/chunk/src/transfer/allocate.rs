//! Chunks that are there before values are written, and the end of all chunks.

use std::borrow::Cow;

use hyperslab_file::OpenFile;
use hyperslab_format::message::ChunkIndex;
use hyperslab_space::{Coords, Extent};

use super::{
    ChunkCoord, EncodedChunk, PIECES, StoredAs, Storer, Workspace,
    allocation::{Allocation, Overwrite},
    dense,
};
use crate::{Chunked, Filling, Index, Result, index::check_space};

impl Chunked {
    /// Takes space for every chunk that has none, and fills it. Whether the layout message must say something new.
    pub fn allocate_all(&mut self, file: &OpenFile, filling: &Filling<'_>) -> Result<bool> {
        self.publish(file, filling, |chunked| match chunked.kind {
            ChunkIndex::Implicit => Ok(Vec::new()),
            _ if chunked.structure().is_some() => Ok(Vec::new()),
            _ => chunked.store_missing(file, &chunked.extent, filling, &|_| true),
        })
    }

    /// Space for all chunks that lie one after the other, filled where a dataset of this extent has chunks. Within a part of an operation that may fail.
    pub(crate) fn filled_index(&self, file: &OpenFile, extent: &Extent, filling: &Filling<'_>) -> Result<Index> {
        let index = Index::create(file, &self.kind, &self.shape())?;
        self.fill_places(file, &index, None, extent, filling)?;
        Ok(index)
    }

    /// Takes space for the `wanted` chunks of an extent that have none, and fills it. The index does not know of them yet. Within a part of an operation
    /// that may fail.
    pub(crate) fn store_missing(
        &self,
        file: &OpenFile,
        extent: &Extent,
        filling: &Filling<'_>,
        wanted: &dyn Fn(&ChunkCoord) -> bool,
    ) -> Result<Vec<Allocation>> {
        let origin = ChunkCoord::from_elem(0, self.chunk().len());
        let plain = EncodedChunk::dense(origin.clone(), Cow::Owned(filling.bytes(self.bytes())?), 0, false);
        let mut filtered = None;
        if self.has_filters() {
            let values = Cow::Borrowed(plain.bytes().unwrap_or(&[]));
            filtered =
                Some(dense::encode(&self.chunks, &origin, values, StoredAs::Filtered, &mut Workspace::default())?);
        }
        let coords = GridCoords::of(self.chunk(), extent)?;
        let least = filtered.iter().chain([&plain]).map(|chunk| chunk.sections.bytes()).min().unwrap_or(0);
        check_space(coords.total(), least)?;
        // Bytes that went through no filter may be anything, if the user wants it so.
        let writes = filling.write || self.has_filters();
        let (mut stored, mut coords) = (Vec::new(), coords.filter(wanted));
        loop {
            let some: Vec<ChunkCoord> = coords.by_ref().take(PIECES).collect();
            if some.is_empty() {
                return Ok(stored);
            }
            let entries = self.index.find_all(file, &some, self.chunk())?;
            let missing = some.into_iter().zip(entries).filter(|(_, entry)| entry.is_none());
            let encoded = missing.map(|(coord, _)| match &filtered {
                Some(filtered) if self.is_filtered(&coord, extent) => EncodedChunk { coord, ..filtered.borrowed() },
                _ if writes => EncodedChunk { coord, ..plain.borrowed() },
                _ => EncodedChunk::unwritten(coord, self.bytes() as u64),
            });
            let encoded: Vec<_> = encoded.collect();
            let (chunks, old) = (encoded.iter().collect::<Vec<_>>(), vec![None; encoded.len()]);
            stored.push(Storer::new(file).store(self, &chunks, old, Overwrite::Never)?);
        }
    }

    /// Fills chunks of an extent that lie one after the other, but not those that were already in a dataset of the extent `old`.
    pub(crate) fn fill_places(
        &self,
        file: &OpenFile,
        index: &Index,
        old: Option<&Extent>,
        extent: &Extent,
        filling: &Filling<'_>,
    ) -> Result<()> {
        if !filling.write {
            return Ok(());
        }
        let bytes = filling.bytes(self.bytes())?;
        let is_new = |coord: &Coords| old.is_none_or(|old| self.is_outside(coord, old));
        let mut coords = GridCoords::of(self.chunk(), extent)?.filter(is_new);
        loop {
            let some: Vec<Coords> = coords.by_ref().take(PIECES).collect();
            if some.is_empty() {
                return Ok(());
            }
            let entries = index.find_all(file, &some, self.chunk())?;
            let parts: Vec<_> =
                entries.iter().flatten().filter_map(|entry| Some((entry.address?, bytes.as_slice()))).collect();
            file.write_raw("chunk", &parts)?;
        }
    }

    /// Whether all of a chunk lies outside of an extent.
    pub(crate) fn is_outside(&self, coord: &[u64], extent: &Extent) -> bool {
        let sides = self.chunk().iter().zip(extent.dims());
        coord.iter().zip(sides).any(|(nth, (size, dim))| nth.saturating_mul(*size) >= *dim)
    }

    /// Gives back all space: chunks and index.
    pub fn delete(self, file: &OpenFile) -> Result<()> {
        let mut chunks = Vec::new();
        self.index.for_each(file, self.chunk(), &mut |_, entry| {
            if let Some(address) = entry.address {
                file.check("chunk", address, entry.size())?;
                chunks.push((address, entry.size()));
            }
            // Blocks of an index that name each other could go on for very long.
            if chunks.len() as u64 > file.end() {
                let why = "more chunks than the file has bytes";
                return Err(hyperslab_file::Error::broken("chunk index", 0, why));
            }
            Ok(())
        })?;
        self.index.delete(file)?;
        Ok(chunks.into_iter().try_for_each(|(address, length)| file.free_values(address, length))?)
    }
}

/// All coordinates of a grid of chunks, the last dimension fastest.
pub(crate) struct GridCoords {
    next: Option<Coords>,
    counts: Coords,
}

impl GridCoords {
    /// The coordinates of the chunks that a dataset has.
    pub(crate) fn of(chunk: &[u64], extent: &Extent) -> Result<GridCoords> {
        let counts: Coords = extent.dims().iter().zip(chunk).map(|(dim, size)| dim.div_ceil(*size)).collect();
        let any = !counts.contains(&0);
        Ok(GridCoords { next: any.then(|| Coords::from_elem(0, counts.len())), counts })
    }

    /// How many there are; stops at the largest number.
    fn total(&self) -> u64 {
        self.counts.iter().fold(1, |count, side| count.saturating_mul(*side))
    }
}

impl Iterator for GridCoords {
    type Item = Coords;

    fn next(&mut self) -> Option<Coords> {
        let now = self.next.take()?;
        let mut next = now.clone();
        for (index, count) in next.iter_mut().zip(&self.counts).rev() {
            *index += 1;
            if *index < *count {
                self.next = Some(next);
                break;
            }
            *index = 0;
        }
        Some(now)
    }
}
