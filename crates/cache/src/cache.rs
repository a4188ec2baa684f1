//! The cache of one file: its shelves, least recently used first.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hashlink::LinkedHashMap;

use crate::{
    Config, Footprint, Limits, Need, Policy, Promise, Shelf, Statistics,
    books::Books,
    inner::Inner,
    sync::{Mutex, Rank},
    tuning::Tuning,
};

/// The chunks of one file. Any number of threads may use it at once.
pub struct Cache<V: Footprint> {
    config: Config,
    pub(crate) books: Arc<Books>,
    /// By number, the one used last at the end.
    pub(crate) ranking: Mutex<LinkedHashMap<u64, Arc<Inner<V>>>>,
    next: AtomicU64,
}

impl<V: Footprint> Cache<V> {
    /// An empty cache.
    pub fn new(config: Config) -> Cache<V> {
        let ranking = Mutex::new(Rank::Ranking, LinkedHashMap::new());
        Cache { config, books: Arc::new(Books::new(config)), ranking, next: AtomicU64::new(0) }
    }

    /// A shelf for a dataset, with what the cache's own settings are if nothing is said.
    pub fn open(&self, home: Arc<V::Home>, reserve: Option<usize>, policy: Option<Policy>) -> Shelf<V> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (reserve, policy) = (reserve.unwrap_or(self.config.reserve), policy.unwrap_or(self.config.policy));
        let shelf = Shelf::new(home, number, reserve, policy, self.books.clone());
        self.ranking.lock().insert(number, shelf.inner.clone());
        shelf
    }

    /// A dataset is closed: its shelf is no longer known. What is on it must have been written.
    pub fn close(&self, shelf: &Shelf<V>) {
        let gone = self.ranking.lock().remove(&shelf.inner.number);
        shelf.abandon();
        drop(gone);
    }

    /// The shelves with chunks that are not in the file.
    pub(crate) fn unwritten_shelves(&self) -> Vec<Shelf<V>> {
        let numbers = self.books.unwritten.shelves();
        let ranking = self.ranking.lock();
        let inner = numbers.iter().filter_map(|number| ranking.get(number).cloned());
        inner.map(|inner| Shelf { inner }).collect()
    }

    /// A shelf is used. If the cache has become smaller, chunks that need not be written leave now; whatever must be, leaves when room is made.
    pub fn touch(&self, shelf: &Shelf<V>) {
        self.ranking.lock().to_back(&shelf.inner.number);
        if self.books.tuning.as_ref().is_some_and(Tuning::has_shrunk) {
            self.trim();
        }
    }

    /// Waits until a request may have what it needs. To be asked before chunks are pinned, never while some are.
    pub fn promise(&self, need: Need) -> Promise<'_> {
        self.books.budget.promise(need)
    }

    /// The same, if it need not wait. For work in the background.
    pub fn try_promise(&self, need: Need) -> Option<Promise<'_>> {
        self.books.budget.try_promise(need)
    }

    /// Its limits now.
    pub fn limits(&self) -> Limits {
        self.books.budget.limits()
    }

    /// What it may become: its limit, or the largest size that it may find for itself.
    pub fn largest(&self) -> usize {
        self.config.range.map_or_else(|| self.limits().quiescent, |range| range.largest)
    }

    /// What chunks may take beside those that could not be written.
    pub fn available(&self) -> usize {
        self.books.budget.available()
    }

    /// Something was written: eviction tries chunks again whose last attempt failed for a reason that may have passed.
    pub fn retry_failed(&self) {
        if self.books.budget.unwritable().transient == 0 {
            return;
        }
        for shelf in self.unwritten_shelves() {
            shelf.inner.unwritten().iter().for_each(|slot| slot.retry(&shelf.inner));
        }
    }

    /// Another limit, which holds from the next request on. A cache that finds its own size goes on from there.
    pub fn set_bytes(&self, bytes: usize) {
        self.books.budget.set_limits(self.config.bytes(bytes).limits());
    }

    /// Somebody waited so long for chunks to be decoded.
    pub fn decoded_for(&self, time: Duration) {
        self.books.counters.decoding.fetch_add(nanoseconds(time), Ordering::Relaxed);
    }

    /// Somebody waited so long for chunks to be encoded.
    pub fn encoded_for(&self, time: Duration) {
        self.books.counters.encoding.fetch_add(nanoseconds(time), Ordering::Relaxed);
    }

    /// What it did so far.
    pub fn statistics(&self) -> Statistics {
        let datasets = self.ranking.lock().len();
        Statistics { datasets, ..self.books.counters.statistics(self.books.budget.taken(), self.limits().quiescent) }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
