//! Chunks that a program will want next, if it goes on as it did: read and decoded while it does something else.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use hyperslab_cache::{Area, Cache, Need};
use hyperslab_driver::cores;
use parking_lot::{Condvar, Mutex};

use super::{Chunk, ChunkCache, ChunkShelf, fetch::fetch, reach::Reach, way::PART};
use crate::Result;

/// One at a time in the process: it may wait for an operation, which may wait for the other threads of the pool.
static BUSY: AtomicBool = AtomicBool::new(false);

/// So many steps nothing is read ahead after a program had to wait for it: all cores together are faster then.
const PAUSE: u32 = 32;

/// Where requests of a dataset went.
#[derive(Debug, Default)]
pub(crate) struct Track(Mutex<Trail>);

#[derive(Debug, Default)]
struct Trail {
    last: Option<Reach>,
    /// The dimension in which the last one lies further than the one before.
    step: Option<usize>,
    pause: u32,
}

impl Track {
    /// The dimension in which requests go on, if this is the third in a row that lies further in it.
    fn goes_on(&self, reach: &Reach) -> Option<usize> {
        let mut trail = self.0.lock();
        if trail.last.as_ref().is_some_and(|last| last.is(reach)) {
            return None;
        }
        let step = trail.last.as_ref().and_then(|last| reach.beyond(last));
        let (known, pause) = (std::mem::replace(&mut trail.step, step), trail.pause);
        (trail.last, trail.pause) = (Some(reach.clone()), pause.saturating_sub(1));
        step.filter(|_| step == known && pause == 0)
    }

    /// Somebody had to wait for chunks that others load.
    pub(super) fn is_too_slow(&self) {
        self.0.lock().pause = PAUSE;
    }
}

/// How many work for a cache in the background.
#[derive(Clone, Default)]
pub(super) struct Workers(Arc<(Mutex<usize>, Condvar)>);

impl Workers {
    fn begin(&self) -> Worker {
        *self.0.0.lock() += 1;
        Worker(self.clone())
    }
}

/// Files are closed with the last of those who read them.
impl Drop for ChunkCache {
    fn drop(&mut self) {
        let (count, ended) = &*self.workers.0;
        let mut count = count.lock();
        while *count > 0 {
            ended.wait(&mut count);
        }
    }
}

/// One of them.
struct Worker(Workers);

impl Drop for Worker {
    fn drop(&mut self) {
        BUSY.store(false, Ordering::Release);
        let (count, ended) = &*self.0.0;
        *count.lock() -= 1;
        ended.notify_all();
    }
}

/// What is to be done. The last part is dropped last: then nothing of the file is in use any more.
struct Job {
    cache: Arc<Cache<Chunk>>,
    shelf: ChunkShelf,
    next: Reach,
    _worker: Worker,
}

impl ChunkCache {
    /// After a read of filtered chunks: brings those in that come next, if reads go on in one direction.
    pub(super) fn read_ahead(&self, shelf: &ChunkShelf, reach: &Reach) {
        if !self.reads_ahead || rayon::current_thread_index().is_some() {
            return;
        }
        let (home, facts) = (shelf.home(), shelf.home().facts());
        let Some((dim, grid)) = facts.track.goes_on(reach).zip(facts.grid.as_ref()) else { return };
        let mut next = None;
        let looked = home.look(&mut |layout| {
            let counts = layout.dims().iter().zip(grid.chunk()).map(|(dim, size)| dim.div_ceil(*size));
            next = reach.next_in(dim, &counts.collect::<Vec<_>>());
            Ok(())
        });
        let bytes = |next: &Reach| next.count().saturating_mul(facts.bytes as u64);
        let next = next.filter(|next| looked.is_ok() && bytes(next) <= self.cache.limits().quiescent as u64 / PART);
        let Some(next) = next else { return };
        if BUSY.swap(true, Ordering::Acquire) {
            return;
        }
        let (cache, shelf, _worker) = (self.cache.clone(), shelf.clone(), self.workers.begin());
        let job = Job { cache, shelf, next, _worker };
        // Whoever wants a chunk that cannot be read is told why.
        cores::spawn(move || drop(job.run()));
    }
}

impl Job {
    /// Nobody is waited for but operations on the file.
    fn run(&self) -> Result<()> {
        let (home, facts) = (self.shelf.home(), self.shelf.home().facts());
        let Some(grid) = facts.grid.as_ref() else { return Ok(()) };
        let (low, high) = self.next.elements(grid);
        let turn = self.shelf.try_enter(Area::Box(low, high), false);
        if turn.is_none() && home.file().is_writable() {
            return Ok(());
        }
        let places: Vec<_> = self.next.places().collect();
        let bytes = places.len().saturating_mul(facts.bytes);
        let Some(_promise) = self.cache.try_promise(Need { chunks: bytes, aside: bytes }) else { return Ok(()) };
        let missing = places.into_iter().filter_map(|place| Some((self.shelf.vacant(&place)?, (&self.shelf, place))));
        let (vacant, wanted): (Vec<_>, Vec<_>) = missing.unzip();
        let Some(mut claim) = self.cache.try_room(vacant.len().saturating_mul(facts.bytes)) else { return Ok(()) };
        for (vacancy, chunk) in vacant.into_iter().zip(fetch(&wanted, &mut |_| ())?) {
            chunk.and_then(|chunk| vacancy.fill(chunk, &mut claim, false));
        }
        Ok(())
    }
}
