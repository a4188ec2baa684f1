//! The cache of one file: its shelves, least recently used first, and the room that it has.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use hashlink::LinkedHashMap;

use crate::{
    Claim, Config, Footprint, Limits, Need, Pinned, Policy, Promise, Shelf, Statistics, Taken,
    budget::Budget,
    life::Phase,
    shelf::{Inner, Victim},
    statistics::{Counters, count},
    sync::{Mutex, Rank},
    tuning::Tuning,
};

/// The chunks of one file. Any number of threads may use it at once.
pub struct Cache<V: Footprint> {
    config: Config,
    books: Arc<Books>,
    /// By number, the one used last at the end.
    ranking: Mutex<LinkedHashMap<u64, Arc<Inner<V>>>>,
    next: AtomicU64,
}

/// What became of a wish for room.
pub enum Room<'a, V: Footprint> {
    /// There is room.
    Claimed(Claim<'a>),
    /// There is when these are written.
    Dirty(Vec<Taken<V>>),
}

/// When chunks must be written to make room, so large a part of the cache is made free as well: fewer and larger requests, and room for what is encoded
/// ahead of time.
const SPARE: usize = 16;

/// A round through the shelves, least recently used first.
struct Round {
    spare_reserve: bool,
    /// Those that were asked, and have no more to give.
    passed: HashSet<u64>,
}

impl Round {
    fn new(spare_reserve: bool) -> Round {
        Round { spare_reserve, passed: HashSet::new() }
    }
}

/// What all shelves share.
#[derive(Debug)]
pub(crate) struct Books {
    pub(crate) budget: Budget,
    pub(crate) counters: Counters,
    /// If it is to find its own size.
    pub(crate) tuning: Option<Tuning>,
    /// How many chunks are dirty, and not encoded yet.
    dirty: AtomicUsize,
}

impl Books {
    /// Chunks were looked for, which a number counts.
    pub(crate) fn looked(&self, counter: &AtomicU64, chunks: usize) {
        count(counter, chunks);
        if let Some(tuning) = &self.tuning {
            tuning.looked(chunks, &self.budget);
        }
    }

    /// A chunk went on in its life.
    pub(crate) fn moved(&self, from: Phase, to: Phase) {
        match (from == Phase::Dirty, to == Phase::Dirty) {
            (false, true) => self.dirty.fetch_add(1, Ordering::Relaxed),
            (true, false) => self.dirty.fetch_sub(1, Ordering::Relaxed),
            _ => 0,
        };
    }
}

impl<V: Footprint> Cache<V> {
    /// An empty cache.
    pub fn new(config: Config) -> Cache<V> {
        let books = Books {
            budget: Budget::new(config.limits()),
            counters: Counters::default(),
            dirty: AtomicUsize::new(0),
            tuning: Tuning::new(config),
        };
        let ranking = Mutex::new(Rank::Ranking, LinkedHashMap::new());
        Cache { config, books: Arc::new(books), ranking, next: AtomicU64::new(0) }
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

    /// All shelves.
    pub fn shelves(&self) -> Vec<Shelf<V>> {
        self.ranking.lock().values().map(|inner| Shelf { inner: inner.clone() }).collect()
    }

    /// A shelf is used. If the cache has become smaller, chunks that need not be written leave now; whatever must be, leaves when room is made.
    pub fn touch(&self, shelf: &Shelf<V>) {
        self.ranking.lock().to_back(&shelf.inner.number);
        if self.books.tuning.as_ref().is_some_and(Tuning::has_shrunk) {
            self.trim();
        }
    }

    /// Lets chunks leave that need not be written, as long as more are here than may be.
    fn trim(&self) {
        for spare_reserve in [true, false] {
            let mut round = Round::new(spare_reserve);
            while let Some(shelves) = self.next_in(&mut round, self.books.budget.excess(0)) {
                for shelf in shelves {
                    let wanted = || self.books.budget.excess(0) > 0 && shelf.surplus(spare_reserve) > 0;
                    shelf.in_order().iter().take_while(|_| wanted()).for_each(|place| shelf.leave(place));
                }
            }
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

    /// Lets chunks leave until there is room for so many bytes more, which then are claimed. If some must be written first, they are handed back:
    /// whoever has written them asks again. Shelves keep their reserve, as long as that suffices.
    pub fn make_room(&self, bytes: usize) -> Room<'_, V> {
        loop {
            let seen = match self.books.budget.try_claim(bytes) {
                Ok(claim) => return Room::Claimed(claim),
                Err(seen) => seen,
            };
            let (dirty, any) = self.evict(bytes);
            if !dirty.is_empty() {
                return Room::Dirty(dirty);
            }
            // If all that is here is in somebody's hands, others must let go first.
            if !any && let Some(claim) = self.books.budget.claim_or_wait(bytes, seen) {
                return Room::Claimed(claim);
            }
        }
    }

    /// Evicts; what must be written first, and whether anything has left.
    fn evict(&self, bytes: usize) -> (Vec<Taken<V>>, bool) {
        let (mut dirty, mut any) = (Vec::new(), false);
        let mut coming = 0; // what those that must be written give back
        let spare = self.limits().quiescent / SPARE;
        for spare_reserve in [true, false] {
            let mut round = Round::new(spare_reserve);
            let wanted = |coming| {
                let spare = if coming > 0 && spare_reserve { spare } else { 0 };
                self.books.budget.excess(bytes.saturating_add(spare)).saturating_sub(coming)
            };
            while let Some(shelves) = self.next_in(&mut round, wanted(coming)) {
                for shelf in shelves {
                    let mut on_the_way = 0;
                    while wanted(coming) > 0 && shelf.surplus(spare_reserve) > on_the_way {
                        match shelf.victim() {
                            Some(Victim::Gone(gone)) => {
                                any = true;
                                drop(gone);
                            }
                            Some(Victim::Dirty(taken)) => {
                                let size = taken.footprint();
                                (coming, on_the_way) = (coming + size, on_the_way + size);
                                dirty.push(taken);
                            }
                            None => break,
                        }
                    }
                }
            }
        }
        if !any && dirty.is_empty() {
            // Chunks that stay take no more than was promised for them.
            any = self.shelves().iter().filter(|shelf| shelf.inner.drop_encoded()).count() > 0;
        }
        (dirty, any)
    }

    /// The next shelves of a round, as many as can give so much together; those after them are not even looked at.
    fn next_in(&self, round: &mut Round, wanted: usize) -> Option<Vec<Arc<Inner<V>>>> {
        let (mut found, mut surplus) = (Vec::new(), 0);
        for shelf in self.ranking.lock().values() {
            if surplus >= wanted {
                break;
            }
            let has = shelf.surplus(round.spare_reserve);
            if has > 0 && round.passed.insert(shelf.number) {
                surplus += has;
                found.push(shelf.clone());
            }
        }
        Some(found).filter(|found| !found.is_empty())
    }

    /// Whether some chunks that are dirty and not encoded will have to leave soon: three quarters of the room are taken. Cheap to ask.
    pub fn is_crowded(&self) -> bool {
        let is_full = |(taken, _): (usize, usize)| taken / 3 > self.limits().quiescent / 4;
        self.books.dirty.load(Ordering::Relaxed) > 0 && is_full(self.books.budget.taken())
    }

    /// Dirty chunks that nobody has and that are not encoded yet, of about so many bytes, in the order in which they would leave: to be
    /// [encoded ahead of time](Pinned::encode_ahead). Whoever has them must not wait for anything: others wait for them.
    pub fn near_exit(&self, bytes: usize) -> Vec<Pinned<V>> {
        let (mut found, mut left) = (Vec::new(), bytes);
        // As they are evicted: first what is beyond the reserves.
        for spare_reserve in [true, false] {
            let mut round = Round::new(spare_reserve);
            while let Some(shelves) = self.next_in(&mut round, left) {
                for shelf in shelves {
                    found.extend(shelf.near_exit(shelf.surplus(spare_reserve), &mut left));
                }
            }
        }
        found
    }

    /// Its limits now.
    pub fn limits(&self) -> Limits {
        self.books.budget.limits()
    }

    /// What it may become: its limit, or the largest size that it may find for itself.
    pub fn largest(&self) -> usize {
        self.config.range.map_or_else(|| self.limits().quiescent, |range| range.largest)
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
        self.books.counters.statistics(self.books.budget.taken(), self.limits().quiescent)
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
