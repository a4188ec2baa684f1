//! Reads.

use hyperslab_cache::{Demand, LoadTicket, Lookup, Pinned};
use hyperslab_space::{Kind, Piece, Space};

use super::{
    ChunkCache, ChunkPartition, Dataset, Keep, RequestOptions,
    hand_out::hand_out,
    io_path::{Worth, aligned, bytes_of, coords, is_any},
    reach::Reach,
};
use crate::{
    ResidentChunk, Result,
    transfer::{PIECES, scatter},
};

/// A chunk in hand, and what is wanted of it.
type Held<'a> = (Pinned<ResidentChunk>, &'a Piece);

impl ChunkCache {
    /// Reads the selection of `source`, which has the dataset's extent, into the selection of `target` in `buf`. It must be the caller's turn.
    pub fn read(
        &self,
        partition: &ChunkPartition,
        options: RequestOptions<'_>,
        source: &Space,
        target: &Space,
        buf: &mut [u8],
        fill: Option<&[u8]>,
    ) -> Result<()> {
        let (storage, layout) = (partition.home().storage(), partition.home().layout());
        let RequestOptions { keep, file } = options;
        if !is_any(source, target, layout.element(), buf.len())? {
            return Ok(());
        }
        let target = aligned(source, target)?;
        let mut all_past = || {
            partition.count_bypass(layout.selected(source));
            storage.live_view()?.values()?.read(file, source, &target, buf)
        };
        let Some((grid, reach)) = layout.grid().and_then(|grid| Some((grid, Reach::of(grid, source)?))) else {
            return all_past();
        };
        let keeps = keep == Keep::Worthy;
        let is_plain = layout.is_addressable();
        let worth = if keeps { self.worth(partition, &reach, source) } else { Worth::None };
        if is_plain && worth == Worth::None && partition.is_empty() {
            all_past()?;
            if keeps {
                self.read_ahead(partition, &reach);
            }
            return Ok(());
        }
        let are_points = is_plain && source.kind() == Kind::Points && target.kind() == Kind::All;
        let goes_past = reach.most() > PIECES as u64 || are_points || is_plain && self.is_stream(partition, &reach);
        // The file must have all. If some of it cannot be written, that is in memory.
        if goes_past && self.flush_partition(partition).is_ok() {
            return all_past();
        }
        let (mut pieces, mut any_through) = (source.pieces(grid, &target)?, false);
        loop {
            let next = pieces.batch(PIECES)?;
            if next.is_empty() {
                break;
            }
            let paths = self.paths(partition, next, keep, worth);
            self.read_past((file, partition), &paths.past, buf)?;
            if !paths.through.is_empty() {
                self.cache.touch(partition);
                any_through = true;
            }
            self.lists(partition, &paths.through)
                .try_for_each(|list| self.read_list((file, partition), list, buf, fill))?;
        }
        if keeps && (is_plain || any_through) {
            self.read_ahead(partition, &reach);
        }
        Ok(())
    }

    fn read_past(&self, (file, partition): Dataset<'_>, pieces: &[Piece], buf: &mut [u8]) -> Result<()> {
        let storage = partition.home().storage();
        if pieces.is_empty() {
            return Ok(());
        }
        partition.count_bypass(bytes_of(partition, pieces));
        storage.live_view()?.values()?.read_pieces(file, pieces, buf)
    }

    fn read_list(
        &self,
        (file, partition): Dataset<'_>,
        list: &[Piece],
        buf: &mut [u8],
        fill: Option<&[u8]>,
    ) -> Result<()> {
        let layout = partition.home().layout();
        // A thread that waits for nothing needs no reservation.
        if let Some(here) = partition.hits(&coords(list)) {
            return hand_out_all(&mut here.into_iter().zip(list).collect::<Vec<_>>(), buf, partition);
        }
        let bytes = layout.expected_footprint(list.len());
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
            for piece in self.load((file, partition), vacant, &mut here, buf)? {
                scatter::fill(fill, buf, &piece.memory, layout.element())?;
            }
            hand_out_all(&mut here, buf, partition)?;
            drop(here);
            open.extend(awaited.into_iter().map(|(waiter, piece)| (waiter.wait(), piece)));
        }
        Ok(())
    }

    /// Loads chunks; the pieces of those that were never written are left. Where there is no room for chunks, their pieces are read past the cache.
    fn load<'a>(
        &self,
        (file, partition): Dataset<'_>,
        vacant: Vec<(LoadTicket<ResidentChunk>, &'a Piece)>,
        here: &mut Vec<Held<'a>>,
        buf: &mut [u8],
    ) -> Result<Vec<&'a Piece>> {
        let mut left = Vec::new();
        if vacant.is_empty() {
            return Ok(left);
        }
        let Some(mut grant) = self.room(partition, partition.home().layout().expected_footprint(vacant.len())) else {
            let pieces: Vec<_> = vacant.iter().map(|(_, piece)| (*piece).clone()).collect();
            return self.read_past((file, partition), &pieces, buf).map(|()| left);
        };
        let wanted: Vec<_> = vacant.iter().map(|(_, piece)| (partition, piece.chunk.clone())).collect();
        for ((ticket, piece), chunk) in vacant.into_iter().zip(self.fetch(file, &wanted)?) {
            match chunk {
                Some(chunk) => here.extend(ticket.fill(chunk, &mut grant, false).map(|pinned| (pinned, piece))),
                None => left.push(piece),
            }
        }
        Ok(left)
    }
}

/// Copies what is wanted of chunks to the caller.
fn hand_out_all(here: &mut [Held<'_>], buf: &mut [u8], partition: &ChunkPartition) -> Result<()> {
    let layout = partition.home().layout();
    // All who lock several chunks lock them by rising coordinate. Otherwise two readers could wait for each other, each behind a writer that waits.
    here.sort_by(|(_, left), (_, right)| left.chunk.cmp(&right.chunk));
    let open: Vec<_> = here.iter().map(|(pinned, piece)| (pinned.read(), *piece)).collect();
    let items: Vec<_> = open.iter().map(|(chunk, piece)| (&**chunk, *piece)).collect();
    for (pinned, _) in here.iter().filter(|(_, piece)| !layout.is_whole(piece)) {
        pinned.mark_used_in_part();
    }
    hand_out(&items, buf, layout)
}
