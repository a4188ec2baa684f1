//! Chunks on their way into memory.

use hyperslab_file::OpenFile;
use hyperslab_space::Coords;

use super::{Chunk, ChunkCache, ChunkShelf, Home, spread::spread};
use crate::{Error, Facts, Layout, Result};

/// A chunk as it is stored.
struct Stored {
    bytes: Vec<u8>,
    mask: u32,
    coded: bool,
}

impl ChunkCache {
    /// The chunks at rising places, read with one request and decoded on all cores; nothing for those that were never written.
    pub(super) fn fetch(&self, shelf: &ChunkShelf, places: &[Coords]) -> Result<Vec<Option<Chunk>>> {
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let (home, mut stored) = (shelf.home(), Vec::new());
        home.look(&mut |layout| {
            stored = read(home.file(), &**home, layout, places)?;
            Ok(())
        })?;
        let coder = &home.facts().coder;
        spread(stored.into_iter().zip(places).collect(), |scratch, (stored, place)| match stored {
            Some(Stored { bytes, mask, coded: true }) => {
                let mut room = Vec::new();
                coder.decode(place, &bytes, mask, &mut room, scratch)?;
                // Filters take room for the worst case.
                room.shrink_to_fit();
                Ok(Some(Chunk { bytes: room }))
            }
            Some(Stored { bytes, .. }) => Ok(Some(Chunk { bytes })),
            None => Ok(None),
        })
    }
}

fn read(file: &OpenFile, home: &dyn Home, layout: &dyn Layout, places: &[Coords]) -> Result<Vec<Option<Stored>>> {
    let mut stored = Vec::with_capacity(places.len());
    let mut addresses = Vec::new();
    for (place, entry) in places.iter().zip(layout.locate(file, places)?) {
        let Some((entry, address)) = entry.and_then(|entry| entry.address.map(|address| (entry, address))) else {
            stored.push(None);
            continue;
        };
        let coded = layout.is_coded(place);
        let size = if coded { entry.size } else { plain_size(home.facts()) };
        file.check("chunk", address, size)?;
        let bytes = room(size)?;
        addresses.push(address);
        stored.push(Some(Stored { bytes, mask: entry.mask, coded }));
    }
    let parts = stored.iter_mut().flatten().zip(addresses);
    let parts: Vec<_> = parts.map(|(stored, address)| (address, stored.bytes.as_mut_slice())).collect();
    if !parts.is_empty() {
        file.read_raw("chunk", parts)?;
    }
    Ok(stored)
}

fn plain_size(facts: &Facts) -> u64 {
    facts.bytes as u64
}

fn room(size: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let len = usize::try_from(size).ok().filter(|&len| bytes.try_reserve_exact(len).is_ok());
    bytes.resize(len.ok_or(Error::Memory(size))?, 0);
    Ok(bytes)
}
