//! Writes to chunks.
//!
//! Chunks without filters that are there are written in place, all pieces in one selection request, straight from the caller's buffer;
//! so are new ones that the values cover. All others are made in memory first.

use std::collections::HashSet;

use hyperslab_file::{Kind as SpaceKind, OpenFile};
use hyperslab_format::{
    ChunkEntry,
    message::{AllocTime, ChunkIndex},
};
use hyperslab_space::{Piece, Space};

use super::{
    ChunkCoord, PIECES, StoredAs, WriteBuffer,
    allocation::Allocation,
    job::{Blank, Job, Plan, Straight, write_straight},
};
use crate::{Chunked, Filling, Index, Result, layout::chunk_layout::covers};

impl Chunked {
    /// Writes the selection of `source` in `buf` to the selection of `target`. Whether the layout message must say something new.
    pub fn write(
        &mut self,
        file: &OpenFile,
        target: &Space,
        source: &Space,
        buf: &[u8],
        filling: &Filling<'_>,
    ) -> Result<bool> {
        self.check_reach(target)?;
        let is_first = matches!(self.index, Index::Empty);
        let mut pieces = target.pieces(&self.grid, source)?;
        self.publish(file, filling, |chunked| {
            let mut stored = Vec::new();
            loop {
                let next = pieces.batch(PIECES)?;
                if next.is_empty() {
                    break;
                }
                stored.extend(chunked.store_pieces(file, &next, WriteBuffer::stored(buf), filling)?);
            }
            if is_first && chunked.alloc_time(filling) == AllocTime::Late && chunked.kind != ChunkIndex::Implicit {
                let written: HashSet<&ChunkCoord> =
                    stored.iter().flat_map(|stored| &stored.changes).map(|(coord, _)| coord).collect();
                let missing = |coord: &ChunkCoord| !written.contains(coord);
                let missing = chunked.store_missing(file, &chunked.extent, filling, &missing)?;
                stored.extend(missing);
            }
            Ok(stored)
        })
    }

    /// Whether the first values that are written bring space for all others.
    pub fn allocates_with_first(&self, filling: &Filling<'_>) -> bool {
        let all = self.kind == ChunkIndex::Implicit || self.alloc_time(filling) == AllocTime::Late;
        all && matches!(self.index, Index::Empty)
    }

    /// Whether there are chunks without filters, which are written in place.
    pub(crate) fn is_overwritten(&self) -> bool {
        let is_dense = self.structure().is_none();
        is_dense && !matches!(self.index, Index::Empty) && (!self.has_filters() || self.has_plain_edges())
    }

    /// Writes pieces of chunks, by rising place. Whether the layout message must say something new.
    pub(crate) fn write_pieces(
        &mut self,
        file: &OpenFile,
        pieces: &[Piece],
        from: WriteBuffer<'_>,
        filling: &Filling<'_>,
    ) -> Result<bool> {
        self.publish(file, filling, |chunked| Ok(chunked.store_pieces(file, pieces, from, filling)?.into()))
    }

    /// Writes pieces of chunks, by rising place: into chunks that are there, or to new space, which the index does not know of yet. Within a part of an
    /// operation that may fail.
    fn store_pieces(
        &self,
        file: &OpenFile,
        pieces: &[Piece],
        from: WriteBuffer<'_>,
        filling: &Filling<'_>,
    ) -> Result<[Allocation; 2]> {
        let plan = self.plan(file, pieces, from.keeps_background())?;
        let (whole, mut straight) = self.allocate_whole(file, &plan.whole)?;
        straight.extend(plan.in_place);
        let made = self.write_jobs(file, &plan.jobs, from, filling)?;
        write_straight(file, &self.chunks, &straight, from)?;
        Ok([made, whole])
    }

    /// What becomes of pieces, by rising coordinate. Old chunks are wanted in any case if their values `keep` some bytes.
    pub(super) fn plan<'a>(&self, file: &OpenFile, pieces: &'a [Piece], keep: bool) -> Result<Plan<'a>> {
        let coords: Vec<ChunkCoord> = pieces.iter().map(|piece| piece.chunk.clone()).collect();
        let entries = self.index.find_all(file, &coords, self.chunk())?;
        let mut plan = Plan::at(self.generation);
        for (piece, old) in pieces.iter().zip(entries) {
            let form = self.stored_as(&piece.chunk, &self.extent);
            let is_in_place = self.chunks.is_addressable_as(form);
            match old.as_ref().and_then(|old| old.address) {
                Some(address) if is_in_place => {
                    file.check("chunk", address, self.bytes() as u64)?;
                    plan.in_place.push(Straight { piece, address });
                }
                None if is_in_place && covers(piece, self.elements()) => plan.whole.push(piece),
                _ => plan.jobs.push(self.job(file, (piece, keep), old, form)?),
            }
        }
        Ok(plan)
    }

    /// Takes space for new chunks that go to the file as they are in memory.
    pub(super) fn allocate_whole<'a>(
        &self,
        file: &OpenFile,
        whole: &[&'a Piece],
    ) -> Result<(Allocation, Vec<Straight<'a>>)> {
        let (mut allocation, mut straight) = (Allocation::default(), Vec::with_capacity(whole.len()));
        for &piece in whole {
            let size = self.bytes() as u64;
            let address = file.allocate(SpaceKind::Raw, size)?;
            straight.push(Straight { piece, address });
            allocation.changes.push((piece.chunk.clone(), ChunkEntry::dense(Some(address), size, 0)));
        }
        Ok((allocation, straight))
    }

    fn job<'a>(
        &self,
        file: &OpenFile,
        (piece, keep): (&'a Piece, bool),
        old: Option<ChunkEntry>,
        form: StoredAs,
    ) -> Result<Job<'a>> {
        let (read, blank) = match &old {
            _ if !keep && covers(piece, self.elements()) => (None, Blank::Nothing),
            Some(old) if keep || !covers(piece, self.inside(&piece.chunk)) => {
                (self.stored_at(file, &piece.chunk, old)?, Blank::Nothing)
            }
            _ => (None, Blank::All),
        };
        Ok(Job { coord: piece.chunk.clone(), old, read, piece: Some(piece), blank, form, mask: 0 })
    }
}
