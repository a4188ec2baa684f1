//! Many chunks as they are stored, past the filters: to copy a dataset without a look at its values.

use std::borrow::Cow;

use hyperslab_base::memory;
use hyperslab_file::OpenFile;
use hyperslab_format::ChunkEntry;
use hyperslab_space::Coords;

use crate::{Chunked, Error, Filling, Index, Result, transfer::publish::Made};

/// A stored chunk: its place in the grid, the filters that were left out, its bytes.
pub type StoredChunk = (Coords, u32, Vec<u8>);

impl Chunked {
    /// The chunks that were ever written, by rising place, and what the index says of each.
    pub fn entries(&self, file: &OpenFile) -> Result<Vec<(Coords, ChunkEntry)>> {
        if let Index::Implicit(_) = self.index {
            return self.all_entries(file);
        }
        let mut entries = Vec::new();
        self.index.for_each(file, self.chunk(), &mut |place, entry| {
            // Blocks of an index that name each other could go on for very long.
            if entries.len() as u64 > file.end() {
                let address = entry.address.unwrap_or(0);
                let why = "more chunks than the file has bytes";
                return Err(hyperslab_file::Error::broken("chunk index", address, why));
            }
            let inside = place.filter(|place| entry.address.is_some() && !self.is_outside(place, &self.extent));
            entries.extend(inside.map(|place| (place, ChunkEntry { start: Vec::new(), ..entry.clone() })));
            Ok(())
        })?;
        entries.sort_by(|(left, _), (right, _)| left.cmp(right));
        Ok(entries)
    }

    /// The chunks of an index that needs no entries.
    fn all_entries(&self, file: &OpenFile) -> Result<Vec<(Coords, ChunkEntry)>> {
        let sides: Vec<u64> =
            self.extent.dims().iter().zip(self.chunk()).map(|(dim, size)| dim.div_ceil(*size)).collect();
        let count = sides.iter().fold(1u64, |count, side| count.saturating_mul(*side));
        file.check("chunks", 0, count.saturating_mul(self.bytes as u64))?;
        let place = |mut number: u64| {
            let mut place: Coords = sides.as_slice().into();
            for (nth, side) in place.iter_mut().zip(&sides).rev() {
                *nth = number % side;
                number /= side;
            }
            place
        };
        let places: Vec<Coords> = (0..count).map(place).collect();
        let found = self.index.find_all(file, &places, self.chunk())?;
        Ok(places.into_iter().zip(found).filter_map(|(place, entry)| Some((place, entry?))).collect())
    }

    /// The stored bytes of some chunks, with one request.
    pub fn read_entries(&self, file: &OpenFile, entries: &[(Coords, ChunkEntry)]) -> Result<Vec<StoredChunk>> {
        let mut chunks = Vec::with_capacity(entries.len());
        for (place, entry) in entries {
            file.check("chunk", entry.address.unwrap_or(0), entry.size)?;
            chunks.push((place.clone(), entry.mask, memory::zeroed(entry.size)?));
        }
        let parts = chunks.iter_mut().zip(entries);
        let parts = parts.map(|((.., bytes), (_, entry))| (entry.address.unwrap_or(0), bytes.as_mut_slice()));
        file.read_raw("chunk", parts.collect())?;
        Ok(chunks)
    }

    /// Stores chunks of rising places that went through the filters already. Whether the layout message must say something new.
    pub fn write_stored(&mut self, file: &OpenFile, chunks: &[StoredChunk], filling: &Filling<'_>) -> Result<bool> {
        for (place, mask, bytes) in chunks {
            let plain = !self.is_coded(place, &self.extent);
            self.check_place(place)?;
            // One that reaches over the edge keeps the mask of the filters that it will go through once more.
            if plain && (bytes.len() != self.bytes || *mask != 0 && !self.has_plain_edges()) {
                let why = format!(
                    "{} bytes for chunk {place:?}, which has no filters and {} bytes, with mask {mask:#x}",
                    bytes.len(),
                    self.bytes
                );
                return Err(Error::Layout(why));
            }
        }
        self.publish(file, filling, |chunked| {
            let places: Vec<Coords> = chunks.iter().map(|(place, ..)| place.clone()).collect();
            let olds = chunked.index.find_all(file, &places, chunked.chunk())?;
            let (mut made, mut in_place) = (Vec::new(), Vec::new());
            for ((place, mask, bytes), old) in chunks.iter().zip(olds) {
                let plain = !chunked.is_coded(place, &chunked.extent);
                match old.as_ref().and_then(|old| old.address).filter(|_| plain) {
                    Some(address) => in_place.push((address, bytes.as_slice())),
                    None => {
                        let (place, bytes) = (place.clone(), Cow::Borrowed(bytes.as_slice()));
                        made.push(Made { place, old, size: bytes.len(), bytes: Some(bytes), mask: *mask });
                    }
                }
            }
            if !in_place.is_empty() {
                file.write_raw("chunk", &in_place)?;
            }
            Ok(vec![chunked.write_made(file, &made)?])
        })
    }
}
