//! Reads.

use hyperslab_cache::{Found, Need, Pinned, Vacancy};
use hyperslab_space::{Kind, Piece, Space};

use super::{
    Chunk, ChunkCache, ChunkShelf, Keep,
    copy_out::copy_out,
    reach::Reach,
    way::{checked, places},
};
use crate::{Result, chunked::PIECES, scatter};

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
        let Some(target) = checked(source, target, facts.element, buf.len())? else { return Ok(()) };
        let mut all_past = || home.look(&mut |layout| layout.read(home.file(), source, &target, buf));
        let Some((grid, reach)) = facts.grid.as_ref().and_then(|grid| Some((grid, Reach::of(grid, source)?))) else {
            return all_past();
        };
        let keeps = keep == Keep::Worthy;
        let (is_plain, worth) = (facts.coder.is_none(), keeps && self.is_worth(facts, &reach, source));
        if is_plain && !worth && shelf.is_empty() {
            return all_past();
        }
        let are_points = is_plain && source.kind() == Kind::Points && target.kind() == Kind::All;
        if reach.most() > PIECES as u64 || are_points || is_plain && self.is_stream(facts, &reach) {
            // The file must have all.
            self.flush_shelf(shelf)?;
            return all_past();
        }
        let pieces = source.pieces(grid, &target)?.batch(usize::MAX)?;
        let ways = self.ways(shelf, pieces, keep, worth);
        if !ways.past.is_empty() {
            home.look(&mut |layout| layout.read_pieces(home.file(), &ways.past, buf))?;
        }
        if !ways.through.is_empty() {
            self.cache.touch(shelf);
        }
        self.lists(facts, &ways.through).try_for_each(|list| self.read_list(shelf, list, buf, fill))?;
        if keeps && !is_plain && !ways.through.is_empty() {
            self.read_ahead(shelf, &reach);
        }
        Ok(())
    }

    fn read_list(&self, shelf: &ChunkShelf, list: &[Piece], buf: &mut [u8], fill: Option<&[u8]>) -> Result<()> {
        let facts = shelf.home().facts();
        // Who waits for nothing needs no promise.
        if let Some(here) = shelf.hits(&places(list)) {
            return hand_out(&here.into_iter().zip(list).collect::<Vec<_>>(), buf, shelf);
        }
        let bytes = list.len().saturating_mul(facts.bytes);
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
            for piece in self.load(shelf, vacant, &mut here)? {
                scatter::fill(fill, buf, &piece.memory, facts.element)?;
            }
            hand_out(&here, buf, shelf)?;
            drop(here);
            open.extend(awaited.into_iter().map(|(waiter, piece)| (waiter.wait(), piece)));
        }
        Ok(())
    }

    /// Loads chunks; the pieces of those that were never written are left.
    fn load<'a>(
        &self,
        shelf: &ChunkShelf,
        vacant: Vec<(Vacancy<Chunk>, &'a Piece)>,
        here: &mut Vec<Held<'a>>,
    ) -> Result<Vec<&'a Piece>> {
        let mut left = Vec::new();
        if vacant.is_empty() {
            return Ok(left);
        }
        let mut claim = self.room(vacant.len().saturating_mul(shelf.home().facts().bytes))?;
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
fn hand_out(here: &[Held<'_>], buf: &mut [u8], shelf: &ChunkShelf) -> Result<()> {
    let facts = shelf.home().facts();
    let open: Vec<_> = here.iter().map(|(pinned, piece)| (pinned.read(), *piece)).collect();
    let items: Vec<_> = open.iter().map(|(chunk, piece)| (chunk.bytes.as_slice(), *piece)).collect();
    for (pinned, _) in here.iter().filter(|(_, piece)| !facts.is_whole(piece)) {
        pinned.is_used_partly();
    }
    copy_out(&items, buf, facts.element)
}
