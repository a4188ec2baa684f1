//! Who waits for whom.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use hyperslab_cache::{Cache, Config, Demand, Footprint, LockRange, Lookup};

struct Nothing;

impl Footprint for Nothing {
    type Source = ();
    type Encoded = ();

    fn footprint(&self) -> usize {
        0
    }

    fn encoded_footprint(_: &()) -> usize {
        0
    }
}

fn area(from: u64, to: u64) -> LockRange {
    LockRange::Box([from].as_slice().into(), [to].as_slice().into())
}

/// Whether a second request waits for the first.
fn waits(first: (LockRange, bool), second: (LockRange, bool)) -> bool {
    let partition = Cache::<Nothing>::new(Config::default()).open(().into(), None, None);
    let entered = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let turn = partition.enter(first.0, first.1);
        scope.spawn(|| {
            let _turn = partition.enter(second.0, second.1);
            entered.fetch_add(1, Ordering::SeqCst);
        });
        // A thread that need not wait has a second for its way.
        let soon = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(if entered.load(Ordering::SeqCst) == 0 { 10 } else { 0 }));
            entered.load(Ordering::SeqCst) > 0
        });
        drop(turn);
        !soon
    })
}

#[test]
fn readers_share_and_writers_are_alone_where_they_overlap() {
    assert!(!waits((area(0, 9), false), (area(5, 6), false)), "readers");
    assert!(waits((area(0, 9), true), (area(5, 6), false)), "a reader behind a writer");
    assert!(waits((area(0, 9), false), (area(9, 9), true)), "a writer behind a reader");
    assert!(waits((area(3, 4), true), (area(4, 5), true)), "two writers");
    assert!(!waits((area(0, 3), true), (area(4, 5), true)), "writers apart");
    assert!(waits((area(0, 3), false), (LockRange::Whole, true)), "a resize waits for all");
    assert!(waits((LockRange::Whole, true), (area(7, 8), false)), "all wait for a resize");
}

#[test]
fn later_readers_do_not_overtake_a_writer() {
    let partition = Cache::<Nothing>::new(Config::default()).open(().into(), None, None);
    let order = parking_lot::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let first = partition.enter(area(0, 9), false);
        for (name, writes) in [("writer", true), ("reader", false)] {
            let (partition, order) = (&partition, &order);
            scope.spawn(move || {
                let _turn = partition.enter(area(0, 9), writes);
                order.lock().push(name);
            });
            std::thread::sleep(Duration::from_millis(100));
        }
        assert!(order.lock().is_empty());
        drop(first);
    });
    assert_eq!(*order.lock(), ["writer", "reader"]);
}

#[test]
fn reservations_stay_within_the_limits() {
    let cache = Cache::<Nothing>::new(Config::default().bytes(100));
    let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (cache, inside, most) = (&cache, &inside, &most);
            scope.spawn(move || {
                for round in 0..200 {
                    let chunks = 10 + (thread * 37 + round * 13) % 60;
                    let reservation = cache.reserve(Demand { chunks, aside: chunks / 2 });
                    most.fetch_max(inside.fetch_add(chunks, Ordering::SeqCst) + chunks, Ordering::SeqCst);
                    inside.fetch_sub(chunks, Ordering::SeqCst);
                    drop(reservation);
                }
            });
        }
    });
    assert!(most.load(Ordering::SeqCst) <= 100);
    // More than there is: alone.
    drop(cache.reserve(Demand { chunks: 1000, aside: 1000 }));
}

#[test]
fn work_in_the_background_never_waits() {
    let cache = Cache::<Nothing>::new(Config::default().bytes(100));
    let partition = cache.open(().into(), None, None);
    let reader = partition.enter(area(0, 4), false);
    assert!(partition.try_enter(area(0, 9), true).is_none());
    let beside = (partition.try_enter(area(4, 9), false), partition.try_enter(area(5, 9), true));
    assert!(beside.0.is_some() && beside.1.is_none(), "in the order in which they came");
    drop((reader, beside));
    let writer = partition.try_enter(area(0, 9), true);
    assert!(writer.is_some() && partition.try_enter(area(9, 9), false).is_none());

    let first = cache.try_reserve(Demand { chunks: 60, aside: 0 });
    assert!(first.is_some() && cache.try_reserve(Demand { chunks: 60, aside: 0 }).is_none());
    drop(first);
    assert!(cache.try_reserve(Demand { chunks: 101, aside: 0 }).is_none(), "not even alone");
}

#[test]
fn requests_past_the_cache_share_a_chunk_until_a_thread_waits_for_it() {
    let cache = Cache::<Nothing>::new(Config::default().bytes(100));
    let (partition, coord) = (cache.open(().into(), None, None), [7].as_slice().into());
    let ticket = partition.vacant(&coord);
    assert!(ticket.is_some() && partition.bypass(&coord).is_none(), "a thread loads it");
    drop(ticket);
    let (first, second) = (partition.bypass(&coord), partition.bypass(&coord));
    assert!(first.is_some() && second.is_some() && partition.vacant(&coord).is_none());
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| match partition.find(&coord) {
            Lookup::Loading(waiter) => matches!(waiter.wait(), Lookup::Miss(_)),
            _ => false,
        });
        while partition.bypass(&coord).is_some() {
            std::thread::yield_now();
        }
        drop(first);
        assert!(partition.bypass(&coord).is_none(), "the reader would wait for ever new writers");
        drop(second);
        assert!(reader.join().unwrap());
    });
    assert!(partition.bypass(&coord).is_some());
}
