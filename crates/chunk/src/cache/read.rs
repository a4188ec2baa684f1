//! Reads.

use hyperslab_cache::{Found, Need, Pinned, Vacancy};
use hyperslab_space::{Kind, Piece, Space};

use super::{
    ChunkCache, ChunkShelf, Keep,
    hand_out::hand_out,
    reach::Reach,
    way::{Worth, aligned, is_any, places},
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
        shelf: &ChunkShelf,
        keep: Keep,
        source: &Space,
        target: &Space,
        buf: &mut [u8],
        fill: Option<&[u8]>,
    ) -> Result<()> {
        let (storage, layout) = (shelf.home().storage(), shelf.home().layout());
        if !is_any(source, target, layout.element(), buf.len())? {
            return Ok(());
        }
        let target = aligned(source, target)?;
        let mut all_past = || storage.live_view()?.values()?.read(storage.file(), source, &target, buf);
        let Some((grid, reach)) = layout.grid().and_then(|grid| Some((grid, Reach::of(grid, source)?))) else {
            return all_past();
        };
        let keeps = keep == Keep::Worthy;
        let is_plain = layout.is_addressable();
        let worth = if keeps { self.worth(shelf.home(), &reach, source) } else { Worth::None };
        if is_plain && worth == Worth::None && shelf.is_empty() {
            return all_past();
        }
        let are_points = is_plain && source.kind() == Kind::Points && target.kind() == Kind::All;
        let goes_past = reach.most() > PIECES as u64 || are_points || is_plain && self.is_stream(layout, &reach);
        // The file must have all. If some of it cannot be written, that is in memory.
        if goes_past && self.flush_shelf(shelf).is_ok() {
            return all_past();
        }
        let (mut pieces, mut any_through) = (source.pieces(grid, &target)?, false);
        loop {
            let next = pieces.batch(PIECES)?;
            if next.is_empty() {
                break;
            }
            let ways = self.ways(shelf, next, keep, worth);
            self.read_past(shelf, &ways.past, buf)?;
            if !ways.through.is_empty() {
                self.cache.touch(shelf);
                any_through = true;
            }
            self.lists(layout, &ways.through).try_for_each(|list| self.read_list(shelf, list, buf, fill))?;
        }
        if keeps && !is_plain && any_through {
            self.read_ahead(shelf, &reach);
        }
        Ok(())
    }

    fn read_past(&self, shelf: &ChunkShelf, pieces: &[Piece], buf: &mut [u8]) -> Result<()> {
        let storage = shelf.home().storage();
        if pieces.is_empty() {
            return Ok(());
        }
        storage.live_view()?.values()?.read_pieces(storage.file(), pieces, buf)
    }

    fn read_list(&self, shelf: &ChunkShelf, list: &[Piece], buf: &mut [u8], fill: Option<&[u8]>) -> Result<()> {
        let layout = shelf.home().layout();
        // Who waits for nothing needs no promise.
        if let Some(here) = shelf.hits(&places(list)) {
            return hand_out_all(&mut here.into_iter().zip(list).collect::<Vec<_>>(), buf, shelf);
        }
        let bytes = layout.expected_footprint(list.len());
        let _promise = self.cache.promise(Need { chunks: bytes, aside: bytes });
        let mut open: Vec<_> = list.iter().map(|piece| (shelf.find(&piece.chunk), piece)).collect();
        while !open.is_empty() {
            let (mut here, mut vacant, mut awaited) = (Vec::new(), Vec::new(), Vec::new());
            for (found, piece) in open.drain(..) {
                match found {
                    Found::Here(pinned) => here.push((pinned, piece)),
                    Found::Vacant(vacancy) => vacant.push((vacancy, piece)),
                    Found::Awaited(waiter) => awaited.push((waiter, piece)),
                }
            }
            for piece in self.load(shelf, vacant, &mut here, buf)? {
                scatter::fill(fill, buf, &piece.memory, layout.element())?;
            }
            hand_out_all(&mut here, buf, shelf)?;
            drop(here);
            open.extend(awaited.into_iter().map(|(waiter, piece)| (waiter.wait(), piece)));
        }
        Ok(())
    }

    /// Loads chunks; the pieces of those that were never written are left. Where there is no room for chunks, their pieces are read past the cache.
    fn load<'a>(
        &self,
        shelf: &ChunkShelf,
        vacant: Vec<(Vacancy<ResidentChunk>, &'a Piece)>,
        here: &mut Vec<Held<'a>>,
        buf: &mut [u8],
    ) -> Result<Vec<&'a Piece>> {
        let mut left = Vec::new();
        if vacant.is_empty() {
            return Ok(left);
        }
        let Some(mut claim) = self.room(shelf.home().layout().expected_footprint(vacant.len())) else {
            let pieces: Vec<_> = vacant.iter().map(|(_, piece)| (*piece).clone()).collect();
            return self.read_past(shelf, &pieces, buf).map(|()| left);
        };
        let wanted: Vec<_> = vacant.iter().map(|(_, piece)| (shelf, piece.chunk.clone())).collect();
        for ((vacancy, piece), chunk) in vacant.into_iter().zip(self.fetch(&wanted)?) {
            match chunk {
                Some(chunk) => here.extend(vacancy.fill(chunk, &mut claim, false).map(|pinned| (pinned, piece))),
                None => left.push(piece),
            }
        }
        Ok(left)
    }
}

/// Copies what is wanted of chunks to the caller.
fn hand_out_all(here: &mut [Held<'_>], buf: &mut [u8], shelf: &ChunkShelf) -> Result<()> {
    let layout = shelf.home().layout();
    // All who lock several chunks lock them by rising place. Otherwise two readers could wait for each other, each behind a writer that waits.
    here.sort_by(|(_, left), (_, right)| left.chunk.cmp(&right.chunk));
    let open: Vec<_> = here.iter().map(|(pinned, piece)| (pinned.read(), *piece)).collect();
    let items: Vec<_> = open.iter().map(|(chunk, piece)| (&**chunk, *piece)).collect();
    for (pinned, _) in here.iter().filter(|(_, piece)| !layout.is_whole(piece)) {
        pinned.is_used_partly();
    }
    hand_out(&items, buf, layout)
}
