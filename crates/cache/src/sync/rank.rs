//! The order in which locks are taken.

use std::cell::Cell;
#[cfg(all(debug_assertions, not(feature = "shuttle")))]
use std::cell::RefCell;

use hyperslab_space::Coords;

/// Which lock: a thread that has one takes only later ones. All of them are held for a few steps of a program, but the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// The queue of a partition: which requests are inside.
    RangeLock,
    /// Which partitions there are.
    Ranking,
    /// The value of a chunk. Readers may have several, which they lock by rising partition and coordinate.
    Value,
    /// Which chunks a partition has.
    Slots,
    /// Where a chunk is in its life.
    Phase,
    /// Which chunks are not in the file.
    Dirty,
    /// What left lately, for a cache that finds its own size.
    Size,
    /// The account of the cache.
    Budget,
}

const ALL: [Rank; 8] =
    [Rank::RangeLock, Rank::Ranking, Rank::Value, Rank::Slots, Rank::Phase, Rank::Dirty, Rank::Size, Rank::Budget];

/// How many locks of each rank a thread has.
type Counts = Cell<[u8; ALL.len()]>;

#[cfg(not(feature = "shuttle"))]
thread_local! {
    static HELD: Counts = const { Cell::new([0; ALL.len()]) };
}
#[cfg(feature = "shuttle")]
shuttle::thread_local! {
    static HELD: Counts = Cell::new([0; ALL.len()]);
}

/// The value that a thread locked last: its cache, its partition there, and its place.
#[cfg(all(debug_assertions, not(feature = "shuttle")))]
type Last = (usize, u64, Coords);

#[cfg(all(debug_assertions, not(feature = "shuttle")))]
thread_local! {
    static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

/// Fails in debug builds if the thread has values of a cache, and the last one is not before this one, by partition and coordinate: two threads that read several
/// values in different orders can wait for each other, each behind a writer that waits.
pub(crate) fn assert_values_rise(_cache: usize, _shelf: u64, _place: &Coords) {
    #[cfg(all(debug_assertions, not(feature = "shuttle")))]
    {
        let now = (_cache, _shelf, _place.clone());
        let last = LAST.try_with(|last| last.replace(Some(now.clone()))).ok().flatten();
        let before = last.filter(|last| last.0 == now.0 && held_now().any(|rank| rank == Rank::Value));
        debug_assert!(before.is_none_or(|before| before < now), "the value at {_place:?} is locked after a later one");
    }
}

/// That a thread has a lock; nothing but in debug builds.
#[derive(Debug)]
pub(super) struct Held(#[cfg(debug_assertions)] Rank);

impl Held {
    /// For a lock that only one has. No other of its rank may be held.
    pub(super) fn alone(rank: Rank) -> Held {
        Held::new(rank, |held| held < rank)
    }

    /// For a lock that several may have; a thread may have several of them.
    pub(super) fn shared(rank: Rank) -> Held {
        Held::new(rank, |held| held <= rank)
    }

    #[cfg(debug_assertions)]
    fn new(rank: Rank, may: impl Fn(Rank) -> bool) -> Held {
        if let Some(held) = held_now().filter(|held| !may(*held)).max() {
            debug_assert!(false, "{rank:?} is locked after {held:?}");
        }
        change(rank, |count| count.saturating_add(1));
        Held(rank)
    }

    #[cfg(not(debug_assertions))]
    fn new(_: Rank, _: impl Fn(Rank) -> bool) -> Held {
        Held()
    }
}

#[cfg(debug_assertions)]
impl Drop for Held {
    fn drop(&mut self) {
        change(self.0, |count| count.saturating_sub(1));
    }
}

/// Fails in debug builds if the thread has a lock of the cache other than those of values. To be asked before what takes long, and before other locks: of
/// the file, of a dataset.
///
/// ```
/// hyperslab_cache::assert_no_locks_held("before a chunk is read");
/// ```
pub fn assert_no_locks_held(what: &str) {
    if cfg!(debug_assertions) {
        let held = held_now().find(|rank| *rank != Rank::Value);
        debug_assert!(held.is_none(), "{what}: {held:?} is locked");
    }
}

fn held_now() -> impl Iterator<Item = Rank> {
    // A thread that ends has none.
    let counts = HELD.try_with(Cell::get).unwrap_or_default();
    ALL.into_iter().zip(counts).filter(|(_, count)| *count > 0).map(|(rank, _)| rank)
}

#[cfg(debug_assertions)]
fn change(rank: Rank, change: impl Fn(u8) -> u8) {
    let changed = |held: &Counts| {
        let mut counts = held.get();
        counts.get_mut(rank as usize).into_iter().for_each(|count| *count = change(*count));
        held.set(counts);
    };
    let _ = HELD.try_with(changed);
}

#[cfg(all(test, debug_assertions, not(feature = "shuttle")))]
mod tests {
    use super::{super::*, *};

    #[test]
    fn locks_are_taken_in_their_order() {
        let (phase, budget) = (Mutex::new(Rank::Phase, 0), Mutex::new(Rank::Budget, 0));
        let (value, other) = (RwLock::new(Rank::Value, 0), RwLock::new(Rank::Value, 0));
        let (_first, _second) = (value.read(), other.read());
        assert_no_locks_held("values may be");
        let phase = phase.lock();
        drop(budget.lock());
        drop(phase);
        assert_no_locks_held("the others are not any more");
    }

    #[test]
    #[should_panic(expected = "Phase is locked after Budget")]
    fn the_other_way_round_is_found_out() {
        let (phase, budget) = (Mutex::new(Rank::Phase, 0), Mutex::new(Rank::Budget, 0));
        let _budget = budget.lock();
        drop(phase.lock());
    }

    #[test]
    #[should_panic(expected = "Value is locked after Value")]
    fn a_writer_has_no_other_value() {
        let (value, other) = (RwLock::new(Rank::Value, 0), RwLock::new(Rank::Value, 0));
        let _value = value.read();
        drop(other.write());
    }

    #[test]
    #[should_panic(expected = "is locked after a later one")]
    fn several_values_are_locked_by_rising_place() {
        let value = RwLock::new(Rank::Value, 0);
        let rises = |partition, coord: u64| assert_values_rise(1, partition, &[coord].as_slice().into());
        rises(2, 7);
        let first = value.read();
        assert_values_rise(2, 0, &[0u64].as_slice().into());
        rises(2, 7);
        rises(2, 8);
        rises(3, 0);
        drop(first);
        rises(1, 0);
        let _again = value.read();
        rises(0, 9);
    }

    #[test]
    #[should_panic(expected = "before a read: Some(Slots) is locked")]
    fn what_takes_long_finds_no_lock() {
        let slots = Mutex::new(Rank::Slots, 0);
        let _slots = slots.lock();
        assert_no_locks_held("before a read");
    }
}
