//! Pieces of chunks of one dataset, written past the cache while other threads use the file.
//!
//! ```text
//!  shared operation lock     no lock     exclusive     no lock     shared              exclusive
//!  find; read old chunks  →  encode   →  allocate  →   write   →   write in place  →   insert
//! ```
//!
//! A request takes the steps that it needs: values that go over old bytes alone take the one that is shared. The caller holds the range lock of what it writes and
//! keeps other threads from loading or storing the chunks, so that they stay as they were found. A dataset may be deleted between the steps.

use hyperslab_file::{OpenFile, UnnamedSpace};
use hyperslab_format::ChunkEntry;
use hyperslab_space::Piece;

use super::{
    ChunkCoord, EncodedChunk, Storer, WriteBuffer,
    allocation::{Allocation, Overwrite},
    job::{Job, Plan, Straight, write_straight},
    make::{batch_of, encode_jobs, read_jobs},
};
use crate::{ChunkLayout, DatasetStorage, Error, Filling, Result, Storage};

/// So many bytes are written in place at once: changes of the file wait for that.
const PORTION: u64 = 64 << 20;

/// Chunks that are in the file, but not in the index.
#[derive(Default)]
struct Stored<'a> {
    space: Option<UnnamedSpace<'a>>,
    allocation: Allocation,
}

impl Storer<'_> {
    /// Writes pieces of chunks, by rising coordinate: those that need new space all or none. Not within an operation.
    pub(crate) fn write_pieces(
        &self,
        storage: &DatasetStorage,
        pieces: &[Piece],
        from: WriteBuffer<'_>,
        filling: &Filling<'_>,
    ) -> Result<()> {
        let file = self.file;
        let view = storage.live_view()?;
        file.check_writable()?;
        let values = view.values()?;
        let Storage::Chunked(chunked) = &values.storage else { return values.overwrite_pieces(file, pieces, from) };
        if chunked.allocates_with_first(filling) {
            drop(view);
            return file.operate(|| storage.change_values(|values| values.write_pieces(file, pieces, from, filling)));
        }
        let (plan, layout) = (chunked.plan(file, pieces, from.keeps_background())?, chunked.chunks.clone());
        let most = usize::try_from(PORTION / (layout.dense_bytes() as u64).max(1)).unwrap_or(usize::MAX).max(1);
        if plan.whole.is_empty() && plan.jobs.is_empty() && plan.in_place.len() <= most {
            return write_straight(file, &layout, &plan.in_place, from);
        }
        drop(view);
        let mut stored = Stored::default();
        self.store_whole(storage, &layout, &plan, from, &mut stored)?;
        self.store_made(storage, &layout, &plan, (from, filling), &mut stored)?;
        for some in plan.in_place.chunks(most) {
            self.write_in_place(storage, some, plan.generation, from)?;
        }
        stored.insert(file, storage, plan.generation)
    }

    /// Takes space for new chunks that go to the file as they are in memory, and writes them with one request.
    fn store_whole<'f>(
        &'f self,
        storage: &DatasetStorage,
        layout: &ChunkLayout,
        plan: &Plan<'_>,
        from: WriteBuffer<'_>,
        stored: &mut Stored<'f>,
    ) -> Result<()> {
        if plan.whole.is_empty() {
            return Ok(());
        }
        let ((allocation, straight), space) =
            self.file.take_space(|| storage.change_alive()?.chunked_mut()?.allocate_whole(self.file, &plan.whole))?;
        stored.add(allocation, space);
        write_straight(self.file, layout, &straight, from)
    }

    /// Makes chunks, so many at a time, takes space for them and writes them.
    fn store_made<'f>(
        &'f self,
        storage: &DatasetStorage,
        layout: &ChunkLayout,
        plan: &Plan<'_>,
        (from, filling): (WriteBuffer<'_>, &Filling<'_>),
        stored: &mut Stored<'f>,
    ) -> Result<()> {
        let mut jobs = plan.jobs.as_slice();
        while !jobs.is_empty() {
            let (now, later) = jobs.split_at(batch_of(layout, jobs));
            let old = self.read_old(storage, now, plan.generation)?;
            let encoded = encode_jobs(layout, now, old, from, filling)?;
            let encoded: Vec<_> = encoded.iter().collect();
            let (allocation, space) = self.file.take_space(|| {
                let old = now.iter().map(|job| job.old.clone()).collect();
                storage.change_alive()?.chunked_mut()?.allocate(self.file, &encoded, old, Overwrite::Never)
            })?;
            let addresses = allocation.addresses.clone();
            stored.add(allocation, space);
            self.write(addresses.into_iter().zip(encoded))?;
            jobs = later;
        }
        Ok(())
    }

    /// The old chunks of jobs, where they are wanted.
    fn read_old(
        &self,
        storage: &DatasetStorage,
        jobs: &[Job<'_>],
        generation: u64,
    ) -> Result<Vec<Option<EncodedChunk<'static>>>> {
        if jobs.iter().all(|job| job.read.is_none()) {
            return Ok(vec![None; jobs.len()]);
        }
        let view = storage.live_view()?;
        let Storage::Chunked(chunked) = &view.values()?.storage else { return Err(moved()) };
        if chunked.generation != generation {
            let coords: Vec<ChunkCoord> = jobs.iter().map(|job| job.coord.clone()).collect();
            let found = chunked.index.find_all(self.file, &coords, chunked.chunk())?;
            let address = |entry: &Option<ChunkEntry>| entry.as_ref().and_then(|entry| entry.address);
            if !jobs.iter().zip(&found).all(|(job, found)| address(&job.old) == address(found)) {
                return Err(moved());
            }
        }
        read_jobs(self.file, jobs)
    }

    /// Writes values over bytes that the file has, with one request.
    fn write_in_place(
        &self,
        storage: &DatasetStorage,
        some: &[Straight<'_>],
        generation: u64,
        from: WriteBuffer<'_>,
    ) -> Result<()> {
        let view = storage.live_view()?;
        self.file.check_writable()?;
        let Storage::Chunked(chunked) = &view.values()?.storage else { return Err(moved()) };
        if chunked.generation == generation {
            return write_straight(self.file, &chunked.chunks, some, from);
        }
        let coords: Vec<ChunkCoord> = some.iter().map(|straight| straight.piece.chunk.clone()).collect();
        let found = chunked.index.find_all(self.file, &coords, chunked.chunk())?;
        let found = some.iter().zip(found).map(|(straight, entry)| {
            let address = entry.and_then(|entry| entry.address).ok_or_else(moved)?;
            Ok(Straight { piece: straight.piece, address })
        });
        write_straight(self.file, &chunked.chunks, &found.collect::<Result<Vec<_>>>()?, from)
    }
}

impl<'a> Stored<'a> {
    fn add(&mut self, allocation: Allocation, space: UnnamedSpace<'a>) {
        self.allocation.append(allocation);
        match &mut self.space {
            Some(all) => all.append(space),
            None => self.space = Some(space),
        }
    }

    /// Enters the chunks in the index, of which it was found out at `generation` what they replace.
    fn insert(self, file: &OpenFile, storage: &DatasetStorage, generation: u64) -> Result<()> {
        let Stored { space: Some(space), mut allocation } = self else { return Ok(()) };
        allocation.changes.sort_by(|left, right| left.0.cmp(&right.0));
        space.name(|| {
            let mut state = storage.change_alive()?;
            let chunked = state.chunked_mut()?;
            if chunked.generation != generation {
                allocation.renew(file, chunked)?;
            }
            if chunked.insert(file, allocation)? {
                state.save_layout()?;
            }
            Ok(())
        })
    }
}

/// Chunks of a request are not where they were found: another thread stored them, which must not be.
fn moved() -> Error {
    Error::Layout("chunks moved while they were written".into())
}
