//! Many chunks as they are stored, past the filters: to copy a dataset without a look at its values.

use hyperslab_file::OpenFile;
use hyperslab_format::ChunkEntry;

use super::{ChunkCoord, EncodedChunk, Loader, ResidentChunk, StoredAt, Storer, Workspace, allocation::Overwrite};
use crate::{Chunked, Error, Filling, Index, Result, layout::Part};

impl Chunked {
    /// The chunks that were ever written, by rising coordinate, and what the index says of each.
    pub fn entries(&self, file: &OpenFile) -> Result<Vec<(ChunkCoord, ChunkEntry)>> {
        if let Index::Implicit(_) = self.index {
            return self.all_entries(file);
        }
        let mut entries = Vec::new();
        self.index.for_each(file, self.chunk(), &mut |coord, entry| {
            // Blocks of an index that name each other could go on for very long.
            if entries.len() as u64 > file.end() {
                let address = entry.address.unwrap_or(0);
                let why = "more chunks than the file has bytes";
                return Err(hyperslab_file::Error::broken("chunk index", address, why));
            }
            let inside = coord.filter(|coord| entry.address.is_some() && !self.is_outside(coord, &self.extent));
            entries.extend(inside.map(|coord| (coord, entry.clone().at(Vec::new()))));
            Ok(())
        })?;
        entries.sort_by(|(left, _), (right, _)| left.cmp(right));
        Ok(entries)
    }

    /// Reads of each stored chunk which elements are defined, and holds that against its index. Tells `each` the addresses of chunks where that is wrong, and why.
    /// Chunks that go through a filter that is not there are not read.
    pub fn check_selections(&self, file: &OpenFile, each: &mut dyn FnMut(u64, Error)) -> Result<()> {
        for (coord, entry) in self.entries(file)? {
            // One that reaches over the end of the file is told of with the index.
            let Ok(Some(at)) = self.stored_at(file, &coord, &entry) else { continue };
            let Some(part) = self.chunks.part_of(Part::Selection, &at).filter(|_| self.chunks.can_select()) else {
                continue;
            };
            let checked = Loader::new(file).read(&[(&coord, Some(&part))]).and_then(|mut read| {
                let encoded = read.pop().flatten();
                let decode = |encoded| ResidentChunk::decode(&self.chunks, &at, encoded, &mut Workspace::default());
                encoded.map(decode).transpose().map(drop)
            });
            if let Err(why) = checked {
                each(at.address, why);
            }
        }
        Ok(())
    }

    /// The coordinates of stored chunks in the dataset that are `wanted`.
    pub(crate) fn coords_within(
        &self,
        file: &OpenFile,
        wanted: &dyn Fn(&ChunkCoord) -> bool,
    ) -> Result<Vec<ChunkCoord>> {
        let coords = self.entries(file)?.into_iter().map(|(coord, _)| coord);
        Ok(coords.filter(wanted).collect())
    }

    /// The chunks of an index that needs no entries.
    fn all_entries(&self, file: &OpenFile) -> Result<Vec<(ChunkCoord, ChunkEntry)>> {
        let sides: Vec<u64> =
            self.extent.dims().iter().zip(self.chunk()).map(|(dim, size)| dim.div_ceil(*size)).collect();
        let count = sides.iter().fold(1u64, |count, side| count.saturating_mul(*side));
        file.check("chunks", 0, count.saturating_mul(self.bytes() as u64))?;
        let coord = |mut number: u64| {
            let mut coord: ChunkCoord = sides.as_slice().into();
            for (nth, side) in coord.iter_mut().zip(&sides).rev() {
                *nth = number % side;
                number /= side;
            }
            coord
        };
        let coords: Vec<ChunkCoord> = (0..count).map(coord).collect();
        let found = self.index.find_all(file, &coords, self.chunk())?;
        Ok(coords.into_iter().zip(found).filter_map(|(coord, entry)| Some((coord, entry?))).collect())
    }

    /// The stored bytes of some chunks, with one request.
    pub fn read_entries(
        &self,
        file: &OpenFile,
        entries: &[(ChunkCoord, ChunkEntry)],
    ) -> Result<Vec<EncodedChunk<'static>>> {
        let mut located = Vec::with_capacity(entries.len());
        for (coord, entry) in entries {
            let (address, sections) = (entry.address.unwrap_or(0), entry.sections.clone());
            file.check("chunk", address, sections.bytes())?;
            let filtered = self.is_filtered(coord, &self.extent);
            located.push((coord, StoredAt { address, sections, filtered, needed: 0 }));
        }
        let wanted: Vec<_> = located.iter().map(|(coord, at)| (*coord, Some(at))).collect();
        Ok(Loader::new(file).read(&wanted)?.into_iter().flatten().collect())
    }

    /// Refuses a stored chunk of other sections than those here have.
    fn check_sections(&self, chunk: &EncodedChunk<'_>) -> Result<()> {
        let (sections, nothing) = (&chunk.sections, self.nowhere().sections);
        let is_alike = sections.len() == nothing.len() && sections.has_unfiltered() == nothing.has_unfiltered();
        match is_alike {
            true => Ok(()),
            false => Err(Error::Layout(format!("{} sections for chunk {:?}", sections.len(), chunk.coord))),
        }
    }

    /// Stores chunks of rising coordinates that went through the filters already. Whether the layout message must say something new.
    pub fn write_stored(
        &mut self,
        file: &OpenFile,
        chunks: &[EncodedChunk<'_>],
        filling: &Filling<'_>,
    ) -> Result<bool> {
        let mut stored = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let (coord, filtered) = (&chunk.coord, self.is_filtered(&chunk.coord, &self.extent));
            let (size, mask) = (chunk.sections.bytes(), chunk.sections.mask());
            self.check_coord(coord)?;
            if self.structure().is_some() {
                self.check_sections(chunk)?;
                stored.push(EncodedChunk { filtered, ..chunk.borrowed() });
                continue;
            }
            // One that reaches over the edge keeps the mask of the filters that it will go through once more.
            if !filtered && (size != self.bytes() as u64 || mask != 0 && !self.has_plain_edges()) {
                let bytes = self.bytes();
                let why = format!(
                    "{size} bytes for chunk {coord:?}, which has no filters and {bytes} bytes, with mask {mask:#x}"
                );
                return Err(Error::Layout(why));
            }
            stored.push(EncodedChunk { filtered, ..chunk.borrowed() });
        }
        self.publish(file, filling, |chunked| {
            let coords: Vec<ChunkCoord> = stored.iter().map(|chunk| chunk.coord.clone()).collect();
            let old = chunked.index.find_all(file, &coords, chunked.chunk())?;
            let stored: Vec<_> = stored.iter().collect();
            Ok(vec![Storer::new(file).store(chunked, &stored, old, Overwrite::Unfiltered)?])
        })
    }
}
