//! Chunks that a program will want next, if it goes on as it did: read and decoded while it does something else.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use hyperslab_cache::{Area, Cache, Need};
use hyperslab_driver::cores;
use parking_lot::Mutex;

use super::{ChunkCache, ChunkShelf, fetch::fetch, reach::Reach, way::PART, workers::Worker};
use crate::{ResidentChunk, Result, transfer::PIECES};

/// One at a time in the process: it may wait for an operation, and its thread helps no request meanwhile.
static BUSY: AtomicBool = AtomicBool::new(false);

/// So many bytes are read at once. Whoever comes for chunks that are not there yet waits no longer than they take, and decodes the others on all cores.
const BYTES: usize = 512 << 10;

/// Where requests of a dataset went.
#[derive(Debug, Default)]
pub(super) struct Track(Mutex<Trail>);

#[derive(Debug, Default)]
struct Trail {
    last: Option<Reach>,
    /// The dimension in which the last one lies further than the one before.
    step: Option<usize>,
}

impl Track {
    /// The dimension in which requests go on, if this is the third in a row that lies further in it.
    fn goes_on(&self, reach: &Reach) -> Option<usize> {
        let mut trail = self.0.lock();
        if trail.last.as_ref().is_some_and(|last| last.is(reach)) {
            return None;
        }
        let step = trail.last.as_ref().and_then(|last| reach.beyond(last));
        let known = std::mem::replace(&mut trail.step, step);
        trail.last = Some(reach.clone());
        step.filter(|_| step == known)
    }
}

/// What is to be done. The last part is dropped last: then nothing of the file is in use any more.
struct Job {
    cache: Arc<Cache<ResidentChunk>>,
    shelf: ChunkShelf,
    next: Reach,
    _worker: Worker,
}

impl Drop for Job {
    fn drop(&mut self) {
        BUSY.store(false, Ordering::Release);
    }
}

impl ChunkCache {
    /// After a read of filtered chunks: brings those in that come next, if reads go on in one direction.
    pub(super) fn read_ahead(&self, shelf: &ChunkShelf, reach: &Reach) {
        if !self.reads_ahead {
            return;
        }
        let (source, layout) = (shelf.home(), shelf.home().layout());
        let Some((dim, grid)) = source.track.goes_on(reach).zip(layout.grid()) else { return };
        let Ok(view) = source.storage().live_view() else { return };
        let counts = view.extent.dims().iter().zip(grid.chunk()).map(|(dim, size)| dim.div_ceil(*size));
        let next = reach.next_in(dim, &counts.collect::<Vec<_>>());
        drop(view);
        let bytes = |next: &Reach| next.count().saturating_mul(layout.expected_bytes() as u64);
        let few =
            |next: &Reach| next.count() <= PIECES as u64 && bytes(next) <= self.cache.limits().quiescent as u64 / PART;
        let Some(next) = next.filter(few) else { return };
        if BUSY.swap(true, Ordering::Acquire) {
            return;
        }
        let (cache, shelf, _worker) = (self.cache.clone(), shelf.clone(), self.workers.begin());
        let job = Job { cache, shelf, next, _worker };
        // Whoever wants a chunk that cannot be read is told why.
        self.workers.keep(cores::spawn(move || drop(job.run())));
    }
}

impl Job {
    /// Nobody is waited for but operations on the file.
    fn run(&self) -> Result<()> {
        let (source, layout) = (self.shelf.home(), self.shelf.home().layout());
        let Some(grid) = layout.grid() else { return Ok(()) };
        let (low, high) = self.next.elements(grid);
        let turn = self.shelf.try_enter(Area::Box(low, high), false);
        if turn.is_none() && source.file().is_writable() {
            return Ok(());
        }
        let places: Vec<_> = self.next.places().collect();
        for some in places.chunks((BYTES / layout.expected_bytes().max(1)).max(1)) {
            let bytes = layout.expected_footprint(some.len());
            let Some(_promise) = self.cache.try_promise(Need { chunks: bytes, aside: bytes }) else { break };
            let missing = some.iter().filter_map(|place| Some((self.shelf.vacant(place)?, place)));
            let (vacant, wanted): (Vec<_>, Vec<_>) =
                missing.map(|(vacancy, place)| (vacancy, (&self.shelf, place.clone()))).unzip();
            let Some(mut claim) = self.cache.try_room(layout.expected_footprint(vacant.len())) else { break };
            for (vacancy, chunk) in vacant.into_iter().zip(fetch(&wanted, &mut |_| ())?) {
                chunk.and_then(|chunk| vacancy.fill(chunk, &mut claim, false));
            }
        }
        Ok(())
    }
}
