//! A cache that finds its own size.
//!
//! It grows when chunks come back that a larger cache would still have, and shrinks when for a while far fewer bytes were used than there is room for. A
//! low hit rate alone says nothing: a program that reads everything once has one at any size.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use hashlink::LinkedHashMap;
use hyperslab_space::Coords;

use crate::{
    Config,
    budget::Budget,
    config::Range,
    sync::{Mutex, Rank},
};

/// So many chunks are looked for before it is thought over.
const EPOCH: u64 = 1024;
/// It grows when one in so many came back.
const BACK: u64 = 32;
/// It shrinks after so many epochs in which little was used.
const PATIENCE: u32 = 4;

/// What is known of the use of a cache.
#[derive(Debug)]
pub(crate) struct Tuning {
    config: Config,
    range: Range,
    /// How many chunks were looked for.
    lookups: AtomicU64,
    /// Which stretch of some epochs this is, from 1 on, and what the chunks take that were used in it.
    stretch: AtomicU64,
    used: AtomicUsize,
    /// Whether it has become smaller, and chunks are to leave.
    shrunk: AtomicBool,
    past: Mutex<Past>,
}

#[derive(Debug, Default)]
struct Past {
    /// Chunks that left lately, by partition and coordinate, and what they took; no more than a cache of the largest size would still have.
    gone: LinkedHashMap<(u64, Coords), usize>,
    bytes: usize,
    /// How many of them came back in this epoch.
    back: u64,
    /// Epochs of this stretch.
    epochs: u32,
}

impl Tuning {
    /// If the cache is to find its own size.
    pub(crate) fn new(config: Config) -> Option<Tuning> {
        let (lookups, used, shrunk) = Default::default();
        let (stretch, past) = (AtomicU64::new(1), Mutex::new(Rank::Size, Past::default()));
        Some(Tuning { config, range: config.range?, lookups, stretch, used, shrunk, past })
    }

    /// A chunk is used that takes so much; `last` is the stretch in which it was used last.
    pub(crate) fn used(&self, last: &AtomicU64, bytes: impl FnOnce() -> usize) {
        let now = self.stretch.load(Ordering::Relaxed);
        if last.load(Ordering::Relaxed) == now {
            return;
        }
        // Those that are being loaded count when they are there.
        let bytes = bytes();
        if bytes > 0 && last.swap(now, Ordering::Relaxed) != now {
            self.used.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// A chunk made room for others.
    pub(crate) fn left(&self, partition: u64, coord: &Coords, bytes: usize, budget: &Budget) {
        let room = self.range.largest.saturating_sub(budget.limits().quiescent);
        self.past.lock().remember((partition, coord.clone()), bytes, room);
    }

    /// A chunk was looked for that is not here.
    pub(crate) fn missed(&self, partition: u64, coord: &Coords) {
        let mut past = self.past.lock();
        if let Some(bytes) = past.gone.remove(&(partition, coord.clone())) {
            past.bytes -= bytes;
            past.back += 1;
        }
    }

    /// So many chunks were looked for.
    pub(crate) fn looked(&self, count: usize, budget: &Budget) {
        let count = count as u64;
        let before = self.lookups.fetch_add(count, Ordering::Relaxed);
        if before / EPOCH != (before + count) / EPOCH {
            self.think(budget);
        }
    }

    /// An epoch has ended.
    fn think(&self, budget: &Budget) {
        let mut past = self.past.lock();
        let limit = budget.limits().quiescent;
        let back = std::mem::take(&mut past.back);
        past.epochs += 1;
        if back * BACK >= EPOCH {
            let limit = self.set(limit.saturating_add((limit / 2).max(1)), budget);
            past.forget(self.range.largest.saturating_sub(limit));
        } else if past.epochs >= PATIENCE && self.used.load(Ordering::Relaxed) <= limit / 2 {
            self.set(limit - limit / 4, budget);
            self.shrunk.store(true, Ordering::Relaxed);
        } else if past.epochs < PATIENCE {
            return;
        }
        past.epochs = 0;
        self.used.store(0, Ordering::Relaxed);
        self.stretch.fetch_add(1, Ordering::Relaxed);
    }

    fn set(&self, bytes: usize, budget: &Budget) -> usize {
        let limits = self.config.bytes(bytes).limits();
        budget.set_limits(limits);
        limits.quiescent
    }

    /// Whether it has become smaller since this was asked.
    pub(crate) fn has_shrunk(&self) -> bool {
        self.shrunk.load(Ordering::Relaxed) && self.shrunk.swap(false, Ordering::Relaxed)
    }
}

impl Past {
    fn remember(&mut self, chunk: (u64, Coords), bytes: usize, room: usize) {
        self.bytes += bytes;
        self.bytes -= self.gone.insert(chunk, bytes).unwrap_or(0);
        self.forget(room);
    }

    /// Forgets the oldest.
    fn forget(&mut self, room: usize) {
        while self.bytes > room
            && let Some((_, bytes)) = self.gone.pop_front()
        {
            self.bytes -= bytes;
        }
    }
}
