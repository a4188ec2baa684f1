//! Reads.

use hyperslab_cache::{Demand, Footprint, LoadTicket, Lookup};
use hyperslab_space::{Kind, Piece, Pieces, Space};

use super::{
    ChunkCache, ChunkPartition, Dataset, Keep, RequestOptions,
    complete::Held,
    io_path::{Worth, aligned, bytes_of, coords, is_any},
    reach::Reach,
    strips::converts_in_chunks,
};
use crate::{
    ChunkKind, ReadBuffer, ResidentChunk, Result,
    layout::Part,
    transfer::{PIECES, hand_out::hand_out},
};

/// Values that would be converted in strips are looked for in memory if they are in no more chunks.
const RESIDENT: u64 = 64;

impl ChunkCache {
    /// Reads the selected elements, of the dataset's extent, to the selected places of a buffer. The caller holds its range lock.
    pub fn read(
        &self,
        partition: &ChunkPartition,
        options: RequestOptions<'_>,
        selection: &Space,
        mem_selection: &Space,
        mut to: ReadBuffer<'_>,
        fill: Option<&[u8]>,
    ) -> Result<()> {
        let (storage, layout) = (partition.source().storage(), partition.source().layout());
        let RequestOptions { keep, file } = options;
        if !is_any(selection, mem_selection, to.element(layout.element()), to.len())? {
            return Ok(());
        }
        let mem_selection = aligned(selection, mem_selection)?;
        let reach = layout.grid().and_then(|grid| Some((grid, Reach::of(grid, selection)?)));
        if let Some(plan) = to.plan()
            && !converts_in_chunks(layout, reach.as_ref().map(|(_, reach)| reach))
        {
            if let Some((grid, reach)) = reach
                && layout.kind() == ChunkKind::Dense
                && reach.count() <= RESIDENT
                && self.read_resident(partition, selection.pieces(grid, &mem_selection)?, &mut to)?
            {
                if keep == Keep::Worthy {
                    self.read_ahead(partition, &reach);
                }
                return Ok(());
            }
            return self.read_in_strips((partition, options), plan, (selection, &mem_selection), to, fill);
        }
        let all_past = |to: &mut ReadBuffer<'_>| {
            partition.count_bypass(layout.selected(selection));
            storage.live_view()?.values()?.read(file, selection, &mem_selection, to.stored_bytes()?)
        };
        let Some((grid, reach)) = reach else { return all_past(&mut to) };
        let keeps = keep == Keep::Worthy;
        let is_plain = layout.is_addressable();
        let worth = if keeps { self.worth(partition, &reach, selection) } else { Worth::None };
        if is_plain && worth == Worth::None && partition.is_empty() {
            all_past(&mut to)?;
            if keeps {
                self.read_ahead(partition, &reach);
            }
            return Ok(());
        }
        let are_points = is_plain && selection.kind() == Kind::Points && mem_selection.kind() == Kind::All;
        let is_dense = layout.kind() == ChunkKind::Dense;
        let goes_past =
            is_dense && reach.most() > PIECES as u64 || are_points || is_plain && self.is_stream(partition, &reach);
        // The file must have all. If some of it cannot be written, that is in memory.
        if goes_past && self.flush_partition(partition).is_ok() {
            return all_past(&mut to);
        }
        let (mut pieces, mut any_through) = (selection.pieces(grid, &mem_selection)?, false);
        loop {
            let next = pieces.batch(PIECES)?;
            if next.is_empty() {
                break;
            }
            let paths = self.paths(partition, next, keep, worth);
            self.read_past((file, partition), &paths.past, &mut to)?;
            if !paths.through.is_empty() {
                self.cache.touch(partition);
                any_through = true;
            }
            self.for_each_list(partition, &paths.through, (None, Part::All), &mut |list, bytes| {
                self.read_list((file, partition), (list, bytes), &mut to, fill)
            })?;
        }
        if keeps && (is_plain || any_through) {
            self.read_ahead(partition, &reach);
        }
        Ok(())
    }

    /// Reads pieces of chunks that all are in memory; whether they are.
    fn read_resident(
        &self,
        partition: &ChunkPartition,
        mut pieces: Pieces<'_>,
        to: &mut ReadBuffer<'_>,
    ) -> Result<bool> {
        if partition.is_empty() {
            return Ok(false);
        }
        let pieces = pieces.batch(PIECES)?;
        let Some(here) = partition.hits(&coords(&pieces)) else { return Ok(false) };
        self.cache.touch(partition);
        hand_out_all(&mut here.into_iter().zip(&pieces).collect::<Vec<_>>(), to, partition).map(|()| true)
    }

    fn read_past(&self, (file, partition): Dataset<'_>, pieces: &[Piece], to: &mut ReadBuffer<'_>) -> Result<()> {
        let storage = partition.source().storage();
        if pieces.is_empty() {
            return Ok(());
        }
        partition.count_bypass(bytes_of(partition, pieces));
        storage.live_view()?.values()?.read_pieces(file, pieces, to)
    }

    fn read_list(
        &self,
        (file, partition): Dataset<'_>,
        (list, bytes): (&[Piece], usize),
        to: &mut ReadBuffer<'_>,
        fill: Option<&[u8]>,
    ) -> Result<()> {
        let layout = partition.source().layout();
        // A thread that waits for nothing needs no reservation.
        if let Some(here) = partition.hits(&coords(list))
            && here.iter().all(|pinned| pinned.read().is_complete())
        {
            return hand_out_all(&mut here.into_iter().zip(list).collect::<Vec<_>>(), to, partition);
        }
        if bytes > self.available(partition) && layout.kind() == ChunkKind::Sparse {
            return self.read_alone((file, partition), list, to);
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
            let crowded = self.complete((file, partition), &mut here)?;
            self.read_past((file, partition), &crowded, to)?;
            for piece in self.load((file, partition), vacant, &mut here, to)? {
                to.fill_piece(fill, piece, layout)?;
            }
            hand_out_all(&mut here, to, partition)?;
            drop(here);
            open.extend(awaited.into_iter().map(|(waiter, piece)| (waiter.wait(), piece)));
        }
        Ok(())
    }

    /// Reads pieces of chunks that may be larger than what they may have of the cache: of those in memory there, of the others past the cache.
    fn read_alone(&self, (file, partition): Dataset<'_>, list: &[Piece], to: &mut ReadBuffer<'_>) -> Result<()> {
        for piece in list {
            // What is missing of a chunk in memory is in the file, and so is the rest.
            if let Some(pinned) = partition.settled(&piece.chunk)
                && let chunk = pinned.read()
                && chunk.is_complete()
            {
                chunk.scatter(partition.source().layout(), piece, to)?;
                continue;
            }
            self.read_past((file, partition), std::slice::from_ref(piece), to)?;
        }
        Ok(())
    }

    /// Loads chunks; the pieces of those that were never written are left. Where there is no room for chunks, their pieces are read past the cache.
    fn load<'a>(
        &self,
        (file, partition): Dataset<'_>,
        vacant: Vec<(LoadTicket<ResidentChunk>, &'a Piece)>,
        here: &mut Vec<Held<'a>>,
        to: &mut ReadBuffer<'_>,
    ) -> Result<Vec<&'a Piece>> {
        let (mut left, layout) = (Vec::new(), partition.source().layout());
        if vacant.is_empty() {
            return Ok(left);
        }
        let wanted: Vec<_> = vacant.iter().map(|(_, piece)| (&piece.chunk, 0)).collect();
        let Some(mut grant) = self.room(partition, self.footprint(partition, &wanted, Part::All)?) else {
            let pieces: Vec<_> = vacant.iter().map(|(_, piece)| (*piece).clone()).collect();
            return self.read_past((file, partition), &pieces, to).map(|()| left);
        };
        let wanted: Vec<_> = vacant.iter().map(|(_, piece)| (partition, piece.chunk.clone())).collect();
        for ((ticket, piece), chunk) in vacant.into_iter().zip(self.fetch(file, &wanted, Part::All)?) {
            match chunk {
                // A chunk that takes more than was expected may find no room.
                Some(chunk) if !grant.covers(chunk.footprint()) => chunk.scatter(layout, piece, to)?,
                Some(chunk) => here.extend(ticket.fill(chunk, &mut grant, false).map(|pinned| (pinned, piece))),
                None => left.push(piece),
            }
        }
        Ok(left)
    }
}

/// Copies what is wanted of chunks to the caller, or converts it on the way.
fn hand_out_all(here: &mut [Held<'_>], to: &mut ReadBuffer<'_>, partition: &ChunkPartition) -> Result<()> {
    let layout = partition.source().layout();
    // All who lock several chunks lock them by rising coordinate. Otherwise two readers could wait for each other, each behind a writer that waits.
    here.sort_by(|(_, left), (_, right)| left.chunk.cmp(&right.chunk));
    let open: Vec<_> = here.iter().map(|(pinned, piece)| (pinned.read(), *piece)).collect();
    let items: Vec<_> = open.iter().map(|(chunk, piece)| (&**chunk, *piece)).collect();
    for (pinned, _) in here.iter().filter(|(_, piece)| !layout.is_whole(piece)) {
        pinned.mark_used_in_part();
    }
    hand_out(&items, to, layout)
}
