//! Old-style groups that change, against a map of names.

use std::collections::BTreeMap;

use hyperslab_driver::Change;
use hyperslab_file::OpenFile;
use hyperslab_format::{btree_v1, message::Target, symbol_table, symbol_table::Cache};
use hyperslab_structures::{LocalHeap, group_tree};

use crate::common::{Ks, Played, new_file, open, prefixes};

type Model = BTreeMap<Vec<u8>, Option<u64>>;

/// All links, in the order of the tree; soft links have a target that tells their name.
fn links(file: &OpenFile, root: u64, heap: u64) -> Vec<(Vec<u8>, Option<u64>)> {
    let heap = LocalHeap::open(file, heap).unwrap();
    let mut found = Vec::new();
    group_tree::for_each(file, root, &mut |entry| {
        let name = heap.string(entry.name)?.to_vec();
        if let Cache::SoftLink(target) = entry.cache {
            assert_eq!(heap.string(target.into())?, [b"to ", &name[..]].concat());
        }
        found.push((name, entry.header));
        Ok(())
    })
    .unwrap();
    found
}

/// Order of names, keys around children, neighbours, levels, counts.
fn check_nodes(file: &OpenFile, root: u64, heap: u64) {
    let (heap, widths) = (LocalHeap::open(file, heap).unwrap(), file.widths());
    let (k, leaf_k) = (file.superblock().group_internal_k, file.superblock().group_leaf_k);
    let size = btree_v1::node_size(k, widths.lengths.bytes(), widths) as u64;
    let read = |address| btree_v1::decode_group(&file.metadata("node", address, size).unwrap(), widths).unwrap();
    let mut row = vec![root];
    loop {
        let nodes: Vec<_> = row.iter().map(|&address| read(address)).collect();
        for (nth, node) in nodes.iter().enumerate() {
            assert_eq!(node.left, nth.checked_sub(1).map(|left| row[left]));
            assert_eq!(node.right, row.get(nth + 1).copied());
            assert_eq!(node.level, nodes[0].level);
            assert!(node.entries.len() <= 2 * usize::from(k));
            assert!(!node.entries.is_empty() || (node.level == 0 && row.len() == 1));
            if let Some(next) = nodes.get(nth + 1) {
                assert_eq!(node.last, Some(next.entries[0].0), "neighbours share a key");
            }
            let keys: Vec<u64> = node.entries.iter().map(|(key, _)| *key).chain(node.last).collect();
            let keys: Vec<_> = keys.iter().map(|&key| heap.string(key).unwrap()).collect();
            if !node.entries.is_empty() {
                assert!(keys.is_sorted_by(|left, right| left < right), "{keys:?}");
            }
            for (nth, (_, child)) in node.entries.iter().enumerate() {
                if node.level == 0 {
                    let size = symbol_table::node_size(leaf_k, widths) as u64;
                    let bytes = file.metadata("symbols", *child, size).unwrap();
                    let names = symbol_table::decode_node(&bytes, widths).unwrap();
                    let names: Vec<_> = names.iter().map(|entry| heap.string(entry.name).unwrap()).collect();
                    assert!(!names.is_empty() && names.is_sorted_by(|left, right| left < right));
                    assert!(keys[nth] < names[0]);
                    assert_eq!(keys[nth + 1], names[names.len() - 1], "the key is the last name, which lives");
                } else {
                    let below = read(*child);
                    assert_eq!(heap.string(below.entries[0].0).unwrap(), keys[nth]);
                    assert_eq!(heap.string(below.last.unwrap()).unwrap(), keys[nth + 1]);
                }
            }
        }
        if nodes[0].level == 0 {
            return;
        }
        row = nodes.iter().flat_map(|node| node.entries.iter().map(|(_, child)| *child)).collect();
    }
}

fn name(random: &mut fastrand::Rng, most: u32) -> Vec<u8> {
    let number = random.u32(..most);
    format!("{}{number}", "n".repeat(number as usize % 23)).into_bytes()
}

/// Does something to the group and to the model.
fn step(file: &OpenFile, (root, heap): (u64, u64), model: &mut Model, random: &mut fastrand::Rng, adds: f32) {
    let name = name(random, 400);
    let mut heap = LocalHeap::open(file, heap).unwrap();
    file.operate(|| {
        let header = random.bool().then(|| random.u64(1..1 << 40));
        let to = [b"to ", &name[..]].concat();
        let known = model.contains_key(&name);
        assert_eq!(group_tree::find(file, root, &heap, &name)?.is_some(), known);
        if random.f32() < adds {
            if known && random.bool() {
                assert!(group_tree::insert(file, root, &mut heap, &name, &Target::Hard(1)).is_err());
                return Ok(());
            }
            if known {
                let link = match header {
                    Some(_) => (header, Cache::Nothing),
                    None => (header, Cache::SoftLink(heap.add(file, &to)? as u32)),
                };
                assert!(group_tree::replace(file, root, &heap, &name, link)?.is_some());
            } else {
                let target = header.map_or(Target::Soft(to), Target::Hard);
                group_tree::insert(file, root, &mut heap, &name, &target)?;
            }
            model.insert(name.clone(), header);
        } else {
            let removed = group_tree::remove(file, root, &heap, &name)?;
            assert_eq!(removed.map(|removed| removed.entry.header), model.remove(&name));
        }
        Ok::<_, hyperslab_file::Error>(())
    })
    .unwrap();
}

fn new_group(file: &OpenFile) -> (u64, u64) {
    file.operate(|| {
        let heap = LocalHeap::create(file, 88)?;
        Ok::<_, hyperslab_file::Error>((group_tree::create(file)?, heap.address()))
    })
    .unwrap()
}

const KS: [(u16, u16); 6] = [(1, 1), (1, 2), (2, 1), (4, 16), (3, 2), (2, 3)];

#[test]
fn any_changes_leave_what_a_map_has() {
    for (seed, (leaf, internal)) in KS.into_iter().enumerate() {
        let mut random = fastrand::Rng::with_seed(seed as u64);
        let (mut storage, mut file) = new_file(Ks { leaf, internal, chunks: 32 });
        let group = new_group(&file);
        let mut model = Model::new();
        for phase in 0..24 {
            let adds = [0.9, 0.5, 0.1, 0.7][phase % 4];
            for _ in 0..random.usize(1..300) {
                step(&file, group, &mut model, &mut random, adds);
            }
            check_nodes(&file, group.0, group.1);
            let all: Vec<_> = model.clone().into_iter().collect();
            assert_eq!(links(&file, group.0, group.1), all);
            if random.bool() {
                file.flush().unwrap();
                check_nodes(&file, group.0, group.1);
            } else {
                file.close().unwrap();
                (storage, file) = open(storage.content());
            }
            assert_eq!(links(&file, group.0, group.1), all);
        }
        let names: Vec<_> = model.keys().cloned().collect();
        for name in names {
            let heap = LocalHeap::open(&file, group.1).unwrap();
            assert!(group_tree::remove(&file, group.0, &heap, &name).unwrap().is_some());
        }
        check_nodes(&file, group.0, group.1);
        assert_eq!(links(&file, group.0, group.1), []);
        file.flush().unwrap();
        let _ = storage;
    }
}

#[test]
fn names_that_come_and_go_do_not_make_the_heap_grow() {
    let (_, file) = new_file(Ks { leaf: 4, internal: 16, chunks: 32 });
    let group = new_group(&file);
    let size = || {
        let bytes = file.metadata("heap", group.1, 32).unwrap();
        u64::from_le_bytes(bytes[8..16].try_into().unwrap())
    };
    for round in 0..200 {
        for nth in 0..20 {
            let mut heap = LocalHeap::open(&file, group.1).unwrap();
            let name = format!("some name {nth} of {round}").into_bytes();
            group_tree::insert(&file, group.0, &mut heap, &name, &Target::Hard(7)).unwrap();
        }
        file.flush().unwrap();
        for nth in 0..20 {
            let heap = LocalHeap::open(&file, group.1).unwrap();
            let name = format!("some name {nth} of {round}").into_bytes();
            group_tree::remove(&file, group.0, &heap, &name).unwrap().unwrap();
        }
        file.flush().unwrap();
    }
    assert!(size() <= 2048, "{}", size());
}

#[test]
fn a_name_costs_what_it_takes_in_a_large_group() {
    let (storage, file) = new_file(Ks { leaf: 4, internal: 16, chunks: 32 });
    let group = new_group(&file);
    let add = |nth: u32| {
        let mut heap = LocalHeap::open(&file, group.1).unwrap();
        let name = format!("a long name with a number {nth}");
        let target = Target::Soft(format!("to {name}").into_bytes());
        file.operate(|| group_tree::insert(&file, group.0, &mut heap, name.as_bytes(), &target)).unwrap();
    };
    (0..20_000).for_each(add);
    file.flush().unwrap();
    storage.take();
    for nth in 20_000..20_010 {
        add(nth);
        file.flush().unwrap();
    }
    file.close().unwrap();
    let written = |change: &Change| if let Change::Write { bytes, .. } = change { bytes.len() } else { 0 };
    let written: usize = storage.take().iter().map(written).sum();
    assert!(written < 50_000, "{written} bytes for ten names");
    let (_, file) = open(storage.content());
    assert_eq!(links(&file, group.0, group.1).len(), 20_010);
}

#[test]
fn what_was_flushed_is_found_after_every_single_write() {
    for (seed, (leaf, internal)) in KS.into_iter().cycle().take(30).enumerate() {
        let mut random = fastrand::Rng::with_seed(1000 + seed as u64);
        let (storage, file) = new_file(Ks { leaf, internal, chunks: 32 });
        let group = new_group(&file);
        let mut model = Model::new();
        for round in 0..8 {
            storage.take();
            let (before, flushed) = (storage.content(), model.clone());
            let mut touched = Vec::new();
            for _ in 0..random.usize(1..if round == 0 { 200 } else { 60 }) {
                let old = model.clone();
                step(&file, group, &mut model, &mut random, [0.8, 0.3][round % 2]);
                touched
                    .extend(old.iter().filter(|(name, to)| model.get(*name) != Some(to)).map(|(name, _)| name.clone()));
            }
            file.flush().unwrap();
            if round == 0 {
                continue;
            }
            prefixes(&before, &storage.take(), |nth, bytes| {
                let (_, file) = open(bytes.to_vec());
                let found = links(&file, group.0, group.1);
                let heap = LocalHeap::open(&file, group.1).unwrap();
                for (name, to) in flushed.iter().filter(|(name, _)| !touched.contains(name)) {
                    assert!(found.contains(&(name.clone(), *to)), "{nth}: {}", String::from_utf8_lossy(name));
                    let entry = group_tree::find(&file, group.0, &heap, name).unwrap();
                    assert_eq!(entry.map(|entry| entry.header), Some(*to));
                }
            });
        }
    }
}
