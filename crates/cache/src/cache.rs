//! The cache of one file: its partitions, least recently used first.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use hashlink::LinkedHashMap;

use crate::{
    Config, Demand, Footprint, Limits, Partition, Policy, Reservation, Statistics,
    partition_state::PartitionState,
    shared::Shared,
    sync::{Mutex, Rank},
    tuning::Tuning,
};

/// The chunks of one file. Any number of threads may use it at once.
pub struct Cache<V: Footprint> {
    config: Config,
    pub(crate) shared: Arc<Shared>,
    /// By number, the one used last at the end.
    pub(crate) ranking: Mutex<LinkedHashMap<u64, Arc<PartitionState<V>>>>,
    next: AtomicU64,
}

impl<V: Footprint> Cache<V> {
    /// An empty cache.
    pub fn new(config: Config) -> Cache<V> {
        let ranking = Mutex::new(Rank::Ranking, LinkedHashMap::new());
        Cache { config, shared: Arc::new(Shared::new(config)), ranking, next: AtomicU64::new(0) }
    }

    /// A partition for a dataset, with what the cache's own settings are if nothing is said.
    pub fn open(&self, source: Arc<V::Source>, reserve: Option<usize>, policy: Option<Policy>) -> Partition<V> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (reserve, policy) = (reserve.unwrap_or(self.config.reserve), policy.unwrap_or(self.config.policy));
        let shares = (reserve, self.config.dataset_limit);
        let partition = Partition::new(source, number, shares, policy, self.shared.clone());
        self.ranking.lock().insert(number, partition.inner.clone());
        partition
    }

    /// A dataset is closed: its partition is no longer known. What is on it must have been written.
    pub fn close(&self, partition: &Partition<V>) {
        let gone = self.ranking.lock().remove(&partition.inner.number);
        partition.abandon();
        partition.inner.leave_counters();
        drop(gone);
    }

    /// The partitions with chunks that are not in the file.
    pub(crate) fn unwritten_partitions(&self) -> Vec<Partition<V>> {
        let numbers = self.shared.unwritten.partitions();
        let ranking = self.ranking.lock();
        let inner = numbers.iter().filter_map(|number| ranking.get(number).cloned());
        inner.map(|inner| Partition { inner }).collect()
    }

    /// A partition is used. If the cache has become smaller, chunks that need not be written leave now; whatever must be, leaves when room is made.
    pub fn touch(&self, partition: &Partition<V>) {
        self.ranking.lock().to_back(&partition.inner.number);
        if self.shared.tuning.as_ref().is_some_and(Tuning::has_shrunk) {
            self.trim();
        }
    }

    /// Waits until a request may have what it needs. To be asked before chunks are pinned, never while some are.
    pub fn reserve(&self, demand: Demand) -> Reservation<'_> {
        self.shared.budget.reserve(demand, &self.shared.counters)
    }

    /// The same, if it need not wait. For work in the background.
    pub fn try_reserve(&self, demand: Demand) -> Option<Reservation<'_>> {
        self.shared.budget.try_reserve(demand)
    }

    /// Its limits now.
    pub fn limits(&self) -> Limits {
        self.shared.budget.limits()
    }

    /// What it may become: its limit, or the largest size that it may find for itself.
    pub fn largest(&self) -> usize {
        self.config.range.map_or_else(|| self.limits().quiescent, |range| range.largest)
    }

    /// What chunks may take beside those that could not be written.
    pub fn available(&self) -> usize {
        self.shared.budget.available()
    }

    /// Something was written: eviction tries chunks again whose last attempt failed for a reason that may have passed.
    pub fn retry_failed(&self) {
        if self.shared.budget.unwritable().transient == 0 {
            return;
        }
        for partition in self.unwritten_partitions() {
            partition.inner.unwritten().iter().for_each(|slot| slot.retry(&partition.inner));
        }
    }

    /// Another limit, which holds from the next request on. A cache that finds its own size goes on from there.
    pub fn set_bytes(&self, bytes: usize) {
        self.shared.budget.set_limits(self.config.bytes(bytes).limits());
    }

    /// How many chunks have come or were written. As long as there are no more, no others are dirty than before.
    pub fn turnover(&self) -> u64 {
        self.shared.turnover()
    }

    /// What it did so far, for all datasets.
    pub fn statistics(&self) -> Statistics {
        let ranking = self.ranking.lock();
        let (closed, datasets) = (self.shared.counters.totals(), ranking.len());
        let totals = ranking.values().fold(closed, |totals, partition| totals.with(&partition.counters.totals()));
        drop(ranking);
        let ((bytes, peak_bytes), limit) = (self.shared.budget.taken(), self.limits().quiescent);
        Statistics { datasets, bytes, peak_bytes, limit, ..totals.statistics() }
    }

    /// Counts anew from now on, for the file and for each dataset.
    pub fn reset_statistics(&self) {
        for partition in self.ranking.lock().values() {
            partition.reset_counters();
        }
        self.shared.counters.take();
        self.shared.budget.reset_peak();
    }
}
