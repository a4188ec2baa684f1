//! Structures of a file, each at every place that has its signature: a whole file is the input, so that addresses in it lead somewhere.

use std::cmp::Ordering;
use std::sync::Arc;

use hyperslab_base::Width;
use hyperslab_file::{Error, Header, OpenFile};
use hyperslab_format::heap::global;
use hyperslab_format::index::ChunkElement;
use hyperslab_format::{shared_messages as table, virtual_mapping};
use hyperslab_structures::fractal_heap::Unfilter;
use hyperslab_structures::{Collection, FractalHeap, LocalHeap, Tree, chunks, group_tree};

use crate::messages;
use crate::opened::{at_each, at_places};

/// Things that are looked up.
const LOOKUPS: u64 = 40;

/// What an index may keep of a chunk.
const ELEMENTS: [ChunkElement; 6] = [
    ChunkElement::Plain { chunk_bytes: 24 },
    ChunkElement::Filtered { size_width: Width::W2 },
    ChunkElement::Filtered { size_width: Width::W8 },
    ChunkElement::Structured { size_width: Width::W2, sections: 2, filtered: false },
    ChunkElement::Structured { size_width: Width::W4, sections: 2, filtered: true },
    ChunkElement::Structured { size_width: Width::W8, sections: 3, filtered: true },
];

/// Headers of both versions, and every message in them.
pub fn object_header(bytes: &[u8]) {
    let read = |file: &OpenFile, place| {
        let header = Header::read(file, place)?;
        header.messages().for_each(|message| messages::header(message.kind, header.body(message), file.widths()));
        Ok(())
    };
    at_each(bytes, b"OHDR", read);
    // The first version has no signature: a version, a zero, and few messages.
    let is_header = |window: &[u8]| matches!(window, [1, 0, _, 0, 1..=9, 0, 0, 0]);
    let old = bytes.windows(8).enumerate().filter(|(_, window)| is_header(window)).map(|(place, _)| place as u64);
    at_places(bytes, &old.take(8).collect::<Vec<_>>(), read);
}

pub fn local_heap(bytes: &[u8]) {
    at_each(bytes, b"HEAP", |file, place| {
        let heap = LocalHeap::open(file, place)?;
        for place in (0..LOOKUPS).chain([u64::MAX]) {
            let found = heap.string(place);
            let order = heap.compare(place, b"some name");
            assert_eq!(found.ok().map(|found| found.cmp(b"some name")), order.ok());
        }
        Ok(())
    });
}

pub fn global_heap(bytes: &[u8]) {
    at_each(bytes, b"GCOL", |file, place| {
        let collection = Collection::read(file, place)?;
        for index in 0..LOOKUPS as u32 {
            let Ok(object) = collection.get(index) else { continue };
            let mut object = object.to_vec();
            messages::with_checksum(&mut object, |object| virtual_mapping::decode(object, file.widths()).map(drop));
        }
        assert!(collection.size() >= global::head_size(file.widths()) || collection.get(1).is_err());
        Ok(())
    });
}

fn no_filters() -> Arc<Unfilter> {
    Arc::new(|_, bytes, _, _| Ok(bytes))
}

pub fn fractal_heap(bytes: &[u8]) {
    // Ids are what stands at the end: whatever the fuzzer likes.
    let ids: Vec<[u8; 8]> = bytes.rchunks_exact(8).take(8).filter_map(|id| id.try_into().ok()).collect();
    at_each(bytes, b"FRHP", |file, place| {
        let heap = FractalHeap::open(file, place, no_filters())?;
        let mut result = Ok(());
        let managed = (0..LOOKUPS).map(|step| {
            let mut id = [0; 8];
            id[1..].copy_from_slice(&(step * 21 + 13).to_le_bytes()[..7]);
            id[6] = 4;
            id
        });
        for mut id in managed.chain(ids.iter().copied()) {
            id[0] &= 0x3f;
            result = result.and(heap.get(file, &id).map(drop));
        }
        result
    });
}

pub fn group_tree(bytes: &[u8]) {
    let heap = bytes.windows(4).position(|window| window == b"HEAP").unwrap_or(0) as u64;
    at_each(bytes, b"TREE", |file, place| {
        group_tree::for_each(file, place, &mut |_| Ok(()))?;
        let heap = LocalHeap::open(file, heap)?;
        group_tree::find(file, place, &heap, b"a").map(drop)
    });
}

pub fn chunk_tree(bytes: &[u8]) {
    for rank in [1, 2, 32] {
        at_each(bytes, b"TREE", |file, place| {
            let tree = chunks::btree_v1::ChunkTree::new(place, rank);
            tree.find_sorted(file, &[vec![0; rank], vec![4; rank]], &mut |_, _| ())?;
            tree.for_each(file, &mut |_| Ok(()))
        });
    }
}

pub fn btree_v2(bytes: &[u8]) {
    let every: Vec<u8> = (0..=u8::MAX).collect();
    at_each(bytes, b"BTHD", |file, place| {
        let tree = Tree::open(file, place, &every)?;
        let mut records = 0;
        tree.for_each(file, &mut |_| {
            records += 1;
            Ok(())
        })?;
        assert!(records <= tree.len());
        for wanted in 0..LOOKUPS as u8 {
            let mut order = |record: &[u8]| Ok(record.first().map_or(Ordering::Equal, |first| first.cmp(&wanted)));
            tree.find(file, &mut order, |_| Ok(()))?;
        }
        Ok(())
    });
    for (rank, element) in [1, 2, 32].into_iter().flat_map(|rank| ELEMENTS.map(|element| (rank, element))) {
        at_each(bytes, b"BTHD", |file, place| {
            let tree = chunks::btree_v2::ChunkTree::open(file, place, rank, element)?;
            tree.find_sorted(file, &[vec![0; rank], vec![1; rank]], &mut |_, _| ())?;
            tree.for_each(file, &mut |_| Ok(()))
        });
    }
}

pub fn fixed_array(bytes: &[u8]) {
    for element in ELEMENTS {
        at_each(bytes, b"FAHD", |file, place| {
            let array = chunks::fixed_array::ChunkArray::open(file, place, element)?;
            numbers(array.len()).try_for_each(|number| array.get(file, number).map(drop))
        });
    }
}

pub fn extensible_array(bytes: &[u8]) {
    for element in ELEMENTS {
        at_each(bytes, b"EAHD", |file, place| {
            let array = chunks::extensible_array::ChunkArray::open(file, place, element)?;
            numbers(array.len()).try_for_each(|number| array.get(file, number).map(drop))
        });
    }
}

/// The first numbers, the last, and some between.
fn numbers(count: u64) -> impl Iterator<Item = u64> {
    let powers = (0..64).flat_map(|power| [(1u64 << power) - 1, 1 << power]);
    (0..LOOKUPS).chain(powers).chain([count.wrapping_sub(1), count, u64::MAX])
}

pub fn shared_messages(bytes: &[u8]) {
    at_each(bytes, b"SMTB", |file, place| {
        for indexes in [1, 2, 8, 255] {
            let size = table::table_size(indexes, file.widths()) as u64;
            let there = file.end().saturating_sub(place).min(size);
            let bytes = file.metadata("shared message table", place, there)?;
            table::decode_table(&bytes, indexes, file.widths()).map_err(Error::at(place))?;
        }
        Ok(())
    });
}
