//! Chunks that are there before values are written, and the end of all chunks.

use std::borrow::Cow;

use hyperslab_file::OpenFile;
use hyperslab_format::message::ChunkIndex;
use hyperslab_space::{Coords, Extent};

use crate::{
    Chunked, Filling, Index, Result,
    index::check_space,
    layout::chunked::PIECES,
    transfer::publish::{Made, Reserved},
};

impl Chunked {
    /// Takes space for every chunk that has none, and fills it. Whether the layout message must say something new.
    pub fn allocate_all(&mut self, file: &OpenFile, filling: &Filling<'_>) -> Result<bool> {
        self.publish(file, filling, |chunked| match chunked.kind {
            ChunkIndex::Implicit => Ok(Vec::new()),
            _ => chunked.store_missing(file, &chunked.extent, filling, &|_| true),
        })
    }

    /// Space for all chunks that lie one after the other, filled where a dataset of this extent has chunks. Within a part of an operation that may fail.
    pub(crate) fn filled_index(&self, file: &OpenFile, extent: &Extent, filling: &Filling<'_>) -> Result<Index> {
        let index = Index::create(file, self.kind, &self.shape())?;
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
        wanted: &dyn Fn(&Coords) -> bool,
    ) -> Result<Vec<Reserved>> {
        let plain = filling.bytes(self.bytes)?;
        let (mut coded, mut mask) = (Vec::new(), 0);
        if self.coder.filters() {
            mask = self.coder.encode(&vec![0; self.chunk().len()], &plain, &mut coded, &mut Vec::new())?;
        }
        let places = Places::of(self.chunk(), extent)?;
        let least = if self.coder.filters() { coded.len().min(plain.len()) } else { plain.len() };
        check_space(places.total(), least as u64)?;
        let (mut stored, mut places) = (Vec::new(), places.filter(wanted));
        loop {
            let some: Vec<Coords> = places.by_ref().take(PIECES).collect();
            if some.is_empty() {
                return Ok(stored);
            }
            let entries = self.index.find_all(file, &some, self.chunk())?;
            let missing = some.into_iter().zip(entries).filter(|(_, entry)| entry.is_none());
            let made: Vec<_> = missing
                .map(|(place, _)| {
                    let (bytes, mask) = if self.is_coded(&place, extent) { (&coded, mask) } else { (&plain, 0) };
                    // Bytes that went through no filter may be anything, if the user wants it so.
                    let write = filling.write || self.coder.filters();
                    let size = bytes.len();
                    Made { place, old: None, size, bytes: write.then_some(Cow::Borrowed(bytes)), mask }
                })
                .collect();
            stored.push(self.write_made(file, &made)?);
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
        let bytes = filling.bytes(self.bytes)?;
        let is_new = |place: &Coords| old.is_none_or(|old| self.is_outside(place, old));
        let mut places = Places::of(self.chunk(), extent)?.filter(is_new);
        loop {
            let some: Vec<Coords> = places.by_ref().take(PIECES).collect();
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
    pub(crate) fn is_outside(&self, place: &[u64], extent: &Extent) -> bool {
        let sides = self.chunk().iter().zip(extent.dims());
        place.iter().zip(sides).any(|(nth, (size, dim))| nth.saturating_mul(*size) >= *dim)
    }

    /// Gives back all space: chunks and index.
    pub fn delete(self, file: &OpenFile) -> Result<()> {
        let mut chunks = Vec::new();
        self.index.for_each(file, self.chunk(), &mut |_, entry| {
            if let Some(address) = entry.address {
                file.check("chunk", address, entry.size)?;
                chunks.push((address, entry.size));
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

/// All places of a grid, the last dimension fastest.
pub(crate) struct Places {
    next: Option<Coords>,
    counts: Coords,
}

impl Places {
    /// The places of chunks that a dataset has.
    pub(crate) fn of(chunk: &[u64], extent: &Extent) -> Result<Places> {
        let counts: Coords = extent.dims().iter().zip(chunk).map(|(dim, size)| dim.div_ceil(*size)).collect();
        let any = !counts.contains(&0);
        Ok(Places { next: any.then(|| Coords::from_elem(0, counts.len())), counts })
    }

    /// How many there are; stops at the largest number.
    fn total(&self) -> u64 {
        self.counts.iter().fold(1, |count, side| count.saturating_mul(*side))
    }
}

impl Iterator for Places {
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
