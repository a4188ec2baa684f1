//! Chunks that a request looks at one by one: which elements are defined, with their values or without.

use hyperslab_cache::{Demand, Footprint, Lookup, Pinned};
use hyperslab_file::OpenFile;
use hyperslab_space::Piece;

use super::{ChunkCache, ChunkPartition, Keep, RequestOptions, io_path::coords};
use crate::{ResidentChunk, Result, layout::Part};

/// What a request does with a chunk.
type Visit<'a> = dyn FnMut(&ResidentChunk, &Piece) -> Result<()> + 'a;

impl ChunkCache {
    /// Calls `each` for the chunks of pieces, which have the part that is wanted. What is not in memory is loaded before, with one request. Chunks that were never
    /// written are left out.
    pub(super) fn visit_list(
        &self,
        (RequestOptions { keep, file }, partition): (RequestOptions<'_>, &ChunkPartition),
        (list, bytes, part): (&[Piece], usize, Part),
        each: &mut Visit<'_>,
    ) -> Result<()> {
        // A thread that waits for nothing needs no reservation.
        if let Some(here) = partition.hits(&coords(list))
            && here.iter().all(|pinned| has(&pinned.read(), part))
        {
            return here.iter().zip(list).try_for_each(|(pinned, piece)| visit(pinned, piece, (partition, part), each));
        }
        if bytes > self.available(partition) {
            return list.iter().try_for_each(|piece| {
                let here = partition.settled(&piece.chunk);
                self.visit_alone((file, partition), (piece, here), part, each)
            });
        }
        let _reservation = partition.reserve(Demand { chunks: bytes, aside: bytes });
        let mut open: Vec<_> = list.iter().map(|piece| (partition.find(&piece.chunk), piece)).collect();
        while !open.is_empty() {
            let (mut here, mut vacant, mut awaited) = (Vec::new(), Vec::new(), Vec::new());
            for (found, piece) in open.drain(..) {
                match found {
                    Lookup::Hit(pinned) => here.push((pinned, piece)),
                    Lookup::Miss(ticket) => vacant.push((ticket, piece)),
                    Lookup::Loading(waiter) => awaited.push((waiter, piece)),
                }
            }
            if part == Part::All {
                let crowded = self.complete((file, partition), &mut here)?;
                crowded.iter().try_for_each(|piece| {
                    let here = partition.peek(&piece.chunk);
                    self.visit_alone((file, partition), (piece, here), part, each)
                })?;
            }
            here.iter().try_for_each(|(pinned, piece)| visit(pinned, piece, (partition, part), each))?;
            drop(here);
            let wanted: Vec<_> = vacant.iter().map(|(_, piece)| (&piece.chunk, 0)).collect();
            let mut grant = match keep {
                Keep::Worthy => self.room(partition, self.footprint(partition, &wanted, part)?),
                Keep::Nothing => None,
            };
            let wanted: Vec<_> = vacant.iter().map(|(_, piece)| (partition, piece.chunk.clone())).collect();
            for ((ticket, piece), chunk) in vacant.into_iter().zip(self.fetch(file, &wanted, part)?) {
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

    /// Calls `each` for the chunk of a piece that may be larger than what it may have of the cache: as it is in memory, if it is there, or else as the file has it. What is
    /// missing of a chunk in memory is in the file, and so is the rest.
    fn visit_alone(
        &self,
        (file, partition): (&OpenFile, &ChunkPartition),
        (piece, here): (&Piece, Option<Pinned<ResidentChunk>>),
        part: Part,
        each: &mut Visit<'_>,
    ) -> Result<()> {
        if let Some(pinned) = here
            && let chunk = pinned.read()
            && has(&chunk, part)
        {
            return each(&chunk, piece);
        }
        let loaded = self.fetch(file, &[(partition, piece.chunk.clone())], part)?.pop().flatten();
        loaded.map_or(Ok(()), |chunk| each(&chunk, piece))
    }
}

/// Calls `each` for a chunk in memory.
fn visit(
    pinned: &Pinned<ResidentChunk>,
    piece: &Piece,
    (partition, part): (&ChunkPartition, Part),
    each: &mut Visit<'_>,
) -> Result<()> {
    if part == Part::All && !partition.source().layout().is_whole(piece) {
        pinned.mark_used_in_part();
    }
    each(&pinned.read(), piece)
}

/// Whether the part of a chunk that is wanted is in memory.
fn has(chunk: &ResidentChunk, part: Part) -> bool {
    part == Part::Selection || chunk.is_complete()
}
