//! Caches that find their own size.

use hyperslab_cache::{Cache, Config, Footprint, Found, Need, Room, Shelf, Statistics};
use hyperslab_space::Coords;
use proptest::prelude::*;

const BYTES: usize = 1000;
const SMALLEST: usize = 20 * BYTES;
const LARGEST: usize = 200 * BYTES;

struct Thousand;

impl Footprint for Thousand {
    type Home = ();
    type Encoded = ();

    fn footprint(&self) -> usize {
        BYTES
    }

    fn encoded_footprint(_: &()) -> usize {
        0
    }
}

fn new() -> (Cache<Thousand>, Shelf<Thousand>) {
    let cache = Cache::new(Config::default().bytes(SMALLEST).adaptive(SMALLEST, LARGEST).reserve(0));
    let shelf = cache.open(().into(), None, None);
    (cache, shelf)
}

/// Uses a chunk, as a request does.
fn read(cache: &Cache<Thousand>, shelf: &Shelf<Thousand>, place: u64) {
    let place = Coords::from_slice(&[place]);
    cache.touch(shelf);
    if shelf.hits(std::slice::from_ref(&place)).is_some() {
        return;
    }
    let _promise = cache.promise(Need { chunks: BYTES, aside: BYTES });
    let Found::Vacant(vacancy) = shelf.find(&place) else { panic!("nobody loads it") };
    let Room::Claimed(mut claim) = cache.make_room(BYTES) else { panic!("nothing is dirty") };
    vacancy.fill(Thousand, &mut claim, false).unwrap();
}

/// Goes through chunks again and again; what was done in the last rounds.
fn go_through(cache: &Cache<Thousand>, shelf: &Shelf<Thousand>, chunks: u64, lookups: u64) -> (f64, Statistics) {
    (0..lookups).for_each(|nth| read(cache, shelf, nth % chunks));
    let before = cache.statistics();
    (0..4 * chunks).for_each(|nth| read(cache, shelf, nth % chunks));
    let after = cache.statistics();
    ((after.hits - before.hits) as f64 / (4 * chunks) as f64, after)
}

#[test]
fn it_grows_until_what_is_used_fits_and_shrinks_when_less_is() {
    let (cache, shelf) = new();
    assert_eq!(cache.limits().quiescent, SMALLEST);
    let (rate, large) = go_through(&cache, &shelf, 150, 20_000);
    assert!(rate > 0.99, "{rate}, {large:?}");
    assert!((150 * BYTES..=LARGEST).contains(&large.limit), "{large:?}");
    assert_eq!(cache.limits().active, 2 * large.limit);
    // What is not used any more leaves, though nothing else comes.
    let (rate, small) = go_through(&cache, &shelf, 10, 100_000);
    assert!(rate > 0.99, "{rate}, {small:?}");
    assert!(small.limit < 30 * BYTES && small.bytes <= small.limit, "{small:?}");
    assert_eq!(small.peak_bytes.max(2 * LARGEST), 2 * LARGEST);
}

#[test]
fn what_is_read_once_is_no_reason_to_grow() {
    let (cache, shelf) = new();
    (0..20_000).for_each(|place| read(&cache, &shelf, place));
    assert_eq!(cache.statistics().limit, SMALLEST);
    // Nor is what the largest could not keep.
    let (_, statistics) = go_through(&cache, &shelf, 1_000, 20_000);
    assert_eq!(statistics.limit, SMALLEST);
}

#[test]
fn chunks_that_must_be_written_leave_when_room_is_made() {
    let (cache, shelf) = new();
    go_through(&cache, &shelf, 150, 20_000);
    for place in shelf.places() {
        drop(shelf.peek(&place).unwrap().write());
    }
    let (_, statistics) = go_through(&cache, &shelf, 10, 100_000);
    assert!(statistics.bytes >= 150 * BYTES && statistics.limit < 30 * BYTES, "{statistics:?}");
    let taken = loop {
        match cache.make_room(BYTES) {
            Room::Claimed(_) => break cache.statistics(),
            Room::Dirty(taken) => taken.into_iter().for_each(|taken| taken.written()),
            Room::Full => panic!("all can be written"),
        }
    };
    assert!(taken.bytes < taken.limit, "{taken:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn sizes_stay_within_their_bounds(phases in prop::collection::vec((1..400u64, 1..8_000u64), 1..8), set in 0..400usize) {
        let (cache, shelf) = new();
        for (chunks, lookups) in phases {
            (0..lookups).for_each(|nth| read(&cache, &shelf, nth * nth % chunks));
            let statistics = cache.statistics();
            prop_assert!((SMALLEST..=LARGEST).contains(&statistics.limit));
            prop_assert!(statistics.bytes <= LARGEST && statistics.peak_bytes <= 2 * LARGEST);
            cache.set_bytes(set * BYTES);
            prop_assert!((SMALLEST..=LARGEST).contains(&cache.limits().quiescent));
        }
        prop_assert_eq!(cache.largest(), LARGEST);
    }
}
