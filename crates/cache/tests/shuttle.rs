//! The state machine of the cache with threads that run in thousands of orders:
//! `cargo test -p hyperslab-cache --features shuttle --test shuttle`. `HYPERSLAB_ORDERS` multiplies how many.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use hyperslab_cache::{
    Cache, Config, Demand, Eviction, Footprint, Grant, LoadTicket, LockRange, Lookup, Partition, Pinned, Policy,
    Unwritten, WriteBack, WriteFailure, assert_no_locks_held,
};
use hyperslab_space::Coords;
use shuttle::{
    rand::{Rng, thread_rng},
    sync::Mutex,
    thread,
};

/// A chunk: how often it was written, twice, so that half a write is seen.
struct Twice(u64, u64);

const BYTES: usize = 16;
const CHUNKS: usize = 3;
const PARTITIONS: usize = 2;

impl Footprint for Twice {
    type Source = usize;
    /// How often it was written, of a copy of half the size.
    type Encoded = u64;

    fn footprint(&self) -> usize {
        BYTES
    }

    fn encoded_footprint(_: &u64) -> usize {
        BYTES / 2
    }
}

type Key = (usize, u64);

/// A file of a few chunks, whose cache has room for fewer.
struct World {
    cache: Cache<Twice>,
    partitions: Vec<Partition<Twice>>,
    stored: Mutex<HashMap<Key, u64>>,
    /// How often chunks were written, changed by the thread that has the range lock.
    twin: Mutex<HashMap<Key, u64>>,
    loading: Mutex<HashSet<Key>>,
}

impl World {
    fn new(config: Config) -> World {
        let cache = Cache::new(config);
        let partitions = (0..PARTITIONS).map(|number| cache.open(number.into(), None, None)).collect();
        let (stored, twin, loading) = Default::default();
        World { cache, partitions, stored, twin, loading }
    }

    /// What takes long: others run meanwhile.
    fn io(&self) {
        assert_no_locks_held("I/O");
        thread::yield_now();
    }

    fn write_back(&self, taken: Vec<WriteBack<Twice>>) {
        for taken in taken {
            let key = (**taken.partition().unwrap().source(), taken.coord().unwrap()[0]);
            let value = taken.read().unwrap();
            let encoded = taken.encoded().map(|encoded| **encoded);
            self.io();
            assert_eq!(value.0, value.1, "half a write on its way to the file");
            // What was encoded may be older than what came since it was taken; that is taken once more.
            assert!(encoded.is_none_or(|encoded| encoded <= value.0), "encoded before it was written");
            self.stored.lock().unwrap().insert(key, encoded.unwrap_or(value.0));
            drop(value);
            // Now and then it fails, and may succeed later or when it is changed.
            match thread_rng().gen_range(0..16) {
                0 => {}
                1 => taken.failed(WriteFailure::Transient),
                2 => taken.failed(WriteFailure::Permanent),
                _ => {
                    taken.written();
                    self.cache.retry_failed();
                }
            }
        }
    }

    fn load(&self, dataset: usize, vacant: Vec<LoadTicket<Twice>>, pinned: &mut Vec<Pinned<Twice>>) {
        let keys: Vec<Key> = vacant.iter().map(|ticket| (dataset, ticket.coord().unwrap()[0])).collect();
        keys.iter().for_each(|key| assert!(self.loading.lock().unwrap().insert(*key), "loaded twice at once"));
        let mut grant = loop {
            match self.cache.make_room(&self.partitions[dataset], vacant.len() * BYTES) {
                Eviction::Granted(grant) => break grant,
                Eviction::Dirty(taken) => self.write_back(taken),
                // Chunks that could not be written are tried again: here, all can be sooner or later.
                Eviction::Full => self.partitions.iter().for_each(|partition| self.write_back(dirty(partition))),
            }
        };
        self.io();
        for (ticket, key) in vacant.into_iter().zip(keys) {
            let value = self.stored.lock().unwrap().get(&key).copied().unwrap_or(0);
            self.loading.lock().unwrap().remove(&key);
            // Now and then it fails, and another thread loads it.
            if thread_rng().gen_range(0..8) > 0 {
                pinned.push(ticket.fill(Twice(value, value), &mut grant, false).unwrap());
            }
        }
    }

    /// Gets chunks for a thread that has the range lock for them.
    fn with(&self, dataset: usize, coords: &[u64], each: &dyn Fn(&Pinned<Twice>)) {
        let _reservation = self.cache.reserve(Demand { chunks: coords.len() * BYTES, aside: coords.len() * BYTES });
        let mut wanted: Vec<Lookup<Twice>> =
            coords.iter().map(|coord| self.partitions[dataset].find(&at(*coord))).collect();
        let mut pinned = Vec::new();
        while !wanted.is_empty() {
            let (mut vacant, mut awaited) = (Vec::new(), Vec::new());
            for found in wanted.drain(..) {
                match found {
                    Lookup::Hit(here) => pinned.push(here),
                    Lookup::Miss(ticket) => vacant.push(ticket),
                    Lookup::Loading(waiter) => awaited.push(waiter),
                }
            }
            if !vacant.is_empty() {
                self.load(dataset, vacant, &mut pinned);
            }
            wanted.extend(awaited.into_iter().map(|waiter| waiter.wait()));
            let missing = coords.iter().filter(|coord| pinned.iter().all(|pinned| pinned.coord()[0] != **coord));
            if wanted.is_empty() {
                wanted.extend(missing.map(|coord| self.partitions[dataset].find(&at(*coord))));
            }
        }
        assert_eq!(pinned.len(), coords.len());
        pinned.iter().for_each(each);
    }

    fn write(&self, dataset: usize, first: u64, last: u64) {
        let _guard = self.partitions[dataset].enter(area(first, last), true);
        self.with(dataset, &(first..=last).collect::<Vec<_>>(), &|pinned| {
            let mut value = pinned.write();
            value.0 += 1;
            thread::yield_now();
            value.1 += 1;
            *self.twin.lock().unwrap().entry((dataset, pinned.coord()[0])).or_default() += 1;
        });
    }

    fn read(&self, dataset: usize, first: u64, last: u64) {
        let _guard = self.partitions[dataset].enter(area(first, last), false);
        let check = |pinned: &Pinned<Twice>| {
            let value = pinned.read();
            thread::yield_now();
            let twin = self.twin.lock().unwrap().get(&(dataset, pinned.coord()[0])).copied().unwrap_or(0);
            assert_eq!((value.0, value.1), (twin, twin), "a write is lost, or not whole");
        };
        let coords: Vec<u64> = (first..=last).collect();
        match self.partitions[dataset].hits(&coords.iter().map(|coord| at(*coord)).collect::<Vec<_>>()) {
            Some(pinned) => pinned.iter().for_each(check),
            None => self.with(dataset, &coords, &check),
        }
    }

    /// Writes a chunk past the cache.
    fn write_past(&self, dataset: usize, coord: u64) {
        let _guard = self.partitions[dataset].enter(area(coord, coord), true);
        let Some(_vacancy) = self.partitions[dataset].vacant(&at(coord)) else { return };
        let value = self.stored.lock().unwrap().get(&(dataset, coord)).copied().unwrap_or(0);
        self.io();
        self.stored.lock().unwrap().insert((dataset, coord), value + 1);
        *self.twin.lock().unwrap().entry((dataset, coord)).or_default() += 1;
    }

    /// Replaces chunks past the cache with what was stored anew, or takes them back if that fails.
    fn replace(&self, dataset: usize, first: u64, last: u64) {
        let partition = &self.partitions[dataset];
        let _guard = partition.enter(area(first, last), true);
        let withdrawal = match first == last {
            true => partition.withdraw(&at(first)),
            false => partition.withdraw_where(&|coord| (first..=last).contains(&coord[0])),
        };
        self.io();
        if thread_rng().gen_range(0..2) == 0 {
            return;
        }
        for coord in first..=last {
            let mut twin = self.twin.lock().unwrap();
            let value = twin.entry((dataset, coord)).or_default();
            *value += 1;
            self.stored.lock().unwrap().insert((dataset, coord), *value);
        }
        withdrawal.commit();
    }

    fn step(&self) {
        let mut rng = thread_rng();
        let (dataset, first) = (rng.gen_range(0..PARTITIONS), rng.gen_range(0..CHUNKS as u64));
        let last = rng.gen_range(first..CHUNKS as u64);
        match rng.gen_range(0..15) {
            0..=3 => self.write(dataset, first, last),
            4..=6 => self.read(dataset, first, last),
            7 => self.write_past(dataset, first),
            8 => self.write_back(dirty(&self.partitions[dataset])),
            9 => drop(self.partitions[dataset].evict()),
            10 => {
                if let Some(pinned) = self.partitions[dataset].peek(&at(first)) {
                    pinned.encode_ahead(encode).unwrap();
                }
            }
            11 => {
                for pinned in self.cache.near_exit(2 * BYTES) {
                    if !pinned.encode_ahead(encode).unwrap() && self.cache.is_crowded() {
                        self.write_back(pinned.take().into_iter().collect());
                    }
                }
            }
            12 | 13 => self.replace(dataset, first, last),
            _ => self.cache.touch(&self.partitions[dataset]),
        }
        let statistics = self.cache.statistics();
        assert!(statistics.bytes <= self.cache.limits().quiescent, "{statistics:?}");
        assert!(statistics.peak_bytes <= self.cache.limits().active, "{statistics:?}");
    }

    /// Nothing is lost, and nothing is left.
    fn end(&self) {
        for partition in &self.partitions {
            while partition.evict() > 0 {
                self.write_back(dirty(partition));
            }
            assert_eq!(partition.bytes(), 0);
        }
        assert_eq!(self.cache.statistics().bytes, 0);
        assert_eq!(*self.stored.lock().unwrap(), *self.twin.lock().unwrap());
    }
}

fn at(coord: u64) -> Coords {
    Coords::from_slice(&[coord])
}

fn area(first: u64, last: u64) -> LockRange {
    LockRange::Box(at(first), at(last))
}

fn dirty(partition: &Partition<Twice>) -> Vec<WriteBack<Twice>> {
    Unwritten::of(std::slice::from_ref(partition), |_| true).take()
}

fn encode(value: &Twice) -> Result<u64, WriteFailure> {
    Ok(value.0)
}

/// In so many orders by chance, and in as many that change few times between threads.
fn in_any_order(orders: usize, run: fn()) {
    let times: usize = std::env::var("HYPERSLAB_ORDERS").map_or(1, |times| times.parse().unwrap());
    shuttle::check_random(run, orders * times);
    shuttle::check_pct(run, orders * times, 4);
}

fn threads(count: usize, work: impl Fn(usize) + Sync) {
    let work = &work;
    thread::scope(|scope| (0..count).for_each(|thread| drop(scope.spawn(move || work(thread)))));
}

/// A config with room for all chunks of a request.
fn tiny() -> Config {
    let policies = [Policy::Lru, Policy::Mru, Policy::Lfu, Policy::S3Fifo];
    let policy = policies[thread_rng().gen_range(0..policies.len())];
    Config::default().bytes(CHUNKS * BYTES).reserve(BYTES).policy(policy)
}

#[test]
fn requests_of_any_kind() {
    in_any_order(1_000, || {
        let world = World::new(tiny());
        threads(3, |_| (0..4).for_each(|_| world.step()));
        world.end();
    });
}

#[test]
fn a_limit_holds_beside_unreserved_pins() {
    in_any_order(1_500, || {
        let world = World::new(Config::default().bytes(2 * BYTES).reserve(0));
        world.read(0, 0, 1);
        threads(3, |thread| match thread {
            0 => world.read(1, 0, 1),
            _ => (0..2).for_each(|_| world.read(0, 0, thread as u64 - 1)),
        });
        // The limit without what requests hold aside.
        let statistics = world.cache.statistics();
        assert!(statistics.bytes <= 2 * BYTES && statistics.peak_bytes <= 4 * BYTES, "{statistics:?}");
        world.end();
    });
}

#[test]
fn more_leave_with_those_that_must_be_written() {
    in_any_order(200, || {
        let world = World::new(Config::default().bytes(16 * BYTES).reserve(0));
        (0..16).for_each(|coord| world.write(0, coord, coord));
        threads(4, |thread| match thread {
            0 => world.write(1, 0, 2),
            1 => (0..3).for_each(|coord| world.read(0, coord, coord + 1)),
            2 => (16..18).for_each(|coord| world.write(0, coord, coord)),
            _ => {
                world.cache.near_exit(4 * BYTES).iter().for_each(|pinned| assert!(pinned.encode_ahead(encode).is_ok()))
            }
        });
        let statistics = world.cache.statistics();
        assert!(statistics.bytes <= 16 * BYTES && statistics.peak_bytes <= 32 * BYTES, "{statistics:?}");
        world.end();
        // What was lent is given back.
        assert!(world.cache.try_reserve(Demand { chunks: 16 * BYTES, aside: 16 * BYTES }).is_some());
    });
}

#[test]
fn a_flush_writes_all_that_was_dirty_though_others_fail() {
    in_any_order(1_000, || {
        let world = World::new(tiny());
        threads(3, |thread| match thread {
            0 => {
                world.write(0, 0, 1);
                let before = world.twin.lock().unwrap().clone();
                let mut unwritten = Unwritten::of(&world.partitions[..1], |_| true);
                loop {
                    for taken in unwritten.take() {
                        let value = taken.read().unwrap().0;
                        world.io();
                        world.stored.lock().unwrap().insert((0, taken.coord().unwrap()[0]), value);
                        taken.written();
                    }
                    if unwritten.is_empty() {
                        break;
                    }
                    unwritten.wait();
                }
                let stored = world.stored.lock().unwrap();
                (0..2)
                    .for_each(|coord| assert!(stored[&(0, coord)] >= before[&(0, coord)], "flushed, and not written"));
            }
            1 => (0..3).for_each(|_| world.write_back(dirty(&world.partitions[0]))),
            _ => world.write(0, 1, 2),
        });
        world.end();
    });
}

#[test]
fn a_flush_finds_all_that_is_dirty_and_nothing_else() {
    in_any_order(1_000, || {
        let world = World::new(tiny());
        threads(4, |thread| match thread {
            0 => {
                world.write(0, 0, 1);
                let before = world.twin.lock().unwrap().clone();
                let mut unwritten = Unwritten::of_cache(&world.cache);
                while !unwritten.is_empty() {
                    world.write_back(unwritten.take());
                    unwritten.wait();
                }
                let left = Unwritten::of(&world.partitions[..1], |_| true);
                let stored = world.stored.lock().unwrap();
                let is_stored = |coord| stored.get(&(0, coord)).is_some_and(|value| *value >= before[&(0, coord)]);
                // Some fail to be written, and are dirty again: then a flush finds them.
                assert!((0..2).all(is_stored) || !left.is_empty(), "neither written nor found");
            }
            1 => world.write(1, 0, 2),
            2 => drop(world.partitions[0].evict()),
            // A dataset that is deleted while a thread has a dirty chunk of it.
            _ => {
                let partition = world.cache.open(PARTITIONS.into(), None, None);
                let Lookup::Miss(ticket) = partition.find(&at(0)) else { panic!("no thread loaded it") };
                let Some(mut grant) = world.cache.try_room(&partition, BYTES) else { return };
                let pinned = ticket.fill(Twice(0, 0), &mut grant, true).unwrap();
                world.cache.close(&partition);
                drop(pinned.write());
            }
        });
        world.stored.lock().unwrap().remove(&(PARTITIONS, 0));
        world.end();
        let unreserved = || world.cache.statistics().dirty_visits;
        let before = unreserved();
        assert!(Unwritten::of_cache(&world.cache).is_empty());
        assert_eq!(unreserved(), before, "chunks in the index that are in the file, or gone");
    });
}

#[test]
fn a_flush_waits_for_chunks_that_are_replaced() {
    in_any_order(1_000, || {
        let world = World::new(tiny());
        world.write(0, 0, 1);
        threads(3, |thread| match thread {
            0 => {
                let before = world.twin.lock().unwrap().clone();
                let mut unwritten = Unwritten::of_cache(&world.cache);
                while !unwritten.is_empty() {
                    for taken in unwritten.take() {
                        let value = taken.read().unwrap().0;
                        world.io();
                        world.stored.lock().unwrap().insert((0, taken.coord().unwrap()[0]), value);
                        taken.written();
                    }
                    unwritten.wait();
                }
                let stored = world.stored.lock().unwrap();
                (0..2)
                    .for_each(|coord| assert!(stored[&(0, coord)] >= before[&(0, coord)], "flushed, and not written"));
            }
            1 => (0..2).for_each(|last| world.replace(0, 0, last)),
            _ => world.read(0, 0, 1),
        });
        world.end();
    });
}

#[test]
fn several_who_miss_one_chunk_load_it_once() {
    in_any_order(1_000, || {
        let world = World::new(Config::default().bytes(BYTES));
        threads(3, |thread| if thread == 0 { world.write(0, 0, 0) } else { world.read(0, 0, 0) });
        world.end();
    });
}

#[test]
fn chunks_that_outgrow_their_reservation_block_no_thread() {
    in_any_order(1_000, || {
        let world = World::new(Config::default().bytes(2 * BYTES));
        threads(2, |thread| {
            let _guard = world.partitions[thread].enter(area(0, 1), false);
            let _reservation = world.cache.reserve(Demand { chunks: BYTES, aside: 0 });
            let mut pinned = Vec::new();
            for coord in 0..2 {
                let Lookup::Miss(ticket) = world.partitions[thread].find(&at(coord)) else {
                    panic!("no thread loaded it")
                };
                world.load(thread, vec![ticket], &mut pinned);
            }
        });
    });
}

#[test]
fn writers_are_alone_where_they_overlap_others() {
    in_any_order(1_000, || {
        let partition = Cache::<Twice>::new(Config::default()).open(0.into(), None, None);
        let inside = Mutex::new(Vec::<(u64, bool)>::new());
        threads(4, |thread| {
            let (coord, writes) = (thread as u64 % 2, thread < 3);
            for _ in 0..2 {
                let guard = partition.enter(area(coord, coord), writes);
                let mut others = inside.lock().unwrap();
                assert!(others.iter().all(|(at, write)| *at != coord || !(writes || *write)), "not alone");
                others.push((coord, writes));
                drop(others);
                thread::yield_now();
                inside.lock().unwrap().retain(|other| *other != (coord, writes));
                drop(guard);
            }
        });
    });
}

/// A chunk of two parts, of which the second can be loaded later: the number of writes in each.
struct Parts(u64, Option<u64>);

impl Footprint for Parts {
    /// What the file has.
    type Source = Mutex<u64>;
    type Encoded = ();

    fn sheds(_source: &Self::Source) -> bool {
        true
    }

    fn footprint(&self) -> usize {
        if self.1.is_some() { BYTES } else { BYTES / 2 }
    }

    fn encoded_footprint((): &()) -> usize {
        0
    }

    fn shed(&mut self) {
        self.1 = None;
    }
}

/// Room for more, which other chunks leave.
fn room_for<'a>(cache: &'a Cache<Parts>, partition: &'a Partition<Parts>, bytes: usize) -> Grant<'a> {
    loop {
        match cache.make_room(partition, bytes) {
            Eviction::Granted(grant) => return grant,
            Eviction::Dirty(taken) => taken.into_iter().for_each(store),
            Eviction::Full => panic!("all can be written"),
        }
    }
}

fn store(taken: WriteBack<Parts>) {
    let written = taken.read().unwrap().1.expect("a dirty chunk is complete");
    *taken.partition().unwrap().source().lock().unwrap() = written;
    taken.written();
}

/// Loads what is missing of a chunk.
fn complete(cache: &Cache<Parts>, partition: &Partition<Parts>, pinned: &Pinned<Parts>) {
    let is_partial = pinned.read().1.is_none();
    if is_partial {
        let mut value = pinned.complete_in(room_for(cache, partition, BYTES / 2));
        let first = value.0;
        value.1.get_or_insert(first);
    }
}

#[test]
fn chunks_that_are_loaded_in_part_grow_and_shed_lose_nothing() {
    in_any_order(1_000, || {
        let cache = Cache::<Parts>::new(Config::default().bytes(2 * BYTES).reserve(0));
        let files: Vec<Arc<Mutex<u64>>> = (0..3).map(|_| Arc::default()).collect();
        let partitions: Vec<_> = files.iter().map(|file| cache.open(file.clone(), None, None)).collect();
        threads(3, |thread| {
            for (nth, partition) in partitions.iter().enumerate() {
                let writes = nth == thread;
                let _guard = partition.enter(area(0, 0), writes);
                let _reservation = cache.reserve(Demand { chunks: BYTES, aside: 0 });
                let mut found = partition.find(&at(0));
                let pinned = loop {
                    match found {
                        Lookup::Hit(pinned) => break pinned,
                        Lookup::Loading(waiter) => found = waiter.wait(),
                        Lookup::Miss(ticket) => {
                            let mut grant = room_for(&cache, partition, BYTES / 2);
                            let stored = *files[nth].lock().unwrap();
                            break ticket.fill(Parts(stored, None), &mut grant, false).unwrap();
                        }
                    }
                };
                complete(&cache, partition, &pinned);
                if writes {
                    let mut value = pinned.write_in(room_for(&cache, partition, 0));
                    *value = Parts(value.0 + 1, Some(value.0 + 1));
                } else {
                    let value = pinned.read();
                    assert!(value.1.is_none_or(|second| second == value.0), "half a chunk");
                }
            }
            assert!(cache.statistics().peak_bytes <= 2 * BYTES);
        });
        let mut unwritten = Unwritten::of_cache(&cache);
        unwritten.take().into_iter().for_each(store);
        assert!(files.iter().all(|file| *file.lock().unwrap() == 1), "a write is lost");
    });
}

/// The elements that a chunk has, of a file that has no chunk without elements.
struct Sparse(BTreeSet<u64>);

impl Footprint for Sparse {
    /// What the file has: nothing, if no element is left.
    type Source = Mutex<Option<BTreeSet<u64>>>;
    type Encoded = BTreeSet<u64>;

    fn footprint(&self) -> usize {
        BYTES / 4 * (1 + self.0.len())
    }

    fn encoded_footprint(encoded: &BTreeSet<u64>) -> usize {
        BYTES / 4 * encoded.len()
    }
}

/// Writes a chunk to the file, or takes it out of the file if it has no elements any more: of the time when it was taken.
fn store_sparse(taken: WriteBack<Sparse>) {
    let elements = taken.encoded().map_or_else(|| taken.read().unwrap().0.clone(), |encoded| (**encoded).clone());
    thread::yield_now();
    *taken.partition().unwrap().source().lock().unwrap() = Some(elements).filter(|elements| !elements.is_empty());
    taken.written();
}

/// The only chunk, for a thread that has the range lock of an element of it; it may grow by one element.
fn with_sparse(cache: &Cache<Sparse>, partition: &Partition<Sparse>, each: impl FnOnce(&Pinned<Sparse>, Grant<'_>)) {
    let room = |bytes| loop {
        match cache.make_room(partition, bytes) {
            Eviction::Granted(grant) => return grant,
            Eviction::Dirty(taken) => taken.into_iter().for_each(store_sparse),
            Eviction::Full => panic!("all can be written"),
        }
    };
    let _reservation = cache.reserve(Demand { chunks: BYTES, aside: 0 });
    let mut found = partition.find(&at(0));
    let pinned = loop {
        match found {
            Lookup::Hit(pinned) => break pinned,
            Lookup::Loading(waiter) => found = waiter.wait(),
            Lookup::Miss(ticket) => {
                let mut grant = room(BYTES);
                let stored = partition.source().lock().unwrap().clone().unwrap_or_default();
                thread::yield_now();
                break ticket.fill(Sparse(stored), &mut grant, false).unwrap();
            }
        }
    };
    each(&pinned, room(BYTES / 4));
}

#[test]
fn a_chunk_whose_last_element_is_erased_leaves_and_comes_back() {
    in_any_order(1_500, || {
        let cache = Cache::<Sparse>::new(Config::default().bytes(2 * BYTES).reserve(0));
        let source = Arc::new(Mutex::new(Some(BTreeSet::from([0]))));
        let partition = cache.open(source.clone(), None, None);
        let flush = || {
            let mut unwritten = Unwritten::of_cache(&cache);
            while !unwritten.is_empty() {
                unwritten.take().into_iter().for_each(store_sparse);
                unwritten.wait();
            }
        };
        let has = |element: u64| {
            let _guard = partition.enter(area(element, element), false);
            let mut has = false;
            with_sparse(&cache, &partition, |pinned, _| has = pinned.read().0.contains(&element));
            has
        };
        let change = |element: u64, is_there: bool| {
            let guard = partition.enter(area(element, element), true);
            with_sparse(&cache, &partition, |pinned, grant| {
                let mut chunk = pinned.write_in(grant);
                if is_there {
                    chunk.0.insert(element)
                } else {
                    chunk.0.remove(&element)
                };
            });
            drop(guard);
            assert_eq!(has(element), is_there, "a change is lost");
        };
        threads(4, |thread| match thread {
            // The only element goes while another thread defines one, and the chunk is written or leaves.
            0 => change(0, false),
            1 => {
                change(1, true);
                if thread_rng().gen_range(0..2) == 0 {
                    change(1, false);
                    change(1, true);
                }
            }
            2 => {
                partition.peek(&at(0)).into_iter().for_each(|pinned| {
                    pinned.encode_ahead(|chunk| Ok(chunk.0.clone())).unwrap();
                });
                flush();
                assert!(!has(2), "never written");
            }
            _ => drop(partition.evict()),
        });
        flush();
        assert_eq!(*source.lock().unwrap(), Some(BTreeSet::from([1])));
        change(1, false);
        flush();
        assert_eq!(*source.lock().unwrap(), None, "no element, no chunk");
        assert!(cache.statistics().peak_bytes <= 4 * BYTES, "{:?}", cache.statistics());
    });
}
