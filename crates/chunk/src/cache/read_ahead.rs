//! Chunks that a program will want next, if it goes on as it did: read and decoded while it does something else.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use hyperslab_cache::{Cache, Demand, LockRange};
use hyperslab_driver::cores;
use parking_lot::Mutex;

use super::{ChunkCache, ChunkPartition, fetch::fetch, io_path::PART, reach::Reach, workers::Worker};
use crate::{ResidentChunk, Result, transfer::PIECES};

/// One at a time in the process: it may wait for an operation, and its thread helps no request meanwhile.
static BUSY: AtomicBool = AtomicBool::new(false);

/// So many bytes are read at once. A request for chunks that are not there yet waits no longer than they take, and decodes the others on all cores.
const BYTES: usize = 512 << 10;

/// Where requests of a dataset went.
#[derive(Debug, Default)]
pub(super) struct AccessPattern(Mutex<Steps>);

#[derive(Debug, Default)]
struct Steps {
    last: Option<Reach>,
    /// The dimension in which the last one lies further than the one before.
    step: Option<usize>,
}

impl AccessPattern {
    /// The dimension in which requests go on, if this is the third in a row that lies further in it.
    fn goes_on(&self, reach: &Reach) -> Option<usize> {
        let mut steps = self.0.lock();
        if steps.last.as_ref().is_some_and(|last| last.is(reach)) {
            return None;
        }
        let step = steps.last.as_ref().and_then(|last| reach.beyond(last));
        let known = std::mem::replace(&mut steps.step, step);
        steps.last = Some(reach.clone());
        step.filter(|_| step == known)
    }
}

/// What is to be done. The last part is dropped last: then nothing of the file is in use any more.
struct Job {
    cache: Arc<Cache<ResidentChunk>>,
    partition: ChunkPartition,
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
    pub(super) fn read_ahead(&self, partition: &ChunkPartition, reach: &Reach) {
        if !self.reads_ahead {
            return;
        }
        let (source, layout) = (partition.home(), partition.home().layout());
        let Some((dim, grid)) = source.pattern.goes_on(reach).zip(layout.grid()) else { return };
        let counts: Vec<u64> = source.storage().with_state(|state| {
            state.extent.dims().iter().zip(grid.chunk()).map(|(dim, size)| dim.div_ceil(*size)).collect()
        });
        let next = reach.next_in(dim, &counts);
        let bytes = |next: &Reach| next.count().saturating_mul(layout.expected_bytes() as u64);
        let most = self.cache.limits().quiescent.min(partition.limit()) as u64 / PART;
        let few = |next: &Reach| next.count() <= PIECES as u64 && bytes(next) <= most;
        let Some(next) = next.filter(few) else { return };
        if BUSY.swap(true, Ordering::Acquire) {
            return;
        }
        let (cache, partition, _worker) = (self.cache.clone(), partition.clone(), self.workers.begin());
        let job = Job { cache, partition, next, _worker };
        // A request for a chunk that cannot be read is told why.
        self.workers.keep(cores::spawn(move || drop(job.run())));
    }
}

impl Job {
    /// Waits for operations on the file, and for nothing else.
    fn run(&self) -> Result<()> {
        let (source, layout) = (self.partition.home(), self.partition.home().layout());
        let Some(grid) = layout.grid() else { return Ok(()) };
        let (low, high) = self.next.elements(grid);
        let turn = self.partition.try_enter(LockRange::Box(low, high), false);
        if turn.is_none() && source.file().is_writable() {
            return Ok(());
        }
        let coords: Vec<_> = self.next.coords().collect();
        for some in coords.chunks((BYTES / layout.expected_bytes().max(1)).max(1)) {
            let bytes = layout.expected_footprint(some.len());
            let Some(_reservation) = self.cache.try_reserve(Demand { chunks: bytes, aside: bytes }) else { break };
            let missing = some.iter().filter_map(|coord| Some((self.partition.vacant(coord)?, coord)));
            let (vacant, wanted): (Vec<_>, Vec<_>) =
                missing.map(|(ticket, coord)| (ticket, (&self.partition, coord.clone()))).unzip();
            let Some(mut grant) = self.cache.try_room(&self.partition, layout.expected_footprint(vacant.len())) else {
                break;
            };
            for (ticket, chunk) in vacant.into_iter().zip(fetch(source.file(), &wanted, &mut |_| ())?) {
                chunk.and_then(|chunk| ticket.fill(chunk, &mut grant, false));
            }
        }
        Ok(())
    }
}
