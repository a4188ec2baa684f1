//! A flush looks at chunks that are not in the file, not at all that are in memory.

use hyperslab_cache::{Cache, Config, Demand, Eviction, Lookup, Partition, Unwritten};

use crate::common::{BYTES, Hundred, at};

fn change(cache: &Cache<Hundred>, partition: &Partition<Hundred>, coord: u64) {
    let _reservation = cache.reserve(Demand { chunks: BYTES, aside: 0 });
    match partition.find(&at(coord)) {
        Lookup::Hit(pinned) => drop(pinned.write()),
        Lookup::Miss(ticket) => {
            let Eviction::Granted(mut grant) = cache.make_room(partition, BYTES) else {
                panic!("there is room for all")
            };
            ticket.fill(Hundred, &mut grant, true).unwrap();
        }
        Lookup::Loading(_) => panic!("no other thread loads"),
    }
}

fn flush(cache: &Cache<Hundred>) -> usize {
    let taken = Unwritten::of_cache(cache).take();
    let count = taken.len();
    taken.into_iter().for_each(|taken| taken.written());
    count
}

#[test]
fn a_flush_visits_what_is_dirty() {
    let cache: Cache<Hundred> = Cache::new(Config::default().bytes(2_000 * BYTES).reserve(0));
    let partitions: Vec<_> = (0..10).map(|_| cache.open(().into(), None, None)).collect();
    for partition in &partitions {
        (0..100).for_each(|coord| change(&cache, partition, coord));
    }
    assert_eq!((flush(&cache), cache.statistics().dirty_visits), (1_000, 1_000));
    for round in 0..50 {
        change(&cache, &partitions[3], round);
        change(&cache, &partitions[7], 99 - round);
        assert_eq!(flush(&cache), 2);
    }
    assert_eq!(cache.statistics().dirty_visits, 1_100, "two at each flush");
    change(&cache, &partitions[5], 0);
    let mut of_another = Unwritten::of(&partitions[6..7], |_| true);
    assert!(of_another.take().is_empty() && of_another.is_empty());
    assert_eq!((flush(&cache), flush(&cache)), (1, 0));
    assert_eq!(cache.statistics().dirty_visits, 1_101);
}

#[test]
fn chunks_that_leave_unwritten_are_not_visited_any_more() {
    let cache: Cache<Hundred> = Cache::new(Config::default().bytes(2_000 * BYTES).reserve(0));
    let (deleted, other) = (cache.open(().into(), None, None), cache.open(().into(), None, None));
    (0..100).for_each(|coord| change(&cache, &deleted, coord));
    (0..100).for_each(|coord| change(&cache, &other, coord));
    deleted.abandon_where(&|coord| coord[0] >= 10);
    assert_eq!(flush(&cache), 110);
    (0..10).for_each(|coord| change(&cache, &deleted, coord));
    // One that a thread has in hand stays until the partition is gone.
    let held = deleted.peek(&at(4)).unwrap();
    cache.close(&deleted);
    drop(deleted);
    drop(held);
    assert_eq!((flush(&cache), cache.statistics().dirty_visits), (0, 110));
}
