//! Requests of several threads over chunks of several datasets, on a file in memory.

use std::collections::HashMap;

use hyperslab_cache::{
    Cache, Config, Demand, Eviction, Footprint, LockRange, Lookup, Partition, Policy, Unwritten, WriteBack,
};
use hyperslab_space::Coords;
use parking_lot::Mutex;
use proptest::prelude::*;

/// A chunk of a few numbers.
struct Numbers(Vec<u64>);

const PER_CHUNK: usize = 4;
const BYTES: usize = 8 * PER_CHUNK;

impl Footprint for Numbers {
    /// Its number.
    type Source = usize;
    type Encoded = Vec<u8>;

    fn footprint(&self) -> usize {
        8 * self.0.len()
    }

    fn encoded_footprint(encoded: &Vec<u8>) -> usize {
        encoded.capacity()
    }
}

/// Datasets of chunks in a row. What was never written is zero.
struct File {
    cache: Cache<Numbers>,
    partitions: Vec<Partition<Numbers>>,
    stored: Mutex<HashMap<(usize, u64), Vec<u64>>>,
}

impl File {
    fn new(config: Config, datasets: usize) -> File {
        let cache = Cache::new(config);
        let partitions = (0..datasets).map(|number| cache.open(number.into(), None, None)).collect();
        File { cache, partitions, stored: Mutex::default() }
    }

    fn write_back(&self, taken: Vec<WriteBack<Numbers>>) {
        for taken in taken {
            let key = (**taken.partition().unwrap().source(), taken.coord().unwrap()[0]);
            let encoded = taken.encoded().map(|encoded| {
                encoded.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect()
            });
            let values = encoded.unwrap_or_else(|| taken.read().unwrap().0.clone());
            self.stored.lock().insert(key, values);
            taken.written();
        }
    }

    /// Does something with each number from `start` on.
    fn request(&self, dataset: usize, start: u64, count: u64, writes: bool, mut each: impl FnMut(u64, &mut u64)) {
        let partition = &self.partitions[dataset];
        let end = start + count - 1;
        let _turn = partition.enter(LockRange::Box([start].as_slice().into(), [end].as_slice().into()), writes);
        let (first, last) = (start / PER_CHUNK as u64, end / PER_CHUNK as u64);
        let most = (self.cache.limits().quiescent / BYTES).max(1) as u64;
        for list in (first..=last).step_by(most as usize).map(|from| from..=last.min(from + most - 1)) {
            let chunks = list.clone().count() * BYTES;
            let _reservation = self.cache.reserve(Demand { chunks, aside: 0 });
            let mut pinned = Vec::new();
            let mut open: Vec<_> = list.map(|coord| partition.find(&Coords::from_slice(&[coord]))).collect();
            while !open.is_empty() {
                let (mut vacant, mut awaited) = (Vec::new(), Vec::new());
                for found in open.drain(..) {
                    match found {
                        Lookup::Hit(here) => pinned.push(here),
                        Lookup::Miss(ticket) => vacant.push(ticket),
                        Lookup::Loading(waiter) => awaited.push(waiter),
                    }
                }
                let mut grant = loop {
                    match self.cache.make_room(partition, vacant.len() * BYTES) {
                        Eviction::Granted(grant) => break grant,
                        Eviction::Dirty(taken) => self.write_back(taken),
                        Eviction::Full => panic!("all can be written"),
                    }
                };
                for ticket in vacant {
                    let key = (dataset, ticket.coord().unwrap()[0]);
                    let values = self.stored.lock().get(&key).cloned().unwrap_or_else(|| vec![0; PER_CHUNK]);
                    pinned.push(ticket.fill(Numbers(values), &mut grant, false).unwrap());
                }
                drop(grant);
                open = awaited.into_iter().map(|waiter| waiter.wait()).collect();
            }
            for pinned in pinned {
                let from = pinned.coord()[0] * PER_CHUNK as u64;
                let inside = |nth: usize| (start..=end).contains(&(from + nth as u64));
                if !writes {
                    let values = pinned.read().0.clone();
                    let numbers = values.into_iter().enumerate().filter(|(nth, _)| inside(*nth));
                    numbers.for_each(|(nth, mut value)| each(from + nth as u64, &mut value));
                    continue;
                }
                let mut values = pinned.write();
                let numbers = values.0.iter_mut().enumerate().filter(|(nth, _)| inside(*nth));
                numbers.for_each(|(nth, value)| each(from + nth as u64, value));
                drop(values);
                if from.is_multiple_of(3) {
                    let bytes = |numbers: &Numbers| numbers.0.iter().flat_map(|n| n.to_le_bytes()).collect();
                    pinned.encode_ahead(|numbers| Ok(bytes(numbers))).unwrap();
                }
            }
        }
    }

    fn flush(&self) {
        self.partitions.iter().for_each(|partition| self.write_back(dirty(partition)));
    }
}

fn dirty(partition: &Partition<Numbers>) -> Vec<WriteBack<Numbers>> {
    Unwritten::of(std::slice::from_ref(partition), |_| true).take()
}

fn policy() -> impl Strategy<Value = Policy> {
    prop_oneof![Just(Policy::Lru), Just(Policy::Mru), Just(Policy::Lfu), Just(Policy::S3Fifo)]
}

#[derive(Clone, Debug)]
enum Step {
    Write(usize, u64, u64, u64),
    Read(usize, u64, u64),
    Flush,
    Evict(usize),
    Resize(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..3usize, 0..80u64, 1..20u64, any::<u64>()).prop_map(|(d, s, n, v)| Step::Write(d, s, n, v)),
        4 => (0..3usize, 0..80u64, 1..20u64).prop_map(|(d, s, n)| Step::Read(d, s, n)),
        1 => Just(Step::Flush),
        1 => (0..3usize).prop_map(Step::Evict),
        1 => (1..12usize).prop_map(Step::Resize),
    ]
}

proptest! {
    #[test]
    fn the_cache_is_as_good_as_memory(policy in policy(), reserve in 0..4usize, steps in prop::collection::vec(step(), 1..150)) {
        let file = File::new(Config::default().bytes(5 * BYTES).policy(policy).reserve(reserve * BYTES), 3);
        let mut twin: HashMap<(usize, u64), u64> = HashMap::new();
        for step in steps {
            match step {
                Step::Write(dataset, start, count, value) => {
                    file.request(dataset, start, count, true, |at, number| *number = value ^ at);
                    twin.extend((start..start + count).map(|at| ((dataset, at), value ^ at)));
                }
                Step::Read(dataset, start, count) => {
                    let mut seen = 0;
                    file.request(dataset, start, count, false, |at, number| {
                        seen += 1;
                        assert_eq!(*number, twin.get(&(dataset, at)).copied().unwrap_or(0));
                    });
                    prop_assert_eq!(seen, count);
                }
                Step::Flush => {
                    file.flush();
                    let stored = file.stored.lock();
                    for ((dataset, at), value) in &twin {
                        let chunk = &stored[&(*dataset, at / PER_CHUNK as u64)];
                        prop_assert_eq!(chunk[(at % PER_CHUNK as u64) as usize], *value);
                    }
                }
                Step::Evict(dataset) => {
                    file.write_back(dirty(&file.partitions[dataset]));
                    prop_assert_eq!(file.partitions[dataset].evict(), 0);
                    prop_assert_eq!(file.partitions[dataset].bytes(), 0);
                }
                Step::Resize(chunks) => file.cache.set_bytes(chunks * BYTES),
            }
            let statistics = file.cache.statistics();
            prop_assert_eq!(statistics.bytes, file.partitions.iter().map(Partition::bytes).sum::<usize>());
            prop_assert!(statistics.peak_bytes <= 24 * BYTES);
        }
    }
}

#[test]
fn what_is_in_hand_when_a_shelf_is_closed_is_given_back() {
    let file = File::new(Config::default().bytes(4 * BYTES), 2);
    file.request(0, 0, 8, true, |_, number| *number = 1);
    let pinned = file.partitions[0].peek(&Coords::from_slice(&[1])).unwrap();
    file.cache.close(&file.partitions[0]);
    assert_eq!(file.cache.statistics().bytes, BYTES);
    drop(pinned);
    let File { cache, partitions, .. } = file;
    drop(partitions);
    assert_eq!(cache.statistics().bytes, 0);
}

#[test]
fn no_change_of_any_thread_is_lost() {
    let policies = [Policy::Lru, Policy::Mru, Policy::Lfu, Policy::S3Fifo];
    for (policy, chunks) in policies.into_iter().flat_map(|policy| [(policy, 6), (policy, 20)]) {
        let file = File::new(Config::default().bytes(chunks * BYTES).policy(policy).reserve(BYTES), 3);
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let file = &file;
                scope.spawn(move || {
                    for round in 0..1_000u64 {
                        let (dataset, start) = ((round % 3) as usize, (round * 7 + thread * 5) % 60);
                        file.request(dataset, start, 1 + round % 11, true, |_, number| *number += 1);
                        if round % 97 == 0 {
                            file.flush();
                        }
                        if round % 5 == 0 {
                            file.request(dataset, start, 3, false, |_, _| {});
                        }
                    }
                });
            }
        });
        file.flush();
        let added: u64 = 4 * (0..1_000u64).map(|round| 1 + round % 11).sum::<u64>();
        let total: u64 = file.stored.lock().values().flatten().sum();
        assert_eq!(total, added, "{policy:?}");
        let statistics = file.cache.statistics();
        assert!(statistics.peak_bytes <= 2 * chunks * BYTES, "{statistics:?}");
        assert!(statistics.evictions > 100, "{statistics:?}");
    }
}
