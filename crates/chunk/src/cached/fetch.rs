//! Chunks on their way into memory.

use std::time::Instant;

use hyperslab_file::OpenFile;
use hyperslab_space::Coords;

use super::{Chunk, ChunkCache, ChunkShelf, spread::spread};
use crate::{Error, Result};

/// A chunk as it is stored.
struct Stored {
    bytes: Vec<u8>,
    mask: u32,
    coded: bool,
}

impl ChunkCache {
    /// Chunks of any datasets of the file, those of each together and by rising place: read with one request and decoded on all cores; nothing
    /// for those that were never written.
    pub(super) fn fetch(&self, wanted: &[(&ChunkShelf, Coords)]) -> Result<Vec<Option<Chunk>>> {
        let Some((first, _)) = wanted.first() else { return Ok(Vec::new()) };
        let stored = read(first.home().file(), wanted)?;
        let begun = Instant::now();
        let decoded =
            spread(stored.into_iter().zip(wanted).collect(), |scratch, (stored, (shelf, place))| match stored {
                Some(Stored { bytes, mask, coded: true }) => {
                    let mut room = Vec::new();
                    shelf.home().facts().coder.decode(place, &bytes, mask, &mut room, scratch)?;
                    // Filters take room for the worst case.
                    room.shrink_to_fit();
                    Ok(Some(Chunk { bytes: room }))
                }
                Some(Stored { bytes, .. }) => Ok(Some(Chunk { bytes })),
                None => Ok(None),
            });
        self.cache.decoded_for(begun.elapsed());
        decoded
    }
}

fn read(file: &OpenFile, wanted: &[(&ChunkShelf, Coords)]) -> Result<Vec<Option<Stored>>> {
    let (mut stored, mut addresses) = (Vec::with_capacity(wanted.len()), Vec::new());
    // Chunks stay where they are until they are read.
    let _held = file.reading();
    for group in wanted.chunk_by(|left, right| left.0.is(right.0)) {
        let Some((shelf, _)) = group.first() else { continue };
        let places: Vec<Coords> = group.iter().map(|(_, place)| place.clone()).collect();
        shelf.home().look(&mut |layout| {
            for (place, entry) in places.iter().zip(layout.locate(file, &places)?) {
                let Some((entry, address)) = entry.and_then(|entry| entry.address.map(|address| (entry, address)))
                else {
                    stored.push(None);
                    continue;
                };
                let coded = layout.is_coded(place);
                let size = if coded { entry.size } else { shelf.home().facts().bytes as u64 };
                file.check("chunk", address, size)?;
                addresses.push(address);
                stored.push(Some(Stored { bytes: room(size)?, mask: entry.mask, coded }));
            }
            Ok(())
        })?;
    }
    let parts = stored.iter_mut().flatten().zip(addresses);
    let parts: Vec<_> = parts.map(|(stored, address)| (address, stored.bytes.as_mut_slice())).collect();
    if !parts.is_empty() {
        file.read_raw("chunk", parts)?;
    }
    Ok(stored)
}

fn room(size: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let len = usize::try_from(size).ok().filter(|&len| bytes.try_reserve_exact(len).is_ok());
    bytes.resize(len.ok_or(Error::Memory(size))?, 0);
    Ok(bytes)
}
