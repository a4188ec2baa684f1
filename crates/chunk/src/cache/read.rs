//! Reads.

use hyperslab_cache::{Found, Need, Pinned, Vacancy};
use hyperslab_space::{Kind, Piece, Space};

use super::{
    Chunk, ChunkCache, ChunkShelf, Keep,
    copy_out::copy_out,
    reach::Reach,
    way::{Worth, aligned, is_any, places},
};
use crate::{Result, layout::chunked::PIECES, transfer::scatter};

/// A chunk in hand, and what is wanted of it.
type Held<'a> = (Pinned<Chunk>, &'a Piece);

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
        let (home, facts) = (shelf.home(), shelf.home().facts());
        if !is_any(source, target, facts.element, buf.len())? {
            return Ok(());
        }
        let target = aligned(source, target)?;
        let mut all_past = || home.look(&mut |layout| layout.read(home.file(), source, &target, buf));
        let Some((grid, reach)) = facts.grid.as_ref().and_then(|grid| Some((grid, Reach::of(grid, source)?))) else {
            return all_past();
        };
        let keeps = keep == Keep::Worthy;
        let is_plain = facts.coder.is_none();
        let worth = if keeps { self.worth(facts, &reach, source) } else { Worth::None };
        if is_plain && worth == Worth::None && shelf.is_empty() {
            return all_past();
        }
        let are_points = is_plain && source.kind() == Kind::Points && target.kind() == Kind::All;
        let goes_past = reach.most() > PIECES as u64 || are_points || is_plain && self.is_stream(facts, &reach);
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
            self.lists(facts, &ways.through).try_for_each(|list| self.read_list(shelf, list, buf, fill))?;
        }
        if keeps && !is_plain && any_through {
            self.read_ahead(shelf, &reach);
        }
        Ok(())
    }

    fn read_past(&self, shelf: &ChunkShelf, pieces: &[Piece], buf: &mut [u8]) -> Result<()> {
        let home = shelf.home();
        if pieces.is_empty() {
            return Ok(());
        }
        home.look(&mut |layout| layout.read_pieces(home.file(), pieces, buf))
    }

    fn read_list(&self, shelf: &ChunkShelf, list: &[Piece], buf: &mut [u8], fill: Option<&[u8]>) -> Result<()> {
        let facts = shelf.home().facts();
        // Who waits for nothing needs no promise.
        if let Some(here) = shelf.hits(&places(list)) {
            return hand_out(&mut here.into_iter().zip(list).collect::<Vec<_>>(), buf, shelf);
        }
        let bytes = facts.room(list.len());
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
                scatter::fill(fill, buf, &piece.memory, facts.element)?;
            }
            hand_out(&mut here, buf, shelf)?;
            drop(here);
            open.extend(awaited.into_iter().map(|(waiter, piece)| (waiter.wait(), piece)));
        }
        Ok(())
    }

    /// Loads chunks; the pieces of those that were never written are left. Where there is no room for chunks, their pieces are read past the cache.
    fn load<'a>(
        &self,
        shelf: &ChunkShelf,
        vacant: Vec<(Vacancy<Chunk>, &'a Piece)>,
        here: &mut Vec<Held<'a>>,
        buf: &mut [u8],
    ) -> Result<Vec<&'a Piece>> {
        let mut left = Vec::new();
        if vacant.is_empty() {
            return Ok(left);
        }
        let Some(mut claim) = self.room(shelf.home().facts().room(vacant.len())) else {
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
fn hand_out(here: &mut [Held<'_>], buf: &mut [u8], shelf: &ChunkShelf) -> Result<()> {
    let facts = shelf.home().facts();
    // All who lock several chunks lock them by rising place. Otherwise two readers could wait for each other, each behind a writer that waits.
    here.sort_by(|(_, left), (_, right)| left.chunk.cmp(&right.chunk));
    let open: Vec<_> = here.iter().map(|(pinned, piece)| (pinned.read(), *piece)).collect();
    let items: Vec<_> = open.iter().map(|(chunk, piece)| (chunk.bytes.as_slice(), *piece)).collect();
    for (pinned, _) in here.iter().filter(|(_, piece)| !facts.is_whole(piece)) {
        pinned.is_used_partly();
    }
    copy_out(&items, buf, facts.element)
}
