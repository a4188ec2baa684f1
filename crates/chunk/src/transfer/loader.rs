//! Chunks from the file: read with one vector request, decoded on all cores.
//!
//! Called for reads through the cache and past it, for chunks that are changed in part, for prefetching, reading ahead and copying. Where
//! chunks are is asked before ([`Values::locate`](crate::Values)), so a loader takes chunks of any datasets of its file, and knows nothing of
//! what they are decoded to.

use std::{
    borrow::Cow,
    time::{Duration, Instant},
};

use hyperslab_base::memory;
use hyperslab_driver::cores;
use hyperslab_file::{OpenFile, Reading};

use super::{BATCH, ChunkCoord, EncodedChunk, StoredAt, Workspace};
use crate::Result;

/// A chunk to load: its coordinate, and where it is stored, if it is.
pub type Wanted<'a> = (&'a ChunkCoord, Option<&'a StoredAt>);

/// Loads chunks of a file.
pub struct Loader<'a> {
    file: &'a OpenFile,
    /// Holds changes of the file off until all bytes are read.
    held: Option<Reading<'a>>,
}

impl<'a> Loader<'a> {
    /// For a caller that holds changes of the file off, or is the operation that changes it.
    pub fn new(file: &'a OpenFile) -> Loader<'a> {
        Loader { file, held: None }
    }

    /// Holds changes of the file off until all bytes are read. To be made before chunks are located, so that they stay where they are.
    pub fn holding(file: &'a OpenFile) -> Loader<'a> {
        Loader { file, held: Some(file.reading()) }
    }

    /// The stored bytes of chunks, read with one vector request; nothing where there is no chunk. The ranges of the file must have been
    /// [checked](OpenFile::check), because this takes as much memory as they say.
    pub fn read(&self, wanted: &[Wanted<'_>]) -> Result<Vec<Option<EncodedChunk<'static>>>> {
        // Room for all at once: `collect` moves the items whenever it grows, because it cannot tell how many come where a closure may fail.
        let mut encoded = Vec::with_capacity(wanted.len());
        for (coord, at) in wanted {
            let room = |at: &StoredAt| -> Result<_> {
                let bytes = memory::zeroed(at.sections.bytes())?;
                Ok(EncodedChunk::of(coord, at, Cow::Owned(bytes)))
            };
            encoded.push(at.map(room).transpose()?);
        }
        let mut parts = Vec::with_capacity(wanted.len());
        for ((_, at), chunk) in wanted.iter().zip(&mut encoded) {
            parts.extend(at.zip(chunk.as_mut()).and_then(|(at, chunk)| Some((at.address, chunk.bytes_mut()?))));
        }
        if !parts.is_empty() {
            self.file.read_raw("chunk", parts)?;
        }
        Ok(encoded)
    }

    /// As [`Loader::read`], of chunks that are all stored, into one piece of memory: for chunks that are decoded and forgotten, of which there may
    /// be tens of thousands of few bytes each.
    pub(crate) fn read_together<'b>(
        &self,
        wanted: impl ExactSizeIterator<Item = &'b StoredAt> + Clone,
        room: &'b mut Vec<u8>,
    ) -> Result<Vec<&'b [u8]>> {
        let size = |at: &StoredAt| usize::try_from(at.sections.bytes()).unwrap_or(usize::MAX);
        let total = wanted.clone().fold(0, |total: u64, at| total.saturating_add(at.sections.bytes()));
        *room = memory::zeroed(total)?;
        let (mut parts, mut rest) = (Vec::with_capacity(wanted.len()), room.as_mut_slice());
        for at in wanted.clone() {
            parts.extend(rest.split_off_mut(..size(at)).map(|part| (at.address, part)));
        }
        self.file.read_raw("chunk", parts)?;
        let (mut stored, mut rest) = (Vec::with_capacity(wanted.len()), room.as_slice());
        for at in wanted {
            stored.extend(rest.split_off(..size(at)));
        }
        Ok(stored)
    }

    /// What `decode` makes of chunks, on all cores; nothing where there is no chunk. `decode` gets the number of the chunk among `wanted`.
    /// As many are read at once as take 64 MiB. Tells `decoding` how long the decoding takes.
    pub fn load<T: Send>(
        mut self,
        wanted: &[Wanted<'_>],
        decode: impl Fn(&mut Workspace, usize, &StoredAt, EncodedChunk<'static>) -> Result<T> + Sync,
        decoding: &mut dyn FnMut(Duration),
    ) -> Result<Vec<Option<T>>> {
        let (mut loaded, mut rest) = (Vec::with_capacity(wanted.len()), wanted);
        while !rest.is_empty() {
            let (now, later) = rest.split_at(batch(rest, |(_, at)| at.map_or(0, |at| at.sections.bytes())));
            let encoded = self.read(now)?;
            if later.is_empty() {
                self.held = None;
            }
            let (begun, first) = (Instant::now(), loaded.len());
            let items = now.iter().zip(encoded).enumerate().collect();
            let decoded = cores::map(items, |workspace, (number, ((_, at), encoded))| {
                let stored = at.zip(encoded);
                stored.map(|(at, encoded)| decode(workspace, first + number, at, encoded)).transpose()
            });
            loaded.extend(decoded?);
            decoding(begun.elapsed());
            rest = later;
        }
        Ok(loaded)
    }
}

/// How many of these items are in memory at once: as many as take [`BATCH`] bytes, and at least one if there is any. Damaged files can say that
/// chunks are stored far larger than they are.
pub(crate) fn batch<T>(items: &[T], bytes_of: impl Fn(&T) -> u64) -> usize {
    let mut bytes = 0u64;
    let fits = |item: &&T| {
        bytes = bytes.saturating_add(bytes_of(item));
        bytes <= BATCH
    };
    items.iter().take_while(fits).count().max(1).min(items.len())
}
