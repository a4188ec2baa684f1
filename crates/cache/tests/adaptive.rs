//! Caches that find their own size.

use hyperslab_cache::{Cache, Config, Demand, Eviction, Footprint, Lookup, Partition, Statistics};
use hyperslab_space::Coords;
use proptest::prelude::*;

const BYTES: usize = 1000;
const SMALLEST: usize = 20 * BYTES;
const LARGEST: usize = 200 * BYTES;

struct Thousand;

impl Footprint for Thousand {
    type Source = ();
    type Encoded = ();

    fn footprint(&self) -> usize {
        BYTES
    }

    fn encoded_footprint(_: &()) -> usize {
        0
    }
}

fn new() -> (Cache<Thousand>, Partition<Thousand>) {
    let cache = Cache::new(Config::default().bytes(SMALLEST).adaptive(SMALLEST, LARGEST).reserve(0));
    let partition = cache.open(().into(), None, None);
    (cache, partition)
}

/// Uses a chunk, as a request does.
fn read(cache: &Cache<Thousand>, partition: &Partition<Thousand>, coord: u64) {
    let coord = Coords::from_slice(&[coord]);
    cache.touch(partition);
    if partition.hits(std::slice::from_ref(&coord)).is_some() {
        return;
    }
    let _reservation = cache.reserve(Demand { chunks: BYTES, aside: BYTES });
    let Lookup::Miss(ticket) = partition.find(&coord) else { panic!("no other thread loads it") };
    let Eviction::Granted(mut grant) = cache.make_room(partition, BYTES) else { panic!("nothing is dirty") };
    ticket.fill(Thousand, &mut grant, false).unwrap();
}

/// Goes through chunks again and again; what was done in the last rounds.
fn go_through(
    cache: &Cache<Thousand>,
    partition: &Partition<Thousand>,
    chunks: u64,
    lookups: u64,
) -> (f64, Statistics) {
    (0..lookups).for_each(|nth| read(cache, partition, nth % chunks));
    let before = cache.statistics();
    (0..4 * chunks).for_each(|nth| read(cache, partition, nth % chunks));
    let after = cache.statistics();
    ((after.hits - before.hits) as f64 / (4 * chunks) as f64, after)
}

#[test]
fn it_grows_until_what_is_used_fits_and_shrinks_when_less_is() {
    let (cache, partition) = new();
    assert_eq!(cache.limits().quiescent, SMALLEST);
    let (rate, large) = go_through(&cache, &partition, 150, 20_000);
    assert!(rate > 0.99, "{rate}, {large:?}");
    assert!((150 * BYTES..=LARGEST).contains(&large.limit), "{large:?}");
    assert_eq!(cache.limits().active, 2 * large.limit);
    // What is not used any more leaves, though nothing else comes.
    let (rate, small) = go_through(&cache, &partition, 10, 100_000);
    assert!(rate > 0.99, "{rate}, {small:?}");
    assert!(small.limit < 30 * BYTES && small.bytes <= small.limit, "{small:?}");
    assert_eq!(small.peak_bytes.max(2 * LARGEST), 2 * LARGEST);
}

#[test]
fn what_is_read_once_is_no_reason_to_grow() {
    let (cache, partition) = new();
    (0..20_000).for_each(|coord| read(&cache, &partition, coord));
    assert_eq!(cache.statistics().limit, SMALLEST);
    // Nor is what the largest could not keep.
    let (_, statistics) = go_through(&cache, &partition, 1_000, 20_000);
    assert_eq!(statistics.limit, SMALLEST);
}

#[test]
fn chunks_that_must_be_written_leave_when_room_is_made() {
    let (cache, partition) = new();
    go_through(&cache, &partition, 150, 20_000);
    for coord in partition.coords() {
        drop(partition.peek(&coord).unwrap().write());
    }
    let (_, statistics) = go_through(&cache, &partition, 10, 100_000);
    assert!(statistics.bytes >= 150 * BYTES && statistics.limit < 30 * BYTES, "{statistics:?}");
    let taken = loop {
        match cache.make_room(&partition, BYTES) {
            Eviction::Granted(_) => break cache.statistics(),
            Eviction::Dirty(taken) => taken.into_iter().for_each(|taken| taken.written()),
            Eviction::Full => panic!("all can be written"),
        }
    };
    assert!(taken.bytes < taken.limit, "{taken:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn sizes_stay_within_their_bounds(phases in prop::collection::vec((1..400u64, 1..8_000u64), 1..8), set in 0..400usize) {
        let (cache, partition) = new();
        for (chunks, lookups) in phases {
            (0..lookups).for_each(|nth| read(&cache, &partition, nth * nth % chunks));
            let statistics = cache.statistics();
            prop_assert!((SMALLEST..=LARGEST).contains(&statistics.limit));
            prop_assert!(statistics.bytes <= LARGEST && statistics.peak_bytes <= 2 * LARGEST);
            cache.set_bytes(set * BYTES);
            prop_assert!((SMALLEST..=LARGEST).contains(&cache.limits().quiescent));
        }
        prop_assert_eq!(cache.largest(), LARGEST);
    }
}
