//! The first kind of chunk index, against a map of chunks.

use std::collections::{BTreeMap, BTreeSet};

use hyperslab_file::{Error, OpenFile};
use hyperslab_format::{ChunkEntry, btree_v1};
use hyperslab_structures::chunks::btree_v1::ChunkTree;

use crate::common::{Ks, Played, new_file, open, prefixes};

type Model = BTreeMap<Vec<u64>, ChunkEntry>;

const KS: [u16; 5] = [1, 2, 3, 32, 5];

fn all(file: &OpenFile, tree: &ChunkTree) -> Vec<ChunkEntry> {
    let mut found = Vec::new();
    tree.for_each(file, &mut |entry| {
        found.push(entry);
        Ok(())
    })
    .unwrap();
    found
}

/// Order of keys, keys around children, neighbours, levels, counts.
fn check_nodes(file: &OpenFile, root: u64, rank: usize) {
    let (k, widths) = (file.superblock().chunk_internal_k, file.widths());
    let size = btree_v1::node_size(k, btree_v1::chunk_key_size(rank), widths) as u64;
    let read = |address| btree_v1::decode_chunks(&file.metadata("node", address, size).unwrap(), rank, widths).unwrap();
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
                assert_eq!(node.last.as_ref(), Some(&next.entries[0].0), "neighbours share a key");
            }
            let keys: Vec<_> = node.entries.iter().map(|(key, _)| key).chain(&node.last).collect();
            if !node.entries.is_empty() {
                assert!(keys.is_sorted_by(|left, right| (&left.start, left.byte) < (&right.start, right.byte)));
            }
            for (nth, (key, child)) in node.entries.iter().enumerate().filter(|_| node.level > 0) {
                let below = read(*child);
                assert_eq!(&below.entries[0].0, key);
                assert_eq!(below.last.as_ref(), Some(keys[nth + 1]));
            }
        }
        if nodes[0].level == 0 {
            return;
        }
        row = nodes.iter().flat_map(|node| node.entries.iter().map(|(_, child)| *child)).collect();
    }
}

fn start(random: &mut fastrand::Rng, rank: usize) -> Vec<u64> {
    (0..rank).map(|dimension| random.u64(..[300, 20, 7][rank - 1]) * (dimension as u64 + 2)).collect()
}

fn step(file: &OpenFile, tree: &ChunkTree, rank: usize, model: &mut Model, random: &mut fastrand::Rng, adds: f32) {
    let extent: Vec<u64> = (0..rank as u64).map(|dimension| dimension + 2).chain([8]).collect();
    file.operate(|| {
        if random.f32() < adds {
            let mut chunks: Vec<ChunkEntry> = Vec::new();
            for _ in 0..random.usize(1..4) {
                let (address, size) = (Some(random.u64(1..1 << 40)), random.u64(1..5));
                chunks.push(ChunkEntry::dense(address, size, random.u32(..2)).at(start(random, rank)));
            }
            let replaced = tree.insert_all(file, &extent, &chunks)?;
            let known = chunks.into_iter().filter_map(|chunk| model.insert(chunk.start.clone(), chunk));
            assert_eq!(replaced, known.collect::<Vec<_>>());
        } else {
            let starts: Vec<Vec<u64>> = (0..random.usize(1..9)).map(|_| start(random, rank)).collect();
            let known: Vec<_> = starts.iter().filter_map(|start| model.remove(start)).collect();
            assert_eq!(tree.remove_all(file, &starts)?, known);
        }
        Ok::<_, Error>(())
    })
    .unwrap();
}

#[test]
fn any_changes_leave_what_a_map_has() {
    for (seed, k) in KS.into_iter().cycle().take(10).enumerate() {
        let (mut random, rank) = (fastrand::Rng::with_seed(seed as u64), seed % 3 + 1);
        let (mut storage, mut file) = new_file(Ks { leaf: 4, internal: 16, chunks: k });
        let mut tree = file.operate(|| ChunkTree::create(&file, rank)).unwrap();
        let mut model = Model::new();
        for phase in 0..20 {
            let adds = [0.9, 0.5, 0.1, 0.7][phase % 4];
            for _ in 0..random.usize(1..200) {
                step(&file, &tree, rank, &mut model, &mut random, adds);
            }
            check_nodes(&file, tree.root(), rank);
            let now: Vec<_> = model.values().cloned().collect();
            assert_eq!(all(&file, &tree), now);
            if random.bool() {
                file.flush().unwrap();
            } else {
                file.close().unwrap();
                (storage, file) = open(storage.content());
                tree = ChunkTree::new(tree.root(), rank);
            }
            assert_eq!(all(&file, &tree), now);
            let starts: Vec<_> =
                (0..50).map(|_| start(&mut random, rank)).collect::<BTreeSet<_>>().into_iter().collect();
            let mut found = BTreeMap::new();
            tree.find_sorted(&file, &starts, &mut |nth, entry| drop(found.insert(nth, entry))).unwrap();
            for (nth, start) in starts.iter().enumerate() {
                assert_eq!(found.get(&nth), model.get(start));
            }
        }
        let starts: Vec<_> = model.keys().cloned().collect();
        assert_eq!(tree.remove_all(&file, &starts).unwrap().len(), model.len());
        check_nodes(&file, tree.root(), rank);
        assert_eq!(all(&file, &tree), []);
        file.flush().unwrap();
        drop(storage);
    }
}

#[test]
fn what_was_flushed_is_found_after_every_single_write() {
    for (seed, k) in KS.into_iter().cycle().take(20).enumerate() {
        let (mut random, rank) = (fastrand::Rng::with_seed(1000 + seed as u64), seed % 3 + 1);
        let (storage, file) = new_file(Ks { leaf: 4, internal: 16, chunks: k });
        let tree = file.operate(|| ChunkTree::create(&file, rank)).unwrap();
        let mut model = Model::new();
        for round in 0..8 {
            let (before, flushed) = (storage.content(), model.clone());
            let mut touched = BTreeSet::new();
            for _ in 0..random.usize(1..if round == 0 { 100 } else { 30 }) {
                let old = model.clone();
                step(&file, &tree, rank, &mut model, &mut random, [0.8, 0.3][round % 2]);
                touched
                    .extend(old.iter().filter(|(at, chunk)| model.get(*at) != Some(chunk)).map(|(at, _)| at.clone()));
            }
            file.flush().unwrap();
            // Much that is freed makes an operation flush the file, too.
            let changes = storage.take();
            if round == 0 {
                continue;
            }
            let kept: Vec<_> = flushed.values().filter(|chunk| !touched.contains(&chunk.start)).collect();
            let starts: Vec<_> = kept.iter().map(|chunk| &chunk.start).collect();
            prefixes(&before, &changes, |nth, bytes| {
                let (_, file) = open(bytes.to_vec());
                let tree = ChunkTree::new(tree.root(), rank);
                let mut found = Vec::new();
                tree.find_sorted(&file, &starts, &mut |_, entry| found.push(entry)).unwrap();
                assert_eq!(found.iter().collect::<Vec<_>>(), kept, "after {nth} writes");
                let all: BTreeSet<_> = all(&file, &tree).into_iter().map(|chunk| chunk.start).collect();
                assert!(starts.iter().all(|start| all.contains(*start)));
            });
        }
    }
}

/// Two children fill a node of the narrowest trees.
#[test]
fn rows_of_chunks_make_low_trees() {
    let forward: Vec<u64> = (0..3000).collect();
    let backward: Vec<u64> = (0..3000).rev().collect();
    let before_the_last: Vec<u64> = [3000].into_iter().chain(0..3000).collect();
    let from_both_ends: Vec<u64> = (0..3000).map(|nth| if nth % 2 == 0 { 3000 + nth } else { 3000 - nth }).collect();
    for (places, k) in [forward, backward, before_the_last, from_both_ends].iter().flat_map(|row| [(row, 1), (row, 2)])
    {
        let (_, file) = new_file(Ks { leaf: 4, internal: 16, chunks: k });
        let tree = file.operate(|| ChunkTree::create(&file, 1)).unwrap();
        for place in places {
            let chunk = ChunkEntry::dense(Some(place + 1), 80, 0).at(vec![place * 10]);
            file.operate(|| tree.insert_all(&file, &[10, 8], &[chunk])).unwrap();
        }
        check_nodes(&file, tree.root(), 1);
        assert_eq!(all(&file, &tree).len(), places.len());
        let size = btree_v1::node_size(k, btree_v1::chunk_key_size(1), file.widths()) as u64;
        let root = file.metadata("node", tree.root(), size).unwrap();
        let level = btree_v1::decode_chunks(&root, 1, file.widths()).unwrap().level;
        assert!(level <= 14, "{level} levels for K {k} and {:?}", &places[..3]);
    }
}

#[test]
fn a_deleted_tree_gives_its_space_back() {
    let (_, file) = new_file(Ks { leaf: 4, internal: 16, chunks: 2 });
    let chunks: Vec<_> = (0..500).map(|nth| ChunkEntry::dense(Some(nth + 1), 80, 0).at(vec![nth * 10])).collect();
    let mut ends = Vec::new();
    for _ in 0..3 {
        let tree = ChunkTree::create(&file, 1).unwrap();
        tree.insert_all(&file, &[10, 8], &chunks).unwrap();
        let mut found = Vec::new();
        tree.delete(&file, &mut |chunk| {
            found.push(chunk);
            Ok(())
        })
        .unwrap();
        assert!(found == chunks);
        file.flush().unwrap();
        ends.push(file.end());
    }
    assert_eq!(ends[0], ends[2]);
}
