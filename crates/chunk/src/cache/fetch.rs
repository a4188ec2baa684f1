//! Chunks on their way into memory.

use std::time::{Duration, Instant};

use hyperslab_base::memory;
use hyperslab_cache::assert_no_locks_held;
use hyperslab_driver::cores;
use hyperslab_file::OpenFile;
use hyperslab_space::Coords;

use super::{Chunk, ChunkCache, ChunkShelf};
use crate::{Result, layout::Located, layout::chunked::BATCH};

/// A chunk of a dataset.
type Wanted<'a> = (&'a ChunkShelf, Coords);

impl ChunkCache {
    /// As [`fetch`]; how long it takes to decode them counts as waiting.
    pub(super) fn fetch(&self, wanted: &[Wanted<'_>]) -> Result<Vec<Option<Chunk>>> {
        fetch(wanted, &mut |time| self.cache.decoded_for(time))
    }
}

/// Chunks of any datasets of the file, those of each together and by rising place: read with one request and decoded on all cores; nothing
/// for those that were never written. Tells how long it took to decode them.
pub(super) fn fetch(wanted: &[Wanted<'_>], took: &mut dyn FnMut(Duration)) -> Result<Vec<Option<Chunk>>> {
    let Some((first, _)) = wanted.first() else { return Ok(Vec::new()) };
    let file = first.home().file();
    assert_no_locks_held("before chunks are read");
    // Chunks stay where they are until they are read.
    let mut held = Some(file.reading());
    let located = locate(file, wanted)?;
    let (mut chunks, mut rest) = (Vec::with_capacity(wanted.len()), located.as_slice());
    while !rest.is_empty() {
        let (now, later) = rest.split_at(batch(rest));
        let stored = read(file, now)?;
        if later.is_empty() {
            drop(held.take());
        }
        let begun = Instant::now();
        let items = now.iter().zip(stored).zip(wanted.iter().skip(chunks.len())).collect();
        chunks.extend(cores::map(items, |scratch, ((located, stored), wanted)| {
            located.as_ref().map(|located| decoded(wanted, located, stored, scratch)).transpose()
        })?);
        took(begun.elapsed());
        rest = later;
    }
    Ok(chunks)
}

fn locate(file: &OpenFile, wanted: &[Wanted<'_>]) -> Result<Vec<Option<Located>>> {
    let mut located = Vec::with_capacity(wanted.len());
    for group in wanted.chunk_by(|left, right| left.0.is(right.0)) {
        let Some((shelf, _)) = group.first() else { continue };
        let places: Vec<Coords> = group.iter().map(|(_, place)| place.clone()).collect();
        shelf.home().look(&mut |layout| {
            located.extend(layout.locate(file, &places)?);
            Ok(())
        })?;
    }
    Ok(located)
}

/// How many chunks are read at once: all, unless they are stored far larger than they are. Spoiled files can say that.
fn batch(located: &[Option<Located>]) -> usize {
    let mut bytes = 0u64;
    let fits = |located: &&Option<Located>| {
        bytes = bytes.saturating_add(located.as_ref().map_or(0, |located| located.size));
        bytes <= BATCH
    };
    located.iter().take_while(fits).count().clamp(1, located.len())
}

/// The stored bytes of chunks.
fn read(file: &OpenFile, located: &[Option<Located>]) -> Result<Vec<Vec<u8>>> {
    let sizes = located.iter().map(|located| located.as_ref().map_or(0, |located| located.size));
    let mut stored = sizes.map(memory::zeroed).collect::<std::result::Result<Vec<_>, _>>()?;
    let parts = located.iter().zip(&mut stored);
    let parts: Vec<_> =
        parts.filter_map(|(located, bytes)| Some((located.as_ref()?.address, bytes.as_mut_slice()))).collect();
    if !parts.is_empty() {
        file.read_raw("chunk", parts)?;
    }
    Ok(stored)
}

fn decoded((shelf, place): &Wanted<'_>, located: &Located, stored: Vec<u8>, scratch: &mut Vec<u8>) -> Result<Chunk> {
    let Some(coder) = shelf.home().facts().coder.as_ref().filter(|_| located.coded) else {
        return Ok(Chunk { bytes: stored });
    };
    let mut bytes = Vec::new();
    coder.decode(place, &stored, located.mask, located.needed, &mut bytes, scratch)?;
    // Filters take room for the worst case.
    bytes.shrink_to_fit();
    Ok(Chunk { bytes })
}
