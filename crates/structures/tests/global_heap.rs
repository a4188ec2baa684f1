//! The global heap that changes, against a map of values.

use std::collections::{BTreeMap, BTreeSet};

use hyperslab_file::{Kind, OpenFile};
use hyperslab_format::heap::global;
use hyperslab_structures::{Collection, GlobalHeap, Pile};

use crate::common::{Ks, Played, new_file, open, prefixes};

const KS: Ks = Ks { leaf: 4, internal: 16, chunks: 32 };

type Model = BTreeMap<(u64, u32), Vec<u8>>;

fn check(file: &OpenFile, model: &Model) {
    let mut collections: BTreeMap<u64, Collection> = BTreeMap::new();
    for ((address, index), value) in model {
        let collection = collections.entry(*address).or_insert_with(|| Collection::read(file, *address).unwrap());
        assert_eq!(collection.get(*index).unwrap(), value);
    }
    // The walk of libhdf5 ends exactly where the collection does.
    for (address, collection) in collections {
        let bytes = file.metadata("collection", address, collection.size() as u64).unwrap();
        let (mut at, mut seen) = (16, BTreeSet::new());
        while at + 16 <= bytes.len() {
            let index = u16::from_le_bytes([bytes[at], bytes[at + 1]]);
            let size = u64::from_le_bytes(bytes[at + 8..at + 16].try_into().unwrap()) as usize;
            assert!(seen.insert(index), "an index twice");
            at += if index == 0 { size } else { 16 + size.next_multiple_of(8) };
        }
        assert!(at == bytes.len() || (at + 16 > bytes.len() && at < bytes.len() && !seen.contains(&0)));
        assert!(bytes.len() >= 4096 && bytes.len().is_multiple_of(8));
        assert_eq!(
            global::decode(&bytes, file.widths()).unwrap().len(),
            seen.iter().filter(|index| **index > 0).count()
        );
    }
}

fn value(random: &mut fastrand::Rng) -> Vec<u8> {
    let most = [1, 20, 100, 4100][random.usize(..4)];
    let length = random.usize(..most);
    std::iter::repeat_with(|| random.u8(..)).take(length).collect()
}

#[test]
fn any_changes_leave_what_a_map_has() {
    for seed in 0..10 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (mut storage, mut file) = new_file(KS);
        let (mut heap, mut model) = (GlobalHeap::default(), Model::new());
        for _ in 0..30 {
            for _ in 0..random.usize(1..150) {
                let value = value(&mut random);
                let place = heap.add(&file, &value).unwrap();
                assert!(model.insert(place, value).is_none());
            }
            heap.commit(&file).unwrap();
            check(&file, &model);
            let share = random.f32();
            let gone: Vec<_> = model.keys().copied().filter(|_| random.f32() < share).collect();
            for (collection, index) in gone {
                model.remove(&(collection, index));
                heap.remove(&file, collection, index);
            }
            if random.bool() {
                heap.commit(&file).unwrap();
                check(&file, &model);
            }
            file.flush().unwrap();
            check(&file, &model);
            if random.u8(..4) == 0 {
                heap.commit(&file).unwrap();
                file.close().unwrap();
                (storage, file) = open(storage.content());
                heap = GlobalHeap::default();
                check(&file, &model);
            }
        }
        assert!(file.end() < 1 << 20, "{} bytes for {} values", file.end(), model.len());
        drop(storage);
    }
}

#[test]
fn what_was_flushed_is_read_after_every_single_write() {
    for seed in 0..10 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (storage, file) = new_file(KS);
        let (mut heap, mut model) = (GlobalHeap::default(), Model::new());
        for _ in 0..12 {
            let (before, flushed) = (storage.content(), model.clone());
            storage.take();
            for _ in 0..random.usize(1..80) {
                let value = value(&mut random);
                let place = heap.add(&file, &value).unwrap();
                model.insert(place, value);
            }
            heap.commit(&file).unwrap();
            for (collection, index) in flushed.keys().filter(|_| random.bool()) {
                model.remove(&(*collection, *index));
                heap.remove(&file, *collection, *index);
            }
            heap.commit(&file).unwrap();
            file.flush().unwrap();
            prefixes(&before, &storage.take(), |_, bytes| check(&open(bytes.to_vec()).1, &flushed));
        }
    }
}

#[test]
fn what_takes_the_space_of_a_failed_attempt_keeps_its_objects() {
    let (_, file) = new_file(KS);
    let (mut heap, mut model) = (GlobalHeap::default(), Model::new());
    let (size, room) = (100 * 4096, file.allocate(Kind::Raw, 100 * 4096).unwrap());
    file.allocate(Kind::Raw, 8).unwrap();
    file.free_values(room, size).unwrap();
    file.flush().unwrap();
    // More collections than are kept in memory.
    let failed = file.tentative(|| -> hyperslab_file::Result<()> {
        let mut pile = Pile::new(file.widths());
        for _ in 0..100 {
            pile.add(&[1; 4000])?;
        }
        heap.adopt(&file, pile)?;
        heap.commit(&file)?;
        Err(hyperslab_file::Error::broken("test", 0, "it fails"))
    });
    failed.unwrap_err();
    heap.undo(&file);
    for nth in 0..100 {
        let value = vec![nth; 4000];
        model.insert(heap.add(&file, &value).unwrap(), value);
    }
    for _ in 0..2 {
        heap.commit(&file).unwrap();
        file.flush().unwrap();
    }
    check(&file, &model);
    let free: Vec<u64> = (0..100).map(|_| file.allocate(Kind::Raw, 4096).unwrap()).collect();
    assert!(model.keys().all(|(address, _)| !free.contains(address)), "a collection lies in free space");
}

#[test]
fn a_collection_whose_objects_are_gone_gives_its_space_back() {
    let (_, file) = new_file(KS);
    let mut heap = GlobalHeap::default();
    let mut ends = Vec::new();
    for _ in 0..4 {
        let places: Vec<_> = (0..1000).map(|nth: u32| heap.add(&file, &nth.to_le_bytes()).unwrap()).collect();
        heap.commit(&file).unwrap();
        file.flush().unwrap();
        for (collection, index) in places {
            heap.remove(&file, collection, index);
        }
        file.flush().unwrap();
        heap.commit(&file).unwrap();
        file.flush().unwrap();
        ends.push(file.end());
    }
    assert_eq!(ends[0], ends[3]);
}

#[test]
fn a_large_value_has_a_collection_of_its_size() {
    let (_, file) = new_file(KS);
    let mut heap = GlobalHeap::default();
    let small = heap.add(&file, b"small").unwrap();
    let large = heap.add(&file, &[7; 10_000]).unwrap();
    let other = heap.add(&file, b"other").unwrap();
    heap.commit(&file).unwrap();
    assert_eq!((small.0, 2), other);
    assert_eq!(Collection::read(&file, large.0).unwrap().size(), 16 + 16 + 10_000);
    check(&file, &Model::from([(small, b"small".to_vec()), (large, vec![7; 10_000]), (other, b"other".to_vec())]));
}
