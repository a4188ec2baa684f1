//! Random programs on a small cache, beside a twin that keeps everything.

use std::collections::{HashMap, HashSet};

use hyperslab_base::ErrorKind;
use hyperslab_meta::{Budget, Cache, Encoded, Failure, Membership, Owner, Phase};
use proptest::prelude::*;

use crate::common::{Block, block};

const PLACES: u64 = 12;
const BUDGET: usize = 6 * 16;

#[derive(Clone, Debug)]
enum Step {
    Read(u64),
    Write(u64, u8),
    Make(u64, u8),
    Forget(u64),
    Depend(u64, u64),
    Release(u64, u64),
    Flush,
    FlushThatFails(usize),
    Evict(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let place = 0..PLACES;
    let owner = 0..3u64;
    prop_oneof![
        4 => place.clone().prop_map(Step::Read),
        4 => (place.clone(), any::<u8>()).prop_map(|(place, byte)| Step::Write(place, byte)),
        2 => (place.clone(), any::<u8>()).prop_map(|(place, byte)| Step::Make(place, byte)),
        1 => place.clone().prop_map(Step::Forget),
        4 => (place.clone(), place.clone()).prop_map(|(parent, child)| Step::Depend(parent, child)),
        1 => (place.clone(), place).prop_map(|(parent, child)| Step::Release(parent, child)),
        2 => Just(Step::Flush),
        1 => (0..3usize).prop_map(Step::FlushThatFails),
        1 => owner.prop_map(Step::Evict),
    ]
}

fn home(place: u64) -> Membership {
    Membership::user(Owner(place % 3))
}

/// The file, and what the program believes to be true.
#[derive(Default)]
struct Twin {
    file: HashMap<u64, Vec<u8>>,
    values: HashMap<u64, Vec<u8>>,
    edges: HashSet<(u64, u64)>,
}

impl Twin {
    fn dirty(&self, place: u64) -> bool {
        self.values.get(&place) != self.file.get(&place)
    }

    /// What is under an entry, also through others.
    fn under(&self, place: u64) -> HashSet<u64> {
        let (mut seen, mut open) = (HashSet::new(), vec![place]);
        while let Some(above) = open.pop() {
            let children = self.edges.iter().filter(|(parent, _)| *parent == above).map(|(_, child)| *child);
            open.extend(children.filter(|&child| seen.insert(child)));
        }
        seen
    }
}

/// Writes waves to the twin's file and checks that each block was allowed to go.
fn flush(cache: &Cache, twin: &mut Twin, fails_after: usize) -> bool {
    let mut waves = 0;
    let mut write = |wave: &[(u64, Encoded)]| {
        if waves == fails_after {
            return Err(Failure::new(ErrorKind::Io, "no more"));
        }
        waves += 1;
        for (place, _) in wave {
            for below in twin.under(*place) {
                assert!(!twin.dirty(below), "{place} was written before {below}");
            }
        }
        for (place, bytes) in wave {
            assert_eq!(twin.values.get(place), Some(&**bytes));
            twin.file.insert(*place, bytes.to_vec());
        }
        Ok(())
    };
    cache.flush(&mut write).is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn the_cache_is_as_good_as_memory(steps in prop::collection::vec(step(), 1..120)) {
        let cache = Cache::new(Budget { initial: BUDGET, least: BUDGET, most: BUDGET });
        let mut twin = Twin::default();
        for step in steps {
            match step {
                Step::Read(place) => {
                    let Some(value) = twin.values.get(&place) else { continue };
                    let stored = twin.file.get(&place);
                    let read = cache.get(place, home(place), || Ok(Block(stored.cloned().unwrap()))).unwrap();
                    prop_assert_eq!(&read.0, value);
                }
                Step::Write(place, byte) => {
                    let Some(value) = twin.values.get_mut(&place) else { continue };
                    let stored = twin.file.get(&place);
                    let mut entry = cache.get_mut(place, home(place), || Ok(Block(stored.cloned().unwrap()))).unwrap();
                    entry.0.fill(byte);
                    value.fill(byte);
                }
                Step::Make(place, byte) => {
                    if twin.values.contains_key(&place) { continue }
                    cache.insert(place, block(byte), home(place)).unwrap();
                    twin.values.insert(place, block(byte).0);
                }
                Step::Forget(place) => {
                    if cache.remove(place).is_ok() {
                        twin.values.remove(&place);
                        twin.file.remove(&place);
                    }
                }
                Step::Depend(parent, child) => {
                    if cache.depend(parent, child).is_ok() {
                        twin.edges.insert((parent, child));
                    }
                }
                Step::Release(parent, child) => {
                    if cache.release(parent, child).is_ok() {
                        twin.edges.remove(&(parent, child));
                    }
                }
                Step::Flush => { prop_assert!(flush(&cache, &mut twin, usize::MAX)); }
                Step::FlushThatFails(waves) => { flush(&cache, &mut twin, waves); }
                Step::Evict(owner) => { cache.evict(Owner(owner)); }
            }
            // Dependencies end when one of the two leaves.
            let here = |place: u64| cache.phase(place).is_some();
            twin.edges.retain(|(parent, child)| here(*parent) && here(*child));
            for place in 0..PLACES {
                if twin.dirty(place) && twin.values.contains_key(&place) {
                    prop_assert_eq!(cache.phase(place), Some(Phase::Dirty));
                }
            }
        }
        prop_assert!(flush(&cache, &mut twin, usize::MAX));
        prop_assert_eq!(&twin.values, &twin.file);
        // A parent leaves after its children, which may belong to others.
        (0..3 * PLACES).for_each(|turn| { cache.evict(Owner(turn % 3)); });
        prop_assert_eq!(cache.statistics().bytes, 0);
    }
}

#[test]
fn the_budget_holds_and_follows_the_work() {
    let cache = Cache::new(Budget { initial: 1600, least: 160, most: 6400 });
    let read = |range: std::ops::Range<u64>| {
        for place in range.cycle_for(30_000) {
            drop(cache.get(place, home(place), || Ok(block(0))).unwrap());
            assert!(cache.statistics().bytes <= cache.statistics().budget.max(6400));
        }
    };
    read(0..300);
    assert_eq!(cache.statistics().budget, 6400, "300 blocks of 16 bytes are in use");
    read(0..4);
    (0..3).for_each(|owner| assert_eq!(cache.evict(Owner(owner)), 0));
    (0..10).for_each(|_| read(0..4));
    assert!(cache.statistics().budget < 1600, "four are");
}

trait Cycle {
    fn cycle_for(self, count: usize) -> impl Iterator<Item = u64>;
}

impl Cycle for std::ops::Range<u64> {
    fn cycle_for(self, count: usize) -> impl Iterator<Item = u64> {
        self.cycle().take(count)
    }
}

#[test]
fn what_was_written_during_a_load_is_not_forgotten() {
    let cache = Cache::default();
    let file = std::cell::RefCell::new(block(1));
    let mut loads = 0;
    let load = || {
        let stored = file.borrow().0.clone();
        loads += 1;
        if loads == 1 {
            // Another thread changes the block, writes it and lets it go.
            cache.insert(8, block(2), home(8)).unwrap();
            let write = &mut |wave: &[(u64, Encoded)]| {
                file.borrow_mut().0.clone_from(&*wave[0].1);
                Ok(())
            };
            cache.flush(write).unwrap();
            cache.remove(8).unwrap();
        }
        Ok(Block(stored))
    };
    assert_eq!(cache.get(8, home(8), load).unwrap().0, block(2).0);
}

#[test]
fn threads_change_and_flush_at_once() {
    let cache = Cache::new(Budget { initial: 256, least: 256, most: 256 });
    let file = std::sync::Mutex::new(HashMap::new());
    let load = |place: u64| {
        let stored: Option<Vec<u8>> = file.lock().unwrap().get(&place).cloned();
        Ok(Block(stored.unwrap_or_else(|| vec![0; 16])))
    };
    let flush = || {
        let write = &mut |wave: &[(u64, Encoded)]| {
            file.lock().unwrap().extend(wave.iter().map(|(place, bytes)| (*place, bytes.to_vec())));
            Ok(())
        };
        cache.flush(write).unwrap();
    };
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let (cache, load, flush) = (&cache, &load, &flush);
            scope.spawn(move || {
                for round in 0..2_000u64 {
                    let place = (round * 7 + thread * 3) % 40;
                    let mut entry = cache.get_mut(place, home(place), || load(place)).unwrap();
                    let count = u64::from_le_bytes(entry.0[..8].try_into().unwrap()) + 1;
                    entry.0[..8].copy_from_slice(&count.to_le_bytes());
                    drop(entry);
                    if round % 50 == 0 {
                        flush();
                    }
                }
            });
        }
    });
    flush();
    let file = file.lock().unwrap();
    let total: u64 = file.values().map(|bytes| u64::from_le_bytes(bytes[..8].try_into().unwrap())).sum();
    assert_eq!(total, 8_000, "no change was lost");
}
