//! Writes.

use std::borrow::Cow;

use hyperslab_cache::{Found, Need, Vacancy};
use hyperslab_driver::cores;
use hyperslab_space::{Piece, Space};

use super::{
    ChunkCache, ChunkShelf, Keep,
    portions::replace,
    reach::Reach,
    way::{Worth, aligned, is_any},
};
use crate::{
    Filling, ResidentChunk, Result, Values, Workspace,
    layout::chunk_layout::covers,
    transfer::{BATCH, PIECES},
};

impl ChunkCache {
    /// Writes the selection of `source` in `buf` to the selection of `target`, which has the dataset's extent. It must be the caller's turn.
    pub fn write(
        &self,
        shelf: &ChunkShelf,
        keep: Keep,
        target: &Space,
        source: &Space,
        buf: &[u8],
        filling: &Filling<'_>,
    ) -> Result<()> {
        let (home, layout) = (shelf.home(), shelf.home().layout());
        if !is_any(target, source, layout.element(), buf.len())? {
            return Ok(());
        }
        let Some((grid, reach)) = layout.grid().and_then(|grid| Some((grid, Reach::of(grid, target)?))) else {
            return write_all_past(shelf, target, source, buf, filling);
        };
        let worth = if keep == Keep::Worthy { self.worth_written(home, &reach, target) } else { Worth::None };
        if layout.is_addressable() && worth == Worth::None && reach.count() <= PIECES as u64 {
            // Nobody loads these chunks meanwhile.
            let alone = reach.places().map(|place| shelf.vacant(&place)).collect::<Option<Vec<_>>>();
            if let Some(_held) = alone {
                return write_all_past(shelf, target, source, buf, filling);
            }
        }
        // In one chunk, the memory goes as it is.
        let source = if reach.count() > 1 { aligned(target, source)? } else { Cow::Borrowed(source) };
        let mut pieces = target.pieces(grid, &source)?;
        self.cache.touch(shelf);
        loop {
            let next = pieces.batch(PIECES)?;
            if next.is_empty() {
                break;
            }
            let ways = self.ways(shelf, next, keep, worth);
            let left = self.write_past(shelf, ways.past, buf, filling)?;
            for list in self.lists(layout, &ways.through).chain(self.lists(layout, &left)) {
                self.write_list(shelf, list, buf, filling)?;
            }
        }
        if layout.codec().is_some() {
            self.encode_ahead();
        } else if worth == Worth::All {
            self.gather(shelf, reach.count());
        }
        Ok(())
    }

    /// Writes pieces past the cache. Nobody loads their chunks meanwhile. Those whose chunks are in memory by now are left.
    fn write_past(
        &self,
        shelf: &ChunkShelf,
        pieces: Vec<Piece>,
        buf: &[u8],
        filling: &Filling<'_>,
    ) -> Result<Vec<Piece>> {
        let (mut held, mut alone, mut left) = (Vec::new(), Vec::new(), Vec::new());
        for piece in pieces {
            match shelf.vacant(&piece.chunk) {
                Some(vacancy) => {
                    held.push(vacancy);
                    alone.push(piece);
                }
                None => left.push(piece),
            }
        }
        write_alone(shelf, &alone, buf, filling)?;
        Ok(left)
    }

    fn write_list(&self, shelf: &ChunkShelf, list: &[Piece], buf: &[u8], filling: &Filling<'_>) -> Result<()> {
        let layout = shelf.home().layout();
        let bytes = layout.expected_footprint(list.len());
        let _promise = self.cache.promise(Need { chunks: bytes, aside: bytes });
        let mut open: Vec<_> = list.iter().map(|piece| (shelf.find(&piece.chunk), piece)).collect();
        while !open.is_empty() {
            let (mut vacant, mut awaited) = (Vec::new(), Vec::new());
            for (found, piece) in open.drain(..) {
                match found {
                    Found::Here(pinned) => {
                        if !layout.is_whole(piece) {
                            pinned.is_used_partly();
                        }
                        pinned.write().gather(layout, piece, buf)?;
                    }
                    Found::Vacant(vacancy) => vacant.push((vacancy, piece)),
                    Found::Awaited(waiter) => awaited.push((waiter, piece)),
                }
            }
            self.make(shelf, vacant, buf, filling)?;
            open.extend(awaited.into_iter().map(|(waiter, piece)| (waiter.wait(), piece)));
        }
        Ok(())
    }

    /// Makes chunks of the caller's values: alone, if they cover what the dataset has of a chunk, else over the old ones. Where there is no room for chunks,
    /// their pieces are written past the cache.
    fn make(
        &self,
        shelf: &ChunkShelf,
        vacant: Vec<(Vacancy<ResidentChunk>, &Piece)>,
        buf: &[u8],
        filling: &Filling<'_>,
    ) -> Result<()> {
        if vacant.is_empty() {
            return Ok(());
        }
        let (home, layout) = (shelf.home(), shelf.home().layout());
        let Some(mut claim) = self.room(layout.expected_footprint(vacant.len())) else {
            let pieces: Vec<_> = vacant.iter().map(|(_, piece)| (*piece).clone()).collect();
            return write_alone(shelf, &pieces, buf, filling);
        };
        let mut partly: Vec<&Piece> =
            vacant.iter().map(|(_, piece)| *piece).filter(|piece| !layout.is_whole(piece)).collect();
        if !partly.is_empty() {
            let view = home.storage().live_view()?;
            let values = view.values()?;
            partly.retain(|piece| !covers(piece, values.inside(&piece.chunk)));
        }
        let old: Vec<_> = partly.iter().map(|piece| (shelf, piece.chunk.clone())).collect();
        let mut fetched = old.iter().zip(self.fetch(&old)?).peekable();
        for (vacancy, piece) in vacant {
            let old = fetched.next_if(|((_, place), _)| *place == piece.chunk).and_then(|(_, chunk)| chunk);
            let mut chunk = match old {
                Some(chunk) => chunk,
                None => ResidentChunk::new(layout, filling, !layout.is_whole(piece), &mut Workspace::default())?,
            };
            chunk.gather(layout, piece, buf)?;
            home.prove(&piece.chunk, &chunk)?;
            if let Some(pinned) = vacancy.fill(chunk, &mut claim, true).filter(|_| !layout.is_whole(piece)) {
                pinned.is_used_partly();
            }
        }
        Ok(())
    }
}

/// Writes pieces whose chunks no other thread loads meanwhile, so many at a time that each operation writes all or fails before it changes anything.
fn write_alone(shelf: &ChunkShelf, pieces: &[Piece], buf: &[u8], filling: &Filling<'_>) -> Result<()> {
    let (home, layout) = (shelf.home(), shelf.home().layout());
    let bytes = layout.expected_bytes() as u64;
    let mut most = if layout.is_addressable() { u64::MAX } else { (BATCH / bytes.max(1)).max(1) };
    if let [first, .., last] = pieces
        && replace(home, &first.chunk, &last.chunk)
    {
        let portion = home.file().portion(bytes.saturating_mul(pieces.len() as u64));
        most = most.min((portion / bytes.max(1)).max(2 * cores::count() as u64));
    }
    for some in pieces.chunks(usize::try_from(most).unwrap_or(usize::MAX)) {
        let write = |values: &mut Values| values.write_pieces(home.file(), some, buf, filling);
        home.file().operate(|| home.storage().change_values(write))?;
    }
    Ok(())
}

/// Writes all that is selected past the cache.
fn write_all_past(shelf: &ChunkShelf, target: &Space, source: &Space, buf: &[u8], filling: &Filling<'_>) -> Result<()> {
    let (home, source) = (shelf.home(), aligned(target, source)?);
    let file = home.file();
    file.operate(|| home.storage().change_values(|values| values.write(file, target, &source, buf, filling)))
}
