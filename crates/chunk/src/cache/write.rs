//! Writes.

use std::borrow::Cow;

use hyperslab_cache::{Demand, Footprint, Grant, LoadTicket, Lookup, Pinned};
use hyperslab_driver::cores;
use hyperslab_space::{Piece, Space};

use super::{
    ChunkCache, ChunkPartition, Dataset, Keep, RequestOptions,
    io_path::{IoPaths, Worth, aligned, bytes_of, is_any},
    portions::replace,
    reach::Reach,
    strips::{converts_in_chunks, on_cores},
};
use crate::{
    ChunkKind, Filling, ResidentChunk, Result, Storer, Workspace, WriteBuffer,
    layout::{Part, chunk_layout::covers},
    transfer::{BATCH, PIECES},
};

impl ChunkCache {
    /// Writes the selected places of a buffer to the selected elements, of the dataset's extent. The caller holds its range lock.
    pub fn write(
        &self,
        partition: &ChunkPartition,
        options: RequestOptions<'_>,
        selection: &Space,
        mem_selection: &Space,
        from: WriteBuffer<'_>,
        filling: &Filling<'_>,
    ) -> Result<()> {
        let (layout, RequestOptions { keep, file }) = (partition.source().layout(), options);
        if !is_any(selection, mem_selection, from.element(layout.element()), from.bytes().len())? {
            return Ok(());
        }
        let reach = layout.grid().and_then(|grid| Some((grid, Reach::of(grid, selection)?)));
        if let Some(plan) = from.plan()
            && !converts_in_chunks(layout, reach.as_ref().map(|(_, reach)| reach))
        {
            return self.write_in_strips((partition, options), plan, (selection, mem_selection), from, filling);
        }
        let Some((grid, reach)) = reach else {
            partition.count_bypass(layout.selected(selection));
            return write_all_past((file, partition), selection, mem_selection, from, filling);
        };
        let worth = if keep == Keep::Worthy { self.worth_written(partition, &reach, selection) } else { Worth::None };
        let is_direct = layout.is_addressable() && worth == Worth::None && reach.count() <= PIECES as u64;
        if is_direct && write_directly((file, partition), &reach, selection, mem_selection, from, filling)? {
            partition.count_bypass(layout.selected(selection));
            return Ok(());
        }
        // In one chunk, the memory goes as it is.
        let mem_selection =
            if reach.count() > 1 { aligned(selection, mem_selection)? } else { Cow::Borrowed(mem_selection) };
        let mut pieces = selection.pieces(grid, &mem_selection)?;
        self.cache.touch(partition);
        loop {
            let next = pieces.batch(PIECES)?;
            if next.is_empty() {
                break;
            }
            let paths = self.paths(partition, next, keep, worth);
            self.write_paths((file, partition), paths, from, filling)?;
        }
        if layout.codec().is_some() {
            self.encode_ahead();
        } else if worth == Worth::All {
            self.gather(partition, reach.count());
        }
        Ok(())
    }

    /// Writes pieces of sparse chunks, by rising coordinate, or erases them.
    pub(super) fn write_pieces(
        &self,
        (file, partition): Dataset<'_>,
        pieces: Vec<Piece>,
        keep: Keep,
        from: WriteBuffer<'_>,
        filling: &Filling<'_>,
    ) -> Result<()> {
        let paths = self.paths(partition, pieces, keep, Worth::None);
        self.write_paths((file, partition), paths, from, filling)
    }

    /// Writes pieces past the cache, and then through it those that go there.
    fn write_paths(
        &self,
        dataset: Dataset<'_>,
        paths: IoPaths,
        from: WriteBuffer<'_>,
        filling: &Filling<'_>,
    ) -> Result<()> {
        let left = self.write_past(dataset, paths.past, from, filling)?;
        for pieces in [&paths.through, &left] {
            self.for_each_list(dataset.1, pieces, (Some(from), Part::All), &mut |list, bytes| {
                self.write_list(dataset, (list, bytes), from, filling)
            })?;
        }
        Ok(())
    }

    /// Writes pieces past the cache. No thread loads their chunks meanwhile. Those whose chunks are in memory by now are left.
    fn write_past(
        &self,
        (file, partition): Dataset<'_>,
        pieces: Vec<Piece>,
        from: WriteBuffer<'_>,
        filling: &Filling<'_>,
    ) -> Result<Vec<Piece>> {
        let (mut held, mut alone, mut left) = (Vec::new(), Vec::new(), Vec::new());
        for piece in pieces {
            match partition.vacant(&piece.chunk) {
                Some(ticket) => {
                    held.push(ticket);
                    alone.push(piece);
                }
                None => left.push(piece),
            }
        }
        if !alone.is_empty() {
            partition.count_bypass(bytes_of(partition, &alone));
            write_alone((file, partition), &alone, from, filling)?;
        }
        Ok(left)
    }

    fn write_list(
        &self,
        dataset: Dataset<'_>,
        (list, bytes): (&[Piece], usize),
        from: WriteBuffer<'_>,
        filling: &Filling<'_>,
    ) -> Result<()> {
        let (_, partition) = dataset;
        let layout = partition.source().layout();
        if bytes > self.available(partition) && layout.kind() == ChunkKind::Sparse {
            return list.iter().try_for_each(|piece| self.write_large(dataset, piece, from, filling));
        }
        let mut crowded = Vec::new();
        let reservation = partition.reserve(Demand { chunks: bytes, aside: bytes });
        let mut open: Vec<_> = list.iter().map(|piece| (partition.find(&piece.chunk), piece)).collect();
        while !open.is_empty() {
            let (mut here, mut growing, mut vacant, mut awaited) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for (found, piece) in open.drain(..) {
                match found {
                    Lookup::Hit(pinned) => {
                        if !layout.is_whole(piece) {
                            pinned.mark_used_in_part();
                        }
                        match (layout.kind(), from.plan()) {
                            (ChunkKind::Sparse, _) => growing.push((pinned, piece)),
                            (ChunkKind::Dense, None) => pinned.write().gather(layout, piece, from)?,
                            (ChunkKind::Dense, Some(_)) => here.push((pinned, piece)),
                        }
                    }
                    Lookup::Miss(ticket) => vacant.push((ticket, piece)),
                    Lookup::Loading(waiter) => awaited.push((waiter, piece)),
                }
            }
            on_cores(here, bytes as u64, |(pinned, piece): (Pinned<ResidentChunk>, &Piece)| {
                pinned.write().gather(layout, piece, from)
            })?;
            crowded.extend(self.complete(dataset, &mut growing)?);
            for (pinned, piece) in growing {
                if !self.grow(partition, &pinned, piece, from)? {
                    crowded.push(piece.clone());
                }
            }
            self.make(dataset, vacant, from, filling)?;
            open.extend(awaited.into_iter().map(|(waiter, piece)| (waiter.wait(), piece)));
        }
        drop(reservation);
        crowded.iter().try_for_each(|piece| self.write_without_room(dataset, piece, from, filling))
    }

    /// Writes a piece to a sparse chunk in memory, in room that is granted before the chunk grows; whether there was room, and will be in the index.
    fn grow(
        &self,
        partition: &ChunkPartition,
        pinned: &Pinned<ResidentChunk>,
        piece: &Piece,
        from: WriteBuffer<'_>,
    ) -> Result<bool> {
        let Some(growth) = growth(partition, pinned, piece, from)? else { return Ok(false) };
        let Some(grant) = self.room(partition, growth) else { return Ok(false) };
        write_grown(partition, pinned, grant, piece, from)
    }

    /// Writes a piece of a chunk that may be larger than what it may have of the cache: in memory, if the chunk is there and has room to grow.
    fn write_large(
        &self,
        dataset: Dataset<'_>,
        piece: &Piece,
        from: WriteBuffer<'_>,
        filling: &Filling<'_>,
    ) -> Result<()> {
        let partition = dataset.1;
        let growth = match partition.peek(&piece.chunk) {
            Some(pinned) if pinned.read().is_complete() => growth(partition, &pinned, piece, from)?,
            _ => None,
        };
        // A thread that waits for room has no chunk in hand.
        if let Some(grant) = growth.and_then(|growth| self.room(partition, growth))
            && let Some(pinned) = partition.peek(&piece.chunk)
            && pinned.read().is_complete()
            && write_grown(partition, &pinned, grant, piece, from)?
        {
            return Ok(());
        }
        self.write_without_room(dataset, piece, from, filling)
    }

    /// Writes a piece of a chunk past the cache, when the file has what the cache had of the chunk.
    fn write_without_room(
        &self,
        (file, partition): Dataset<'_>,
        piece: &Piece,
        from: WriteBuffer<'_>,
        filling: &Filling<'_>,
    ) -> Result<()> {
        let replaces_all = partition.source().layout().is_whole(piece) && !from.keeps_background();
        loop {
            if !replaces_all {
                self.flush_chunk(partition, &piece.chunk)?;
            }
            // If the piece cannot be written, what the cache has of the chunk is there again.
            let withdrawn = partition.withdraw(&piece.chunk);
            if withdrawn.is_empty() || replaces_all {
                partition.count_bypass(bytes_of(partition, std::slice::from_ref(piece)));
                write_alone((file, partition), std::slice::from_ref(piece), from, filling)?;
                withdrawn.commit();
                return Ok(());
            }
        }
    }

    /// Makes chunks of the caller's values: alone, if they cover what the dataset has of a chunk, else over the old ones. Where there is no room for chunks,
    /// their pieces are written past the cache.
    fn make(
        &self,
        (file, partition): Dataset<'_>,
        vacant: Vec<(LoadTicket<ResidentChunk>, &Piece)>,
        from: WriteBuffer<'_>,
        filling: &Filling<'_>,
    ) -> Result<()> {
        if vacant.is_empty() {
            return Ok(());
        }
        let (source, layout) = (partition.source(), partition.source().layout());
        let new = |piece: &Piece| layout.most_new_bytes(piece, from);
        let wanted = vacant.iter().map(|(_, piece)| Ok((&piece.chunk, new(piece)?))).collect::<Result<Vec<_>>>()?;
        let Some(mut grant) = self.room(partition, self.footprint(partition, &wanted, Part::All)?) else {
            let pieces: Vec<_> = vacant.iter().map(|(_, piece)| (*piece).clone()).collect();
            partition.count_bypass(bytes_of(partition, &pieces));
            return write_alone((file, partition), &pieces, from, filling);
        };
        let is_whole = |piece: &Piece| layout.is_whole(piece) && !from.keeps_background();
        let mut partly: Vec<&Piece> = vacant.iter().map(|(_, piece)| *piece).filter(|piece| !is_whole(piece)).collect();
        if !partly.is_empty() && !from.keeps_background() {
            let view = source.storage().live_view()?;
            let values = view.values()?;
            partly.retain(|piece| !covers(piece, values.inside(&piece.chunk)));
        }
        let old: Vec<_> = partly.iter().map(|piece| (partition, piece.chunk.clone())).collect();
        let mut fetched = old.iter().zip(self.fetch(file, &old, Part::All)?).peekable();
        let make = |old: Option<ResidentChunk>, piece: &Piece| -> Result<ResidentChunk> {
            let mut chunk = match old {
                Some(chunk) => chunk,
                None => ResidentChunk::new(layout, filling, !is_whole(piece), &mut Workspace::default())?,
            };
            chunk.gather(layout, piece, from)?;
            Ok(chunk)
        };
        let mut old_of =
            |piece: &Piece| fetched.next_if(|((_, coord), _)| *coord == piece.chunk).and_then(|(_, chunk)| chunk);
        let mut converted = Vec::new().into_iter();
        if from.plan().is_some() {
            let bytes = vacant.iter().map(|(_, piece)| piece.file.npoints().saturating_mul(layout.element())).sum();
            let old: Vec<_> = vacant.iter().map(|(_, piece)| (old_of(piece), *piece)).collect();
            converted = on_cores(old, bytes, |(old, piece)| make(old, piece))?.into_iter();
        }
        for (ticket, piece) in vacant {
            let chunk = converted.next().map_or_else(|| make(old_of(piece), piece), Ok)?;
            source.prove(&piece.chunk, &chunk)?;
            if !grant.covers(chunk.footprint()) || !chunk.fits_index(layout, None)? {
                // It takes more than was expected, or may take more than the index can tell.
                partition.count_bypass(bytes_of(partition, std::slice::from_ref(piece)));
                write_alone((file, partition), std::slice::from_ref(piece), from, filling)?;
                continue;
            }
            if let Some(pinned) = ticket.fill(chunk, &mut grant, true).filter(|_| !layout.is_whole(piece)) {
                pinned.mark_used_in_part();
            }
        }
        Ok(())
    }
}

/// The memory that a chunk takes more when a piece of it is written; nothing if it may not stay in memory then, because its index may have no room for it.
fn growth(
    partition: &ChunkPartition,
    pinned: &Pinned<ResidentChunk>,
    piece: &Piece,
    from: WriteBuffer<'_>,
) -> Result<Option<usize>> {
    let (layout, chunk) = (partition.source().layout(), pinned.read());
    let fits = chunk.fits_index(layout, Some((piece, from)))?;
    fits.then(|| chunk.growth(layout, piece, from)).transpose()
}

/// Writes a piece to a chunk in memory, in room that was granted for it; not if other threads have written to the chunk since, so that its index may have no room any more.
fn write_grown(
    partition: &ChunkPartition,
    pinned: &Pinned<ResidentChunk>,
    grant: Grant<'_>,
    piece: &Piece,
    from: WriteBuffer<'_>,
) -> Result<bool> {
    let (layout, mut chunk) = (partition.source().layout(), pinned.write_in(grant));
    let fits = chunk.fits_index(layout, Some((piece, from)))?;
    if fits {
        chunk.gather(layout, piece, from)?;
    }
    Ok(fits)
}

/// Writes pieces whose chunks no other thread loads meanwhile, so many at a time that each call of the storer writes all or fails before it changes anything.
fn write_alone(
    (file, partition): Dataset<'_>,
    pieces: &[Piece],
    from: WriteBuffer<'_>,
    filling: &Filling<'_>,
) -> Result<()> {
    let (source, layout) = (partition.source(), partition.source().layout());
    let bytes = layout.expected_bytes() as u64;
    let mut most = if layout.is_addressable() && layout.has_index() { u64::MAX } else { (BATCH / bytes.max(1)).max(1) };
    if let [first, .., last] = pieces
        && replace(source, &first.chunk, &last.chunk)
    {
        let portion = file.portion(bytes.saturating_mul(pieces.len() as u64));
        most = most.min((portion / bytes.max(1)).max(2 * cores::count() as u64));
    }
    for some in pieces.chunks(usize::try_from(most).unwrap_or(usize::MAX)) {
        Storer::new(file).write_pieces(source.storage(), some, from, filling)?;
    }
    Ok(())
}

/// Writes all that is selected past the cache, to chunks that lie in the file as they are in memory; whether that was possible, since no chunk is in memory and
/// no other thread loads one.
fn write_directly(
    (file, partition): Dataset<'_>,
    reach: &Reach,
    selection: &Space,
    mem_selection: &Space,
    from: WriteBuffer<'_>,
    filling: &Filling<'_>,
) -> Result<bool> {
    let (source, layout) = (partition.source(), partition.source().layout());
    let (Some(grid), mem_selection) = (layout.grid(), aligned(selection, mem_selection)?) else { return Ok(false) };
    if !layout.has_index() {
        // Requests that write different values of a block need not wait for each other: the block stays where it is.
        let held: Option<Vec<_>> = reach.coords().map(|coord| partition.bypass(&coord)).collect();
        let Some(_held) = held else { return Ok(false) };
        if layout.selected(selection) > BATCH {
            let pieces = selection.pieces(grid, &mem_selection)?.batch(PIECES)?;
            return write_alone((file, partition), &pieces, from, filling).map(|()| true);
        }
        let view = source.storage().live_view()?;
        file.check_writable()?;
        let values = view.values()?;
        values.check_write(selection)?;
        return values.overwrite(file, selection, &mem_selection, from.stored_bytes()?);
    }
    let pieces = selection.pieces(grid, &mem_selection)?.batch(PIECES)?;
    let held: Option<Vec<_>> = pieces.iter().map(|piece| partition.vacant(&piece.chunk)).collect();
    let Some(_held) = held else { return Ok(false) };
    let is_late = {
        let view = source.storage().live_view()?;
        let values = view.values()?;
        values.check_write(selection)?;
        values.allocates_with_first(filling)
    };
    match is_late {
        true => write_all_past((file, partition), selection, &mem_selection, from, filling)?,
        false => write_alone((file, partition), &pieces, from, filling)?,
    }
    Ok(true)
}

/// Writes all that is selected past the cache, in one operation.
fn write_all_past(
    (file, partition): Dataset<'_>,
    selection: &Space,
    mem_selection: &Space,
    from: WriteBuffer<'_>,
    filling: &Filling<'_>,
) -> Result<()> {
    let (source, mem_selection) = (partition.source(), aligned(selection, mem_selection)?);
    let bytes = from.stored_bytes()?;
    file.operate(|| {
        source.storage().change_values(|values| values.write(file, selection, &mem_selection, bytes, filling))
    })
}
