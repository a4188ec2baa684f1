//! Chunks of every kind in B-trees of the second version that change, held against a map, with files closed and opened again in between.

use std::{collections::BTreeMap, sync::Arc};

use hyperslab_driver::{Driver, Memory};
use hyperslab_file::OpenFile;
use hyperslab_format::{ChunkEntry, index::ChunkElement};
use hyperslab_structures::chunks::btree_v2::ChunkTree;

use crate::arrays::{again, elements, new_file, some_chunk};

type Model = BTreeMap<Vec<u64>, ChunkEntry>;

fn all(tree: &ChunkTree, file: &OpenFile) -> Model {
    let mut all = Model::new();
    tree.for_each(file, &mut |entry| {
        assert!(all.insert(entry.start.clone(), entry).is_none());
        Ok(())
    })
    .unwrap();
    all
}

fn change(tree: &mut ChunkTree, file: &OpenFile, element: ChunkElement, model: &mut Model, random: &mut fastrand::Rng) {
    let mut changes = BTreeMap::new();
    for _ in 0..random.usize(1..80) {
        let place = vec![random.u64(..30), random.u64(..30)];
        let is_there = random.u8(..3) > 0;
        let chunk = if is_there { some_chunk(element, |end| random.u64(..end)) } else { element.nothing() };
        changes.insert(place, chunk);
    }
    for (place, chunk) in &changes {
        match chunk.address {
            Some(_) => model.insert(place.clone(), chunk.clone().at(place.clone())),
            None => model.remove(place),
        };
    }
    tree.set_all(file, &changes.into_iter().collect::<Vec<_>>()).unwrap();
    let places: Vec<Vec<u64>> = (0..30).map(|row| vec![row, random.u64(..30)]).collect();
    let mut found = vec![None; places.len()];
    tree.find_sorted(file, &places, &mut |nth, entry| found[nth] = Some(entry)).unwrap();
    assert!(places.iter().zip(&found).all(|(place, entry)| entry.as_ref() == model.get(place)));
}

#[test]
fn chunk_trees_follow_their_changes() {
    for (element, seed) in elements().into_iter().flat_map(|element| (0..3).map(move |seed| (element, seed))) {
        let storage: Arc<dyn Driver> = Arc::new(Memory::new());
        let (mut file, mut random, mut model) =
            (new_file(storage.clone()), fastrand::Rng::with_seed(seed), Model::new());
        let mut tree = ChunkTree::create(&file, 2, element, (512, 100, 40)).unwrap();
        let address = tree.address();
        for round in 0..40 {
            change(&mut tree, &file, element, &mut model, &mut random);
            assert_eq!(all(&tree, &file), model);
            if round % 8 == 7 {
                file.close().unwrap();
                file = again(&storage);
                tree = ChunkTree::open(&file, address, 2, element).unwrap();
                assert_eq!(all(&tree, &file), model, "read anew");
            }
        }
        for other in elements().into_iter().filter(|other| *other != element) {
            assert!(ChunkTree::open(&file, address, 2, other).is_err(), "{element:?} read as {other:?}");
        }
        tree.delete(&file).unwrap();
        file.close().unwrap();
    }
}
