//! Limits of single datasets, beside that of the cache.

use std::thread;

use hyperslab_cache::{Cache, Config, Demand, Eviction, Lookup, Partition, Policy, WriteFailure};
use hyperslab_space::Coords;
use proptest::prelude::*;

use crate::common::{BYTES, Hundred, at};

/// Brings chunks into memory; those for which there is no room go past the cache. How many did.
fn request(cache: &Cache<Hundred>, partition: &Partition<Hundred>, coords: &[Coords], dirty: bool) -> usize {
    let chunks = coords.len() * BYTES;
    let _reservation = partition.reserve(Demand { chunks, aside: chunks });
    let (mut pinned, mut past) = (Vec::new(), 0);
    let mut open: Vec<_> = coords.iter().map(|coord| partition.find(coord)).collect();
    while !open.is_empty() {
        let (mut vacant, mut awaited) = (Vec::new(), Vec::new());
        for found in open.drain(..) {
            match found {
                Lookup::Hit(here) => pinned.push(here),
                Lookup::Miss(ticket) => vacant.push(ticket),
                Lookup::Loading(waiter) => awaited.push(waiter),
            }
        }
        let grant = loop {
            match cache.make_room(partition, vacant.len() * BYTES) {
                Eviction::Granted(grant) => break Some(grant),
                Eviction::Dirty(taken) => taken.into_iter().for_each(|taken| taken.written()),
                Eviction::Full => break None,
            }
        };
        match grant {
            Some(mut grant) => {
                pinned.extend(vacant.into_iter().map(|ticket| ticket.fill(Hundred, &mut grant, dirty).unwrap()));
            }
            None => past += vacant.len(),
        }
        open = awaited.into_iter().map(|waiter| waiter.wait()).collect();
    }
    past
}

/// A dataset as a cache of its own: what was used longest ago leaves first.
#[derive(Default)]
struct Twin {
    limit: usize,
    chunks: Vec<u64>,
}

impl Twin {
    fn touch(&mut self, coord: u64) {
        if let Some(place) = self.chunks.iter().position(|chunk| *chunk == coord) {
            self.chunks.remove(place);
        } else if self.limit > 0 {
            self.trim(self.limit - 1);
        } else {
            return;
        }
        self.chunks.push(coord);
    }

    fn trim(&mut self, most: usize) {
        self.chunks.drain(..self.chunks.len().saturating_sub(most));
    }
}

#[derive(Clone, Debug)]
enum Step {
    Touch(usize, u64, bool),
    Limit(usize, usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        9 => (0..3usize, 0..8u64, any::<bool>()).prop_map(|(dataset, coord, dirty)| Step::Touch(dataset, coord, dirty)),
        1 => (0..3usize, 0..5usize).prop_map(|(dataset, chunks)| Step::Limit(dataset, chunks)),
    ]
}

proptest! {
    #[test]
    fn a_dataset_with_a_limit_is_a_cache_of_its_own(steps in prop::collection::vec(step(), 1..200)) {
        // All limits together fit, so no dataset ever makes room for another one.
        let cache = Cache::new(Config::default().bytes(12 * BYTES).dataset_limit(2 * BYTES));
        let datasets = [(); 3].map(|()| cache.open(().into(), None, None));
        let mut twins = [(); 3].map(|()| Twin { limit: 2, ..Twin::default() });
        for step in steps {
            match step {
                Step::Touch(dataset, coord, dirty) => {
                    let is_here = twins[dataset].chunks.contains(&coord);
                    let past = request(&cache, &datasets[dataset], &[at(coord)], dirty);
                    prop_assert_eq!(past, usize::from(twins[dataset].limit == 0 && !is_here));
                    twins[dataset].touch(coord);
                }
                Step::Limit(dataset, chunks) => {
                    datasets[dataset].set_limit(chunks * BYTES);
                    loop {
                        let taken = datasets[dataset].trim();
                        if taken.is_empty() {
                            break;
                        }
                        taken.into_iter().for_each(|taken| taken.written());
                    }
                    twins[dataset].limit = chunks;
                    twins[dataset].trim(chunks);
                }
            }
            for (dataset, twin) in datasets.iter().zip(&twins) {
                let (mut here, mut expected) = (dataset.coords(), twin.chunks.clone());
                here.sort_unstable();
                expected.sort_unstable();
                prop_assert_eq!(here, expected.into_iter().map(at).collect::<Vec<_>>());
                prop_assert_eq!(dataset.bytes(), twin.chunks.len() * BYTES);
                prop_assert_eq!(dataset.statistics().limit, twin.limit * BYTES);
            }
        }
    }
}

#[test]
fn limits_hold_whatever_threads_do() {
    for policy in [Policy::Lru, Policy::Mru, Policy::Lfu, Policy::S3Fifo] {
        let cache = Cache::new(Config::default().bytes(10 * BYTES).policy(policy).reserve(BYTES));
        let limits = [2, 3, 5, 20];
        let datasets = limits.map(|limit| {
            let dataset = cache.open(().into(), None, None);
            dataset.set_limit(limit * BYTES);
            dataset
        });
        thread::scope(|scope| {
            for thread in 0..4 {
                let (cache, datasets) = (&cache, &datasets);
                scope.spawn(move || {
                    for round in 0..2_000usize {
                        let nth = (round + thread) % 4;
                        let (dataset, first) = (&datasets[nth], (round * 7 + thread * 3) as u64 % 11);
                        let count = 1 + round % limits[nth].min(4);
                        let coords: Vec<_> = (first..first + count as u64).map(at).collect();
                        request(cache, dataset, &coords, round % 3 == 0);
                        if let Some(pinned) = dataset.peek(&at(first)) {
                            let _ = pinned.encode_ahead(|_| Ok(Vec::with_capacity(round % BYTES)));
                        }
                        assert!(dataset.bytes() <= limits[nth] * BYTES);
                    }
                });
            }
        });
        for (dataset, limit) in datasets.iter().zip(limits) {
            let seen = dataset.statistics();
            assert!(seen.peak_bytes <= limit * BYTES && seen.hits > 0, "{policy:?}, {limit}: {seen:?}");
        }
        assert!(cache.statistics().peak_bytes <= 20 * BYTES);
    }
}

#[test]
fn a_dataset_at_its_limit_lets_others_be_though_they_were_used_longer_ago() {
    let cache = Cache::new(Config::default().bytes(6 * BYTES).reserve(0));
    let (old, new) = (cache.open(().into(), None, None), cache.open(().into(), None, None));
    new.set_limit(3 * BYTES);
    (0..3).for_each(|coord| assert_eq!(request(&cache, &old, &[at(coord)], false), 0));
    (0..100).for_each(|coord| assert_eq!(request(&cache, &new, &[at(coord)], coord % 2 == 0), 0));
    assert_eq!((old.statistics().evictions, old.bytes(), new.bytes()), (0, 3 * BYTES, 3 * BYTES));
    assert_eq!((new.statistics().evictions, cache.statistics().evictions), (97, 97));
    // Without a limit, it takes from the other.
    new.set_limit(usize::MAX);
    (0..4).for_each(|coord| assert_eq!(request(&cache, &new, &[at(coord)], false), 0));
    assert!(old.bytes() < 3 * BYTES);
}

#[test]
fn what_is_in_use_or_cannot_be_written_stays_and_the_rest_goes_past() {
    let cache = Cache::new(Config::default().bytes(6 * BYTES));
    let partition = cache.open(().into(), None, None);
    partition.set_limit(2 * BYTES);
    assert_eq!(request(&cache, &partition, &[at(0), at(1)], true), 0);
    let held = partition.peek(&at(0)).unwrap();
    assert_eq!(request(&cache, &partition, &[at(2)], false), 0, "the other one makes room");
    assert_eq!(request(&cache, &partition, &[at(3), at(4)], false), 2, "there is room for one only");
    drop(held);
    assert_eq!(request(&cache, &partition, &[at(5), at(6), at(7)], false), 3, "more than ever fit");
    assert_eq!(request(&cache, &partition, &[at(0)], true), 0);
    let Eviction::Dirty(taken) = cache.make_room(&partition, 2 * BYTES) else { panic!("one is dirty") };
    taken.into_iter().for_each(|taken| taken.failed(WriteFailure::Permanent));
    assert_eq!(request(&cache, &partition, &[at(3), at(4)], false), 2);
    assert_eq!(request(&cache, &partition, &[at(3)], false), 0);
    assert!(partition.has(&[at(0)])[0] && partition.bytes() == 2 * BYTES);
}

#[test]
fn copies_that_are_encoded_ahead_count() {
    let cache = Cache::new(Config::default().bytes(6 * BYTES));
    let partition = cache.open(().into(), None, None);
    partition.set_limit(2 * BYTES + BYTES / 2);
    request(&cache, &partition, &[at(0), at(1)], true);
    let encode = |coord, bytes| partition.peek(&at(coord)).unwrap().encode_ahead(|_| Ok(Vec::with_capacity(bytes)));
    assert_eq!(encode(0, BYTES), Ok(false), "the copy is larger than what is left");
    assert_eq!(encode(0, BYTES / 2), Ok(true));
    assert_eq!(encode(1, 1), Ok(false));
    assert_eq!(partition.bytes(), 2 * BYTES + BYTES / 2);
    // The chunk that was used longest ago leaves, and its copy with it.
    request(&cache, &partition, &[at(2)], false);
    assert_eq!(partition.bytes(), 2 * BYTES);
}
