//! Chunks that a program will want next, if it goes on as it did: read and decoded while it does something else.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use hyperslab_cache::{Cache, Demand, LockRange, ReadAhead};
use hyperslab_driver::cores;
use parking_lot::Mutex;

use super::{ChunkCache, ChunkPartition, fetch::fetch, io_path::PART, reach::Reach, workers::Worker};
use crate::{
    ChunkKind, ResidentChunk, Result,
    layout::{ChunkLayout, Part},
    transfer::PIECES,
};

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
    /// Counts how often requests went on in another way: what was read ahead before is of no use then.
    turns: u64,
}

/// A window that is to be read ahead, and when that was found out.
#[derive(Clone, Debug)]
struct Window {
    chunks: Reach,
    /// The first chunk behind it, where it is one of several boxes.
    end: Option<u64>,
    turns: u64,
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
            (steps.ahead, steps.turns) = (0, steps.turns + 1);
            return None;
        }
        step.map(|dim| (dim, is_adjacent && was_adjacent))
    }

    /// What is to be read ahead now of a window of several boxes: nothing as long as half of it is there, so that a request has half of it at least.
    fn missing(&self, reach: &Reach, dim: usize, chunks: &[u64], boxes: u64) -> Option<Window> {
        let steps = self.0.lock();
        let next = reach.next_in(dim, chunks, steps.ahead, boxes)?;
        let ((first, last), (low, high)) = (next.range(dim)?, reach.range(dim)?);
        let is_last = chunks.get(dim).is_some_and(|count| last + 1 == *count);
        let half = (high - low + 1).saturating_mul(boxes).div_ceil(2);
        let window = Window { chunks: next, end: Some(last + 1), turns: steps.turns };
        (is_last || last - first + 1 >= half).then_some(window)
    }

    /// The chunks of a window are there, unless requests do not go there any more.
    fn reached(&self, window: &Window) {
        let mut steps = self.0.lock();
        if let Some(end) = window.end.filter(|_| steps.turns == window.turns) {
            steps.ahead = steps.ahead.max(end);
        }
    }
}

/// What is to be done. The last part is dropped last: then nothing of the file is in use any more.
struct Job {
    cache: Arc<Cache<ResidentChunk>>,
    partition: ChunkPartition,
    next: Window,
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
        if is_plain && window.is_none() || layout.kind() == ChunkKind::Sparse {
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
            Some(1) => {
                let next = reach.next_in(dim, &counts, 0, 1).filter(|next| self.fits(partition, next));
                next.map(|chunks| Window { chunks, end: None, turns: 0 })
            }
            Some(boxes) => source.pattern.missing(reach, dim, &counts, boxes),
            None => None,
        };
        let Some(next) = next else { return };
        if BUSY.swap(true, Ordering::Acquire) {
            return;
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
    /// Waits for operations on the file, and for nothing else. The window counts as read only when all of it is: one that is refused, or dropped before it begins, is
    /// tried again after the next read.
    fn run(&self) -> Result<()> {
        let (source, layout) = (self.partition.source(), self.partition.source().layout());
        let Some(grid) = layout.grid() else { return Ok(()) };
        let (low, high) = self.next.chunks.elements(grid);
        let guard = self.partition.try_enter(LockRange::Box(low, high), false);
        if guard.is_none() && source.file().is_writable() {
            return Ok(());
        }
        let coords: Vec<_> = self.next.chunks.coords().collect();
        for some in coords.chunks((self.at_once / layout.expected_bytes().max(1)).max(1)) {
            let bytes = layout.expected_footprint(some.len());
            let Some(_reservation) = self.cache.try_reserve(Demand { chunks: bytes, aside: bytes }) else {
                return Ok(());
            };
            let missing = some.iter().filter_map(|coord| Some((self.partition.vacant(coord)?, coord)));
            let (vacant, wanted): (Vec<_>, Vec<_>) =
                missing.map(|(ticket, coord)| (ticket, (&self.partition, coord.clone()))).unzip();
            let Some(mut grant) = self.cache.try_room(&self.partition, layout.expected_footprint(vacant.len())) else {
                return Ok(());
            };
            for (ticket, chunk) in vacant.into_iter().zip(fetch(source.file(), &wanted, Part::All, &mut |_| ())?) {
                chunk.and_then(|chunk| ticket.fill(chunk, &mut grant, false));
            }
        }
        source.pattern.reached(&self.next);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use hyperslab_space::{Grid, Op, Slab, Space};

    use super::*;

    /// A read of one chunk of many.
    fn at(chunk: u64) -> Reach {
        let mut selection = Space::simple(&[100]).unwrap();
        selection.select_hyperslab(Op::Set, &[Slab::block(chunk, 1)]).unwrap();
        Reach::of(&Grid::new(&[1]).unwrap(), &selection).unwrap()
    }

    fn missing(pattern: &AccessPattern, chunk: u64) -> Option<(u64, Window)> {
        let (dim, _) = pattern.goes_on(&at(chunk))?;
        let window = pattern.missing(&at(chunk), dim, &[100], 8)?;
        Some((window.chunks.range(dim)?.0, window))
    }

    #[test]
    fn a_window_counts_when_its_chunks_are_there() {
        let pattern = AccessPattern::default();
        assert!(missing(&pattern, 0).or(missing(&pattern, 1)).is_none());
        // It is asked for until it was read.
        let (first, _) = missing(&pattern, 2).unwrap();
        let (again, window) = missing(&pattern, 3).unwrap();
        assert_eq!((first, again), (3, 4));
        pattern.reached(&window);
        // Then when half of it is used.
        assert!((4..7).all(|chunk| missing(&pattern, chunk).is_none()));
        assert_eq!(missing(&pattern, 7).unwrap().0, 12);
    }

    #[test]
    fn a_window_of_another_direction_does_not_count() {
        let pattern = AccessPattern::default();
        let (_, window) = [50, 51, 52].map(|chunk| missing(&pattern, chunk)).into_iter().flatten().next().unwrap();
        assert!([10, 11].into_iter().all(|chunk| missing(&pattern, chunk).is_none()));
        pattern.reached(&window);
        assert_eq!(missing(&pattern, 12).unwrap().0, 13);
    }
}
