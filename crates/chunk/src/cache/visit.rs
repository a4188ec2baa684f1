//! Chunks that a request looks at without wanting their values.

use hyperslab_cache::{Demand, Footprint, Lookup};
use hyperslab_space::Piece;

use super::{ChunkCache, Dataset};
use crate::{ResidentChunk, Result, layout::Part};

/// What a request does with a chunk.
type Visit<'a> = dyn FnMut(&ResidentChunk, &Piece) -> Result<()> + 'a;

impl ChunkCache {
    /// Calls `each` for the chunks of pieces. Those that are not in memory are loaded before, with one request and without values. Those that were never written are
    /// left out.
    pub(super) fn visit_list(
        &self,
        (file, partition): Dataset<'_>,
        (list, bytes): (&[Piece], usize),
        each: &mut Visit<'_>,
    ) -> Result<()> {
        if bytes > self.available(partition) {
            return list.iter().try_for_each(|piece| self.visit_alone((file, partition), piece, each));
        }
        let _reservation = partition.reserve(Demand { chunks: bytes, aside: bytes });
        let mut open: Vec<_> = list.iter().map(|piece| (partition.find(&piece.chunk), piece)).collect();
        while !open.is_empty() {
            let (mut vacant, mut awaited) = (Vec::new(), Vec::new());
            for (found, piece) in open.drain(..) {
                match found {
                    Lookup::Hit(pinned) => each(&pinned.read(), piece)?,
                    Lookup::Miss(ticket) => vacant.push((ticket, piece)),
                    Lookup::Loading(waiter) => awaited.push((waiter, piece)),
                }
            }
            let wanted: Vec<_> = vacant.iter().map(|(_, piece)| (&piece.chunk, 0)).collect();
            let mut grant = self.room(partition, self.footprint(partition, &wanted, Part::Selection)?);
            let wanted: Vec<_> = vacant.iter().map(|(_, piece)| (partition, piece.chunk.clone())).collect();
            for ((ticket, piece), chunk) in vacant.into_iter().zip(self.fetch(file, &wanted, Part::Selection)?) {
                let Some(chunk) = chunk else { continue };
                each(&chunk, piece)?;
                if let Some(grant) = &mut grant
                    && grant.covers(chunk.footprint())
                {
                    ticket.fill(chunk, grant, false);
                }
            }
            // A thread that waits for another one keeps no room that this one may want.
            drop(grant);
            open.extend(awaited.into_iter().map(|(waiter, piece)| (waiter.wait(), piece)));
        }
        Ok(())
    }

    /// Calls `each` for the chunk of a piece that may be larger than what it may have of the cache: as it is in memory, or else as the file has it.
    fn visit_alone(&self, (file, partition): Dataset<'_>, piece: &Piece, each: &mut Visit<'_>) -> Result<()> {
        if let Some(pinned) = partition.peek(&piece.chunk) {
            return each(&pinned.read(), piece);
        }
        let loaded = self.fetch(file, &[(partition, piece.chunk.clone())], Part::Selection)?.pop().flatten();
        loaded.map_or(Ok(()), |chunk| each(&chunk, piece))
    }
}
