//! Chunks that a program will want next, if it goes on as it did: read and decoded while it does something else.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use hyperslab_cache::{Cache, Demand, LockRange, ReadAhead};
use hyperslab_driver::cores;
use parking_lot::Mutex;

use super::{ChunkCache, ChunkPartition, fetch::fetch, io_path::PART, reach::Reach, workers::Worker};
use crate::{ResidentChunk, Result, layout::chunk_layout::ChunkLayout, transfer::PIECES};

/// One at a time in the process: it may wait for an operation, and its thread helps no request meanwhile.
static BUSY: AtomicBool = AtomicBool::new(false);

/// So many bytes are read at once, unless the storage is slow. A request for chunks that are not there yet waits no longer than they take, and decodes the others on all cores.
const BYTES: usize = 512 << 10;

/// Where requests of a dataset went.
#[derive(Debug, Default)]
pub(super) struct AccessPattern(Mutex<Steps>);

#[derive(Debug, Default)]
struct Steps {
    last: Option<Reach>,
    /// The dimension in which the last one lies further than the one before.
    step: Option<usize>,
    /// Whether it lies right behind it, too.
    is_adjacent: bool,
    /// The first chunk in that dimension that was not read ahead.
    ahead: u64,
}

impl AccessPattern {
    /// The dimension in which requests go on, if this is the third in a row that lies further in it, and whether they leave nothing out.
    fn goes_on(&self, reach: &Reach) -> Option<(usize, bool)> {
        let mut steps = self.0.lock();
        if steps.last.as_ref().is_some_and(|last| last.is(reach)) {
            return None;
        }
        let step = steps.last.as_ref().and_then(|last| reach.beyond(last));
        let known = std::mem::replace(&mut steps.step, step);
        let gap = step.and_then(|dim| Some((reach.range(dim)?.0, steps.last.as_ref()?.range(dim)?.1)));
        let is_adjacent = gap.is_some_and(|(low, before)| low <= before.saturating_add(1));
        let was_adjacent = std::mem::replace(&mut steps.is_adjacent, is_adjacent);
        steps.last = Some(reach.clone());
        if step.is_none() || step != known {
            steps.ahead = 0;
            return None;
        }
        step.map(|dim| (dim, is_adjacent && was_adjacent))
    }

    /// What is to be read ahead now of a window of several boxes: nothing as long as half of it was read before, so that a request has half of it at least.
    fn missing(&self, reach: &Reach, dim: usize, chunks: &[u64], boxes: u64) -> Option<Reach> {
        let ahead = self.0.lock().ahead;
        let next = reach.next_in(dim, chunks, ahead, boxes)?;
        let ((first, last), (low, high)) = (next.range(dim)?, reach.range(dim)?);
        let is_last = chunks.get(dim).is_some_and(|count| last + 1 == *count);
        let half = (high - low + 1).saturating_mul(boxes).div_ceil(2);
        (is_last || last - first + 1 >= half).then_some(next)
    }

    /// Chunks of a window are read ahead up to this one, which is the first that is not.
    fn reached(&self, ahead: u64) {
        self.0.lock().ahead = ahead;
    }
}

/// What is to be done. The last part is dropped last: then nothing of the file is in use any more.
struct Job {
    cache: Arc<Cache<ResidentChunk>>,
    partition: ChunkPartition,
    next: Reach,
    /// How many bytes are read at once.
    at_once: usize,
    _worker: Worker,
}

impl Drop for Job {
    fn drop(&mut self) {
        BUSY.store(false, Ordering::Release);
    }
}

impl ChunkCache {
    /// After a read: brings chunks in that come next, if reads go on in one direction, as far as the storage makes that worth while.
    pub(super) fn read_ahead(&self, partition: &ChunkPartition, reach: &Reach) {
        let (source, layout) = (partition.source(), partition.source().layout());
        let window = match self.reads_ahead {
            ReadAhead::Off | ReadAhead::Bytes(0) => return,
            ReadAhead::Bytes(bytes) => Some(bytes as u64),
            _ => source.file().latency_bytes(),
        };
        let is_plain = layout.is_addressable();
        // What needs no decoding is left to the system where it reads ahead itself.
        if is_plain && window.is_none() {
            return;
        }
        let Some(((dim, is_adjacent), grid)) = source.pattern.goes_on(reach).zip(layout.grid()) else { return };
        if is_plain && !is_adjacent {
            return;
        }
        let counts: Vec<u64> = source.storage().with_state(|state| {
            state.extent.dims().iter().zip(grid.chunk()).map(|(dim, size)| dim.div_ceil(*size)).collect()
        });
        let boxes = window.filter(|_| is_adjacent).map_or(Some(1), |window| self.boxes(partition, reach, window));
        let next = match boxes {
            Some(1) => reach.next_in(dim, &counts, 0, 1).filter(|next| self.fits(partition, next)),
            Some(boxes) => source.pattern.missing(reach, dim, &counts, boxes),
            None => None,
        };
        let Some(next) = next else { return };
        if BUSY.swap(true, Ordering::Acquire) {
            return;
        }
        if let Some((_, last)) = next.range(dim).filter(|_| boxes != Some(1)) {
            source.pattern.reached(last + 1);
        }
        let (cache, partition, _worker) = (self.cache.clone(), partition.clone(), self.workers.begin());
        let at_once = window.map_or(BYTES, |window| BYTES.max(usize::try_from(window).unwrap_or(usize::MAX)));
        let job = Job { cache, partition, next, at_once, _worker };
        // A request for a chunk that cannot be read is told why.
        self.workers.keep(cores::spawn(move || drop(job.run())));
    }

    /// How many boxes of chunks as large as a request make a window of so many bytes, as far as they may be in the cache ahead of time; nothing if not even one.
    fn boxes(&self, partition: &ChunkPartition, reach: &Reach, window: u64) -> Option<u64> {
        let bytes = bytes_of(partition.source().layout(), reach).max(1);
        let most = (self.most(partition) / bytes).min(PIECES as u64 / reach.count().max(1));
        Some(window.div_ceil(bytes).max(1).min(most)).filter(|boxes| *boxes > 0)
    }

    fn fits(&self, partition: &ChunkPartition, next: &Reach) -> bool {
        next.count() <= PIECES as u64 && bytes_of(partition.source().layout(), next) <= self.most(partition)
    }

    /// The most bytes that are read ahead.
    fn most(&self, partition: &ChunkPartition) -> u64 {
        self.cache.limits().quiescent.min(partition.limit()) as u64 / PART
    }
}

fn bytes_of(layout: &ChunkLayout, reach: &Reach) -> u64 {
    reach.count().saturating_mul(layout.expected_bytes() as u64)
}

impl Job {
    /// Waits for operations on the file, and for nothing else.
    fn run(&self) -> Result<()> {
        let (source, layout) = (self.partition.source(), self.partition.source().layout());
        let Some(grid) = layout.grid() else { return Ok(()) };
        let (low, high) = self.next.elements(grid);
        let guard = self.partition.try_enter(LockRange::Box(low, high), false);
        if guard.is_none() && source.file().is_writable() {
            return Ok(());
        }
        let coords: Vec<_> = self.next.coords().collect();
        for some in coords.chunks((self.at_once / layout.expected_bytes().max(1)).max(1)) {
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
