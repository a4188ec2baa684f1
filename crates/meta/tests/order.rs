//! The order in which entries reach the file, by examples.

use hyperslab_base::ErrorKind;
use hyperslab_meta::{Budget, Cache, Encoded, Error, Failure, Membership, Owner, Phase, Ring};

use crate::common::{Block, block};

const USER: Membership = Membership { ring: Ring::User, owner: Owner::FILE };

/// The waves of a flush, as addresses.
fn waves(cache: &Cache) -> Vec<Vec<u64>> {
    let mut waves = Vec::new();
    let write = &mut |wave: &[(u64, Encoded)]| {
        waves.push(wave.iter().map(|(address, _)| *address).collect());
        Ok(())
    };
    cache.flush(write).unwrap();
    waves
}

/// The design document's example: A above C, B above D, C above E and F; all dirty but F.
#[test]
fn the_documents_six_entries() {
    let [a, b, c, d, e, f] = [1, 2, 3, 4, 5, 6];
    let cache = Cache::default();
    for address in [a, b, c, d, e] {
        cache.insert(address, block(address as u8), USER).unwrap();
    }
    drop(cache.get(f, USER, || Ok(block(6))).unwrap());
    for (parent, child) in [(a, c), (b, d), (c, e), (c, f)] {
        cache.depend(parent, child).unwrap();
    }
    assert_eq!(waves(&cache), [vec![d, e], vec![b, c], vec![a]]);
    assert!((1..=6).all(|address| cache.phase(address) == Some(Phase::Clean)));
    assert!(waves(&cache).is_empty(), "nothing is written twice");
}

#[test]
fn cycles_are_refused() {
    let cache = Cache::default();
    (1..=3).for_each(|address| cache.insert(address, block(0), USER).unwrap());
    cache.depend(1, 2).unwrap();
    cache.depend(2, 3).unwrap();
    assert!(matches!(cache.depend(3, 1), Err(Error::Cycle { .. })));
    assert!(matches!(cache.depend(1, 1), Err(Error::Cycle { .. })));
    assert_eq!(waves(&cache), [vec![3], vec![2], vec![1]]);
}

#[test]
fn rings_are_written_from_the_inside_out() {
    let cache = Cache::default();
    for (address, ring) in Ring::ALL.into_iter().rev().enumerate() {
        cache.insert(address as u64, block(0), Membership { ring, owner: Owner::FILE }).unwrap();
    }
    assert_eq!(waves(&cache), [vec![4], vec![3], vec![2], vec![1], vec![0]]);
}

/// A block that is in the file as it is names one that is not: what names the first waits for the second.
#[test]
fn order_passes_through_a_clean_entry() {
    let cache = Cache::default();
    cache.insert(1, block(0), USER).unwrap();
    drop(cache.get(2, USER, || Ok(block(0))).unwrap());
    cache.insert(3, block(0), USER).unwrap();
    cache.depend(1, 2).unwrap();
    cache.depend(2, 3).unwrap();
    assert_eq!(cache.phase(2), Some(Phase::Clean));
    assert_eq!(waves(&cache), [vec![3], vec![1]]);
}

#[test]
fn an_entry_belongs_to_the_first_object_that_asks_for_it() {
    let (cache, home) = (Cache::default(), |owner| Membership::user(Owner(owner)));
    (10..=13).for_each(|address| cache.insert(address, block(0), USER).unwrap());
    drop(cache.get(10, home(10), || Ok(block(0))).unwrap());
    cache.put(11, block(1), home(10)).unwrap();
    cache.look(12, Owner(10), |_: &Block| ()).unwrap();
    drop(cache.get(12, home(13), || Ok(block(0))).unwrap());
    assert_eq!((cache.entries_of(Owner(10)), cache.entries_of(Owner(13))), (vec![10, 11, 12], vec![]));
    drop(cache.peek::<Block>(13).unwrap());
    assert_eq!(cache.entries_of(Owner::FILE), [13]);
    cache.remove(12).unwrap();
    assert_eq!(cache.entries_of(Owner(10)), [10, 11]);
    waves(&cache);
    assert_eq!((cache.evict(Owner(10)), cache.entries_of(Owner(10))), (0, vec![]));
    assert_eq!(cache.phase(13), Some(Phase::Clean));
}

#[test]
fn a_failed_write_leaves_everything_dirty() {
    let cache = Cache::default();
    (1..=3).for_each(|address| cache.insert(address, block(0), USER).unwrap());
    cache.depend(1, 2).unwrap();
    let failed = cache.flush(&mut |_| Err(Failure::new(ErrorKind::NoSpace, "disk full")));
    let failed = failed.unwrap_err();
    assert!(failed.kind() == ErrorKind::NoSpace && failed.to_string().contains("disk full"), "{failed}");
    assert!((1..=3).all(|address| cache.phase(address) == Some(Phase::Dirty)));
    assert_eq!(waves(&cache), [vec![2, 3], vec![1]]);
}

#[test]
fn a_change_during_a_write_is_not_lost() {
    let cache = Cache::default();
    cache.insert(1, block(1), USER).unwrap();
    let mut seen = Vec::new();
    let write = &mut |wave: &[(u64, Encoded)]| {
        seen.push(wave[0].1[0]);
        if seen.len() == 1 {
            cache.get_mut(1, USER, || Ok(block(9))).unwrap().0[0] = 2;
            assert_eq!(cache.phase(1), Some(Phase::Stale));
        }
        Ok(())
    };
    cache.flush(write).unwrap();
    assert_eq!(seen, [1, 2]);
}

#[test]
fn what_is_held_or_a_parent_stays() {
    let cache = Cache::default();
    (1..=4).for_each(|address| cache.insert(address, block(0), USER).unwrap());
    cache.depend(3, 4).unwrap();
    waves(&cache);
    let held = cache.get(1, USER, || Ok(block(0))).unwrap();
    let child = cache.get(4, USER, || Ok(block(0))).unwrap();
    assert_eq!(cache.evict(Owner::FILE), 3);
    drop(held);
    assert_eq!(cache.evict(Owner::FILE), 2, "a parent and its child");
    drop(child);
    assert_eq!(cache.evict(Owner::FILE), 0, "the child first, then the parent");
}

#[test]
fn a_reader_does_not_keep_an_entry_from_being_forgotten() {
    let cache = Cache::default();
    cache.insert(1, block(7), USER).unwrap();
    waves(&cache);
    let changed = cache.get_mut(1, USER, || Ok(block(0))).unwrap();
    assert!(matches!(cache.remove(1), Err(Error::Busy(_))));
    drop(changed);
    let read = cache.get(1, USER, || Ok(block(0))).unwrap();
    cache.remove(1).unwrap();
    assert_eq!(*read, block(7));
    drop(read);
    cache.insert(1, block(8), USER).unwrap();
}

#[test]
fn types_are_checked() {
    struct Other;
    impl hyperslab_meta::Entry for Other {
        fn encode(&self) -> Result<Encoded, Failure> {
            Ok(Encoded::default())
        }
        fn footprint(&self) -> usize {
            0
        }
    }
    let cache = Cache::default();
    cache.insert(1, Other, USER).unwrap();
    assert!(matches!(cache.get::<Block>(1, USER, || Ok(block(0))), Err(Error::Type(_))));
}

/// No file makes these errors: the caller contradicts itself.
#[test]
fn contradictions_are_internal_errors() {
    let cache = Cache::default();
    (1..=2).for_each(|address| cache.insert(address, block(0), USER).unwrap());
    cache.depend(1, 2).unwrap();
    let held = cache.get_mut(2, USER, || Ok(block(0))).unwrap();
    let errors = [
        cache.insert(1, block(0), USER),
        cache.remove(2),
        cache.remove(3),
        cache.depend(2, 1),
        cache.depend(1, 3),
        cache.release(2, 1),
    ];
    drop(held);
    for why in errors.map(Result::unwrap_err) {
        assert_eq!(why.kind(), ErrorKind::Internal, "{why}");
    }
}

/// Clean entries can leave, so they are no reason to flush, however many there are.
#[test]
fn only_entries_that_are_not_clean_call_for_a_flush() {
    let cache = Cache::new(Budget { initial: 160, least: 160, most: 160 });
    let held: Vec<_> = (0..30).map(|address| cache.get(address, USER, || Ok(block(1))).unwrap()).collect();
    cache.put(100, block(2), USER).unwrap();
    assert!(!cache.wants_flush());
    assert_eq!(cache.statistics().unclean, 16);
    drop(held);
    (101..111).for_each(|address| cache.put(address, block(2), USER).unwrap());
    assert!(cache.wants_flush());
    // An entry that grows counts as much as it has grown.
    *cache.get_mut(100, USER, || Ok(block(0))).unwrap() = Block(vec![1; 50]);
    assert_eq!(cache.statistics().unclean, 50 + 10 * 16);
    cache.remove(101).unwrap();
    assert_eq!(cache.statistics().unclean, 50 + 9 * 16);
    waves(&cache);
    assert_eq!(cache.statistics().unclean, 0);
    assert!(!cache.wants_flush());
}

#[test]
fn a_large_entry_leaves_the_others_their_room() {
    let cache = Cache::new(Budget { initial: 1600, least: 160, most: 6400 });
    cache.insert(1, Block(vec![0; 300]), USER).unwrap();
    assert_eq!(cache.statistics().budget, 1600, "it is not large");
    cache.insert(2, Block(vec![0; 1000]), USER).unwrap();
    assert_eq!(cache.statistics().budget, 2600);
    *cache.get_mut(2, USER, || Ok(block(0))).unwrap() = Block(vec![0; 2000]);
    assert_eq!(cache.statistics().budget, 3600, "it grew");
    cache.insert(3, Block(vec![0; 9000]), USER).unwrap();
    assert_eq!(cache.statistics().budget, 6400, "it never grows above the most");
}
