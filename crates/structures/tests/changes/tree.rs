//! The second kind of B-tree against a `BTreeMap`.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use hyperslab_file::{Error, OpenFile};
use hyperslab_format::index::btree_v2::{BtreeV2, Pointer};
use hyperslab_structures::{Entry, Occupied, Tree, Vacant};

use crate::changes::tape::new_file;

const KIND: u8 = 5;
type Twin = BTreeMap<u32, Vec<u8>>;

fn key(record: &[u8]) -> u32 {
    u32::from_be_bytes(record[..4].try_into().unwrap())
}

fn order(wanted: u32) -> impl FnMut(&[u8]) -> Result<std::cmp::Ordering, Error> {
    move |record| Ok(key(record).cmp(&wanted))
}

fn record(key: u32, size: usize, rng: &mut Rng) -> Vec<u8> {
    let mut record = key.to_be_bytes().to_vec();
    record.extend((4..size).map(|_| rng.u8(..)));
    record
}

fn all(file: &OpenFile, address: u64) -> Twin {
    let mut records = Twin::new();
    let mut last = None;
    let tree = Tree::open(file, address, &[KIND]).unwrap();
    tree.for_each(file, &mut |record| {
        assert!(last.is_none_or(|last| last < key(record)), "out of order");
        last = Some(key(record));
        records.insert(key(record), record.to_vec());
        Ok(())
    })
    .unwrap();
    assert_eq!(tree.len(), records.len() as u64);
    records
}

/// Looks whether all nodes are as libhdf5 wants to find them; gives the depth.
fn check(file: &OpenFile, address: u64) -> u16 {
    let bytes = file.metadata("header", address, BtreeV2::size(file.widths()) as u64).unwrap();
    let header = BtreeV2::decode(&bytes, file.widths()).unwrap();
    if header.records == 0 {
        assert_eq!((header.root.address, header.depth), (None, 0));
    } else {
        let mut seen = BTreeSet::new();
        let below = check_node(file, &header, header.root, header.depth, &mut seen);
        assert_eq!(below, header.records);
    }
    header.depth
}

fn check_node(file: &OpenFile, header: &BtreeV2, at: Pointer, level: u16, seen: &mut BTreeSet<u64>) -> u64 {
    let address = at.address.unwrap();
    assert!(seen.insert(address), "a node twice");
    let most = header.max_records(level).unwrap() * u64::from(header.split) / 100;
    assert!((1..=most).contains(&at.records), "{} records at level {level}", at.records);
    let bytes = file.metadata("node", address, header.node_size.into()).unwrap();
    let node = header.decode_node(&bytes, level, at.records, file.widths()).unwrap();
    let below =
        node.children.iter().map(|child| check_node(file, header, *child, level - 1, seen)).sum::<u64>() + at.records;
    assert_eq!(below, at.below);
    below
}

/// A long history: grows, stays, shrinks, with flushes and new handles in between.
fn history(seed: u64, record_size: usize, node_size: u32, (split, merge): (u8, u8), operations: usize) -> u16 {
    let mut rng = Rng::with_seed(seed);
    let (tape, mut file) = new_file();
    let address = Tree::create(&file, KIND, record_size, node_size, split, merge).unwrap().address();
    let (mut twin, mut depth) = (Twin::new(), 0);
    for nth in 0..operations {
        let mut tree = Tree::open(&file, address, &[KIND]).unwrap();
        let growing = if nth < operations / 2 { 0.75 } else { 0.3 };
        let wanted = rng.u32(..operations as u32);
        if rng.f64() < growing && rng.bool() {
            let record = record(wanted, record_size, &mut rng);
            file.operate(|| tree.put(&file, &record, &mut order(wanted))).unwrap();
            twin.insert(wanted, record);
        } else if rng.f64() < growing {
            let record = record(wanted, record_size, &mut rng);
            let inserted = file.operate(|| tree.insert(&file, &record, &mut order(wanted)));
            assert_eq!(inserted.is_ok(), twin.insert(wanted, record.clone()).is_none(), "{inserted:?}");
            if inserted.is_err() {
                let replace = &mut |old: &mut [u8]| old.copy_from_slice(&record);
                assert!(tree.modify(&file, &mut order(wanted), replace).unwrap());
            }
        } else {
            // A key that is there, mostly.
            let there = twin.range(wanted..).next().map_or(wanted, |(key, _)| *key);
            let removed = tree.remove(&file, &mut order(there)).unwrap();
            assert_eq!(removed, twin.remove(&there));
            assert!(!tree.modify(&file, &mut order(there), &mut |_| ()).unwrap());
        }
        if rng.u32(..100) == 0 {
            file.flush().unwrap();
        }
        if rng.u32(..200) == 0 {
            depth = depth.max(check(&file, address));
            assert_eq!(all(&file, address), twin);
        }
        if rng.u32(..500) == 0 {
            file.close().unwrap();
            file = tape.again();
        }
    }
    let mut left: Vec<u32> = twin.keys().copied().collect();
    rng.shuffle(&mut left);
    let mut tree = Tree::open(&file, address, &[KIND]).unwrap();
    for key in left {
        assert_eq!(tree.remove(&file, &mut order(key)).unwrap(), twin.remove(&key));
    }
    assert!(tree.is_empty());
    check(&file, address);
    depth
}

#[test]
fn a_long_history() {
    for seed in 0..4 {
        history(seed, 11, 512, (100, 40), 4000);
    }
    // Few records in a node make deep trees.
    assert!(history(10, 11, 90, (100, 40), 4000) >= 5);
    assert!(history(11, 24, 140, (100, 40), 3000) >= 5);
    history(12, 11, 256, (90, 30), 3000);
    history(13, 11, 200, (75, 25), 3000);
}

/// Level and number of records of every node, in order.
fn shape(file: &OpenFile, address: u64) -> Vec<(u16, u64)> {
    fn walk(file: &OpenFile, header: &BtreeV2, at: Pointer, level: u16, shape: &mut Vec<(u16, u64)>) {
        let Some(address) = at.address else { return };
        shape.push((level, at.records));
        let bytes = file.metadata("node", address, header.node_size.into()).unwrap();
        let node = header.decode_node(&bytes, level, at.records, file.widths()).unwrap();
        node.children.iter().for_each(|child| walk(file, header, *child, level - 1, shape));
    }
    let bytes = file.metadata("header", address, BtreeV2::size(file.widths()) as u64).unwrap();
    let (header, mut nodes) = (BtreeV2::decode(&bytes, file.widths()).unwrap(), Vec::new());
    walk(file, &header, header.root, header.depth, &mut nodes);
    nodes
}

/// Any number of records at once, then single ones that come and go.
#[test]
fn a_tree_that_is_filled_at_once_goes_on_as_others_do() {
    for node_size in [90, 128, 512] {
        for count in (0..60).chain([100, 333, 1000, 5000]) {
            let (_, file) = new_file();
            let mut rng = Rng::with_seed(count.into());
            let mut twin: Twin = (0..count).map(|key| (2 * key, record(2 * key, 11, &mut rng))).collect();
            let mut tree = Tree::create(&file, KIND, 11, node_size, 100, 40).unwrap();
            tree.fill_empty(&file, &twin.values().flatten().copied().collect::<Vec<u8>>()).unwrap();
            let filled = !twin.is_empty();
            assert_eq!(
                tree.fill_empty(&file, &record(1, 11, &mut rng)).is_err(),
                filled,
                "only an empty tree is filled"
            );
            if !filled {
                tree.remove(&file, &mut order(1)).unwrap().unwrap();
            }
            check(&file, tree.address());
            assert_eq!(all(&file, tree.address()), twin);
            for _ in 0..60 {
                let (new, old) = (2 * rng.u32(..5000) + 1, 2 * rng.u32(..count.max(1)));
                let record = record(new, 11, &mut rng);
                tree.put(&file, &record, &mut order(new)).unwrap();
                twin.insert(new, record);
                assert_eq!(tree.remove(&file, &mut order(old)).unwrap(), twin.remove(&old));
            }
            check(&file, tree.address());
            assert_eq!(all(&file, tree.address()), twin);
        }
    }
}

/// Batches of new and of other records, with removals, flushes and reopenings in between.
#[test]
fn many_at_once_give_the_tree_that_one_by_one_gives() {
    for (seed, node_size) in [(0, 512), (1, 90), (2, 128), (3, 200)] {
        let mut rng = Rng::with_seed(seed);
        let mut files = [new_file(), new_file()];
        let addresses =
            files.each_ref().map(|(_, file)| Tree::create(file, KIND, 11, node_size, 100, 40).unwrap().address());
        let mut twin = Twin::new();
        for _ in 0..60 {
            let (from, most) = (rng.u32(..5000), rng.u32(1..400));
            let step = rng.u32(1..20);
            let batch: Twin = (0..rng.u32(1..most + 1))
                .map(|nth| from + nth * step)
                .map(|key| (key, record(key, 11, &mut rng)))
                .collect();
            let gone: Vec<u32> = twin.keys().copied().filter(|_| rng.u32(..10) == 0).collect();
            for (nth, ((tape, file), address)) in files.iter_mut().zip(addresses).enumerate() {
                let mut tree = Tree::open(&*file, address, &[KIND]).unwrap();
                if nth == 0 {
                    let records = batch.values().flatten().copied().collect::<Vec<u8>>();
                    tree.put_sorted(file, &records, &|stored, record| key(stored).cmp(&key(record))).unwrap();
                } else {
                    batch.values().for_each(|record| tree.put(file, record, &mut order(key(record))).unwrap());
                }
                for key in &gone {
                    assert!(tree.remove(file, &mut order(*key)).unwrap().is_some());
                }
                check(file, address);
                match from % 4 {
                    0 => file.flush().unwrap(),
                    1 => {
                        file.close().unwrap();
                        *file = tape.again();
                    }
                    _ => {}
                }
            }
            twin.extend(batch);
            twin.retain(|key, _| !gone.contains(key));
            for ((_, file), address) in files.iter().zip(addresses) {
                assert_eq!(all(file, address), twin);
            }
            assert_eq!(shape(&files[0].1, addresses[0]), shape(&files[1].1, addresses[1]));
        }
        // Records that are not in order are put one by one.
        let [(_, file), _] = &files;
        let mut tree = Tree::open(file, addresses[0], &[KIND]).unwrap();
        let records: Vec<u8> =
            [9000, 8000, 8500, 8500, 7000].iter().flat_map(|key| record(*key, 11, &mut rng)).collect();
        tree.put_sorted(file, &records, &|stored, record| key(stored).cmp(&key(record))).unwrap();
        assert_eq!(tree.len(), twin.len() as u64 + 4);
        all(file, addresses[0]);
        assert!(tree.put_sorted(file, &records[1..], &|stored, record| key(stored).cmp(&key(record))).is_err());
    }
}

/// A tree that grows costs what its leaves cost: nodes are encoded when they are written, and not by each record.
#[test]
fn records_are_added_to_fresh_nodes_in_place() {
    let (tape, file) = new_file();
    let mut tree = Tree::create(&file, KIND, 11, 512, 100, 40).unwrap();
    let mut rng = Rng::with_seed(3);
    for key in 0..2000 {
        tree.put(&file, &record(key * 2, 11, &mut rng), &mut order(key * 2)).unwrap();
    }
    let end = file.end();
    for key in (0..2000).map(|nth| nth * 7919 % 2000) {
        tree.put(&file, &record(key * 2, 11, &mut rng), &mut order(key * 2)).unwrap();
    }
    assert_eq!(file.end(), end, "what is replaced stays where it is");
    assert_eq!(tape.storage.changes().len(), 0, "nothing is written before the flush");
    file.flush().unwrap();
    // What the file names goes to new space, once.
    let one = record(100, 11, &mut rng);
    tree.put(&file, &one, &mut order(100)).unwrap();
    let end = file.end();
    tree.put(&file, &one, &mut order(100)).unwrap();
    assert_eq!(file.end(), end);
    assert_eq!(all(&file, tree.address()).get(&100), Some(&one));
}

#[test]
fn records_in_order_fill_their_nodes() {
    let (_, file) = new_file();
    let mut rng = Rng::with_seed(1);
    let mut tree = Tree::create(&file, KIND, 11, 512, 100, 40).unwrap();
    for key in 0..5000 {
        tree.insert(&file, &record(key, 11, &mut rng), &mut order(key)).unwrap();
    }
    check(&file, tree.address());
    file.flush().unwrap();
    // Neighbours take records before a node is split, so nodes are nearly full; and what was shadowed is used again.
    assert!(file.end() < 5000 / 45 * 512 * 3 / 2, "{}", file.end());
}

fn occupied(file: &OpenFile, tree: &Tree, key: u32) -> Occupied {
    match tree.entry(file, &mut order(key)).unwrap() {
        Entry::Occupied(occupied) => occupied,
        Entry::Vacant(_) => panic!("{key} is not there"),
    }
}

fn vacant(file: &OpenFile, tree: &Tree, key: u32) -> Vacant {
    match tree.entry(file, &mut order(key)).unwrap() {
        Entry::Occupied(_) => panic!("{key} is there"),
        Entry::Vacant(vacant) => vacant,
    }
}

/// What is found is used after a flush, and after other changes, when it has to be searched for again.
#[test]
fn entries_may_be_older_than_the_tree() {
    let (_, file) = new_file();
    let mut rng = Rng::with_seed(5);
    let mut tree = Tree::create(&file, KIND, 11, 128, 100, 40).unwrap();
    let mut twin = Twin::new();
    for key in (0..600).step_by(2) {
        twin.insert(key, record(key, 11, &mut rng));
        tree.insert(&file, &twin[&key], &mut order(key)).unwrap();
    }
    for key in (0..600).step_by(20) {
        let (there, free) = (occupied(&file, &tree, key), vacant(&file, &tree, key + 1));
        assert_eq!(there.record(), twin[&key]);
        file.flush().unwrap();
        assert_eq!(tree.take(&file, there, &mut order(key)).unwrap(), twin.remove(&key));
        twin.insert(key + 1, record(key + 1, 11, &mut rng));
        tree.fill(&file, free, &twin[&(key + 1)], &mut order(key + 1)).unwrap();
        let (there, gone) = (occupied(&file, &tree, key + 4), occupied(&file, &tree, key + 2));
        assert_eq!(tree.remove(&file, &mut order(key + 2)).unwrap(), twin.remove(&(key + 2)));
        assert_eq!(tree.take(&file, gone, &mut order(key + 2)).unwrap(), None);
        assert_eq!(tree.take(&file, there, &mut order(key + 4)).unwrap(), twin.remove(&(key + 4)));
        let late = vacant(&file, &tree, key + 3);
        tree.insert(&file, &record(key + 3, 11, &mut rng), &mut order(key + 3)).unwrap();
        assert!(tree.fill(&file, late, &record(key + 3, 11, &mut rng), &mut order(key + 3)).is_err());
        assert!(tree.remove(&file, &mut order(key + 3)).unwrap().is_some());
        check(&file, tree.address());
    }
    assert_eq!(all(&file, tree.address()), twin);
}

#[test]
fn what_cannot_be_is_refused_before_anything_changes() {
    let (_, file) = new_file();
    assert!(Tree::create(&file, KIND, 300, 512, 100, 40).is_err(), "one record in a node");
    assert!(Tree::create(&file, KIND, 11, 512, 100, 60).is_err());
    assert!(Tree::create(&file, KIND, 0, 512, 100, 40).is_err());
    assert!(Tree::create(&file, KIND, 1, 1 << 20, 100, 40).is_err(), "more than counts can say");
    let mut tree = Tree::create(&file, KIND, 11, 512, 100, 40).unwrap();
    for key in 0..45 {
        tree.insert(&file, &record(key, 11, &mut Rng::with_seed(1)), &mut order(key)).unwrap();
    }
    // The root is full: it would be split if the record were new.
    let again = record(7, 11, &mut Rng::with_seed(1));
    assert!(file.operate(|| tree.insert(&file, &again, &mut order(7))).is_err());
    assert!(file.operate(|| tree.insert(&file, &again[..10], &mut order(99))).is_err());
    file.flush().unwrap();
    assert_eq!(check(&file, tree.address()), 0);
}

#[test]
fn a_deleted_tree_leaves_no_space_behind() {
    let (tape, file) = new_file();
    file.close().unwrap();
    let (before, file) = (file.end(), tape.again());
    let mut rng = Rng::with_seed(2);
    for _ in 0..3 {
        let mut tree = Tree::create(&file, KIND, 11, 128, 100, 40).unwrap();
        for key in 0..1000 {
            tree.insert(&file, &record(key, 11, &mut rng), &mut order(key)).unwrap();
        }
        file.flush().unwrap();
        let mut seen = 0;
        tree.delete(&file, &mut |record| {
            assert_eq!(key(record), seen);
            seen += 1;
            Ok(())
        })
        .unwrap();
        assert_eq!(seen, 1000);
        file.flush().unwrap();
    }
    file.close().unwrap();
    assert_eq!(file.end(), before);
}

#[test]
fn after_every_single_write_the_tree_is_the_old_or_the_new_one() {
    for seed in 0..8 {
        let mut rng = Rng::with_seed(seed);
        let (mut tape, file) = new_file();
        let mut tree = Tree::create(&file, KIND, 11, 128, 100, 40).unwrap();
        let mut twin = Twin::new();
        let mut before = None;
        for _ in 0..6 {
            for _ in 0..40 {
                let wanted = rng.u32(..150);
                let record = record(wanted, 11, &mut rng);
                match twin.entry(wanted) {
                    std::collections::btree_map::Entry::Occupied(there) => {
                        there.remove();
                        tree.remove(&file, &mut order(wanted)).unwrap().unwrap();
                    }
                    std::collections::btree_map::Entry::Vacant(free) => {
                        tree.insert(&file, &record, &mut order(wanted)).unwrap();
                        free.insert(record);
                    }
                }
            }
            tape.rewind();
            file.flush().unwrap();
            if let Some(before) = &before {
                let writes = tape.play(|file| {
                    let now = all(file, tree.address());
                    check(file, tree.address());
                    assert!(now == *before || now == twin);
                });
                assert!(writes > 1);
            }
            before = Some(twin.clone());
        }
    }
}
