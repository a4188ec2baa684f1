//! Chunks that were to leave, and stay.

use hyperslab_cache::{Cache, Config, Found, Need, Policy, Room, Shelf};
use hyperslab_space::Coords;

use crate::common::{BYTES, Hundred, at};

/// A full cache: the first chunks are dirty, the last ones are in the file.
fn full(policy: Policy) -> (Cache<Hundred>, Shelf<Hundred>) {
    let cache = Cache::<Hundred>::new(Config::default().bytes(4 * BYTES).policy(policy));
    let shelf = cache.open(().into(), None, None);
    for place in 0..4 {
        let _promise = cache.promise(Need { chunks: BYTES, aside: 0 });
        let Found::Vacant(vacancy) = shelf.find(&at(place)) else { panic!("nothing is there") };
        let Room::Claimed(mut claim) = cache.make_room(BYTES) else { panic!("there is room") };
        vacancy.fill(Hundred, &mut claim, place < 2).unwrap();
    }
    (cache, shelf)
}

#[test]
fn work_in_the_background_that_finds_no_room_leaves_the_order_as_it_is() {
    for policy in [Policy::Lru, Policy::Lfu, Policy::S3Fifo] {
        let (cache, _shelf) = full(policy);
        assert!(cache.try_room(2 * BYTES).is_none());
        let Room::Dirty(taken) = cache.make_room(2 * BYTES) else { panic!("{policy:?}: younger chunks left") };
        let places: Vec<Coords> = taken.iter().filter_map(|taken| taken.place().cloned()).collect();
        assert_eq!(places, [at(0), at(1)], "{policy:?}");
    }
}

#[test]
fn chunks_that_leave_together_are_written_first_and_those_in_use_stay() {
    let (cache, shelf) = full(Policy::Lru);
    let held = shelf.peek(&at(0)).unwrap();
    let taken = shelf.take_whole();
    let places: Vec<Coords> = taken.iter().filter_map(|taken| taken.place().cloned()).collect();
    assert_eq!(places, [at(1)]);
    taken.into_iter().for_each(|taken| taken.written());
    assert_eq!(shelf.has(&[at(0), at(1), at(2), at(3)]), [true, false, true, true]);
    held.is_used_partly();
    drop(held);
    assert!(shelf.take_whole().is_empty(), "what is used in part stays");
    assert_eq!(cache.statistics().bytes, 3 * BYTES);
}
