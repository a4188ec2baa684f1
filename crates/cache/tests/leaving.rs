//! Chunks that were to leave, and stay.

use hyperslab_cache::{Cache, Config, Demand, Eviction, Lookup, Partition, Policy};
use hyperslab_space::Coords;

use crate::common::{BYTES, Hundred, at};

/// A full cache: the first chunks are dirty, the last ones are in the file.
fn full(policy: Policy) -> (Cache<Hundred>, Partition<Hundred>) {
    let cache = Cache::<Hundred>::new(Config::default().bytes(4 * BYTES).policy(policy));
    let partition = cache.open(().into(), None, None);
    for coord in 0..4 {
        let _reservation = cache.reserve(Demand { chunks: BYTES, aside: 0 });
        let Lookup::Miss(ticket) = partition.find(&at(coord)) else { panic!("nothing is there") };
        let Eviction::Granted(mut grant) = cache.make_room(&partition, BYTES) else { panic!("there is room") };
        ticket.fill(Hundred, &mut grant, coord < 2).unwrap();
    }
    (cache, partition)
}

#[test]
fn work_in_the_background_that_finds_no_room_leaves_the_order_as_it_is() {
    for policy in [Policy::Lru, Policy::Lfu, Policy::S3Fifo] {
        let (cache, partition) = full(policy);
        assert!(cache.try_room(&partition, 2 * BYTES).is_none());
        let Eviction::Dirty(taken) = cache.make_room(&partition, 2 * BYTES) else {
            panic!("{policy:?}: younger chunks left")
        };
        let coords: Vec<Coords> = taken.iter().filter_map(|taken| taken.coord().cloned()).collect();
        assert_eq!(coords, [at(0), at(1)], "{policy:?}");
    }
}

#[test]
fn chunks_that_leave_together_are_written_first_and_those_in_use_stay() {
    let (cache, partition) = full(Policy::Lru);
    let held = partition.peek(&at(0)).unwrap();
    let taken = partition.take_whole();
    let coords: Vec<Coords> = taken.iter().filter_map(|taken| taken.coord().cloned()).collect();
    assert_eq!(coords, [at(1)]);
    taken.into_iter().for_each(|taken| taken.written());
    assert_eq!(partition.has(&[at(0), at(1), at(2), at(3)]), [true, false, true, true]);
    held.mark_used_in_part();
    drop(held);
    assert!(partition.take_whole().is_empty(), "what is used in part stays");
    assert_eq!(cache.statistics().bytes, 3 * BYTES);
}
