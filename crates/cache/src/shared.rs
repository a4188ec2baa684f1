//! What all partitions of a cache share.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hyperslab_space::Coords;

use crate::{
    Config,
    budget::Budget,
    counters::{Counter, Counters},
    dirty_index::DirtyIndex,
    life::Phase,
    tuning::Tuning,
};

/// The account of a cache, and what it counts.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) budget: Budget,
    /// What datasets counted that are closed, or whose counting began anew.
    pub(crate) counters: Counters,
    /// How many chunks have come or were written.
    turnover: AtomicU64,
    /// If it is to find its own size.
    pub(crate) tuning: Option<Tuning>,
    /// Chunks whose values are not in the file.
    pub(crate) unwritten: DirtyIndex,
    /// How many chunks are dirty, and not encoded yet.
    dirty: AtomicUsize,
}

impl Shared {
    pub(crate) fn new(config: Config) -> Shared {
        let (counters, turnover, dirty) = Default::default();
        Shared {
            budget: Budget::new(config.limits()),
            counters,
            turnover,
            tuning: Tuning::new(config),
            unwritten: DirtyIndex::new(),
            dirty,
        }
    }

    /// Chunks of a dataset, which has these counters, were looked for.
    pub(crate) fn looked(&self, counters: &Counters, counter: Counter, chunks: usize) {
        counters.add(counter, chunks as u64);
        if let Some(tuning) = &self.tuning {
            tuning.looked(chunks, &self.budget);
        }
    }

    /// A chunk has come, or was written.
    pub(crate) fn turned_over(&self) {
        self.turnover.fetch_add(1, Ordering::Relaxed);
    }

    /// How many chunks have come or were written.
    pub(crate) fn turnover(&self) -> u64 {
        self.turnover.load(Ordering::Relaxed)
    }

    /// A chunk went on in its life: the one at a coordinate of a partition. The caller has the lock of its phase, or is alone with it.
    pub(crate) fn moved(&self, chunk: (u64, &Coords), from: Phase, to: Phase) {
        self.unwritten.moved(chunk, from, to);
        match (from == Phase::Dirty, to == Phase::Dirty) {
            (false, true) => self.dirty.fetch_add(1, Ordering::Relaxed),
            (true, false) => self.dirty.fetch_sub(1, Ordering::Relaxed),
            _ => 0,
        };
    }

    /// Whether some chunk is dirty, and not encoded yet.
    pub(crate) fn is_any_dirty(&self) -> bool {
        self.dirty.load(Ordering::Relaxed) > 0
    }
}
