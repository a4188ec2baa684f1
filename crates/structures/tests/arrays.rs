//! Fixed and extensible arrays that change, held against a map, with files closed and opened again in between.

use std::{collections::BTreeMap, sync::Arc};

use hyperslab_base::Width;
use hyperslab_driver::{Driver, Memory, Transfer};
use hyperslab_file::{CreateOptions, Kind, OpenFile, OpenOptions};
use hyperslab_format::{
    ChunkEntry, Section, Sections, index::ChunkElement, message::ArrayShape, object_header::Prefix, superblock::Root,
    version::LibVersion,
};
use hyperslab_structures::chunks::{extensible_array, fixed_array};

type Model = BTreeMap<u64, ChunkEntry>;

/// Numbers that look random and are the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

pub(crate) fn new_file(storage: Arc<dyn Driver>) -> OpenFile {
    let mut create = CreateOptions::default();
    create.libver_min = LibVersion::V110;
    let file = OpenFile::create(storage, &create, &OpenOptions::default()).unwrap();
    let header = Prefix::new(0).encode_first(&[]).unwrap();
    let address = file.allocate(Kind::Metadata, header.len() as u64).unwrap();
    file.put(address, header).unwrap();
    file.set_root(Root::Header(Some(address))).unwrap();
    file
}

pub(crate) fn again(storage: &Arc<dyn Driver>) -> OpenFile {
    OpenFile::open_writable(storage.clone(), &OpenOptions::default(), LibVersion::V110).unwrap()
}

/// What both arrays can do.
trait Array: Sized {
    fn open(file: &OpenFile, address: u64, element: ChunkElement) -> Self;
    fn address(&self) -> u64;
    fn set_all(&mut self, file: &OpenFile, chunks: &[(u64, ChunkEntry)]);
    fn set(&mut self, file: &OpenFile, number: u64, chunk: Option<ChunkEntry>);
    fn get(&self, file: &OpenFile, number: u64) -> Option<ChunkEntry>;
    fn all(&self, file: &OpenFile) -> Model;
}

macro_rules! array {
    ($array:ty) => {
        impl Array for $array {
            fn open(file: &OpenFile, address: u64, element: ChunkElement) -> Self {
                <$array>::open(file, address, element).unwrap()
            }
            fn address(&self) -> u64 {
                <$array>::address(self)
            }
            fn set_all(&mut self, file: &OpenFile, chunks: &[(u64, ChunkEntry)]) {
                <$array>::set_all(self, file, chunks).unwrap();
            }
            fn set(&mut self, file: &OpenFile, number: u64, chunk: Option<ChunkEntry>) {
                <$array>::set(self, file, number, chunk).unwrap();
            }
            fn get(&self, file: &OpenFile, number: u64) -> Option<ChunkEntry> {
                <$array>::get(self, file, number).unwrap()
            }
            fn all(&self, file: &OpenFile) -> Model {
                let mut all = Model::new();
                self.for_each(file, &mut |number, entry| {
                    entry.address.map(|_| all.insert(number, entry.clone()));
                    Ok(())
                })
                .unwrap();
                all
            }
        }
    };
}

array!(fixed_array::ChunkArray);
array!(extensible_array::ChunkArray);

/// One of each kind.
pub(crate) fn elements() -> [ChunkElement; 4] {
    let structured = |sections, filtered| ChunkElement::Structured { size_width: Width::W2, sections, filtered };
    let dense = [ChunkElement::Plain { chunk_bytes: 80 }, ChunkElement::Filtered { size_width: Width::W2 }];
    let [plain, filtered] = dense;
    [plain, filtered, structured(2, false), structured(3, true)]
}

/// A chunk that such an element can stand for.
pub(crate) fn some_chunk(element: ChunkElement, mut below: impl FnMut(u64) -> u64) -> ChunkEntry {
    let address = Some(below(1 << 40));
    let mut section = |filtered: bool| Section {
        size: below(200),
        mask: if filtered { below(8) as u32 } else { 0 },
        unfiltered: filtered.then(|| below(1 << 50)),
    };
    match element {
        ChunkElement::Plain { chunk_bytes } => ChunkEntry::dense(address, chunk_bytes, 0),
        ChunkElement::Filtered { .. } => ChunkEntry::dense(address, below(200), below(8) as u32),
        ChunkElement::Structured { sections, filtered, .. } => {
            let sections: Vec<Section> = (0..sections).map(|_| section(filtered)).collect();
            ChunkEntry::new(address, Sections::new(&sections).unwrap())
        }
    }
}

/// Random changes; every so often all is written, and the file opened anew.
fn against_a_map<A: Array>(
    seed: u64,
    most: u64,
    element: ChunkElement,
    create: impl Fn(&OpenFile) -> A,
) -> (Arc<dyn Driver>, u64, Model) {
    let storage: Arc<dyn Driver> = Arc::new(Memory::new());
    let mut file = new_file(storage.clone());
    let (mut random, mut model, mut array) = (Random(seed), Model::new(), create(&file));
    let address = array.address();
    for _ in 0..40 {
        let focus = random.below(most);
        let chunks: Vec<(u64, ChunkEntry)> = (0..random.below(30))
            .map(|_| {
                let number = if random.below(3) == 0 { random.below(most) } else { (focus + random.below(20)) % most };
                let is_there = random.below(3) > 0;
                (number, if is_there { some_chunk(element, |end| random.below(end)) } else { element.nothing() })
            })
            .collect();
        for (number, entry) in &chunks {
            match entry.address {
                Some(_) => model.insert(*number, entry.clone()),
                None => model.remove(number),
            };
        }
        match &chunks[..] {
            [(number, entry)] => array.set(&file, *number, entry.address.is_some().then(|| entry.clone())),
            _ => array.set_all(&file, &chunks),
        }
        for _ in 0..10 {
            let number = random.below(most);
            assert_eq!(array.get(&file, number).as_ref(), model.get(&number), "chunk {number}");
        }
        match random.below(6) {
            0 => file.flush().unwrap(),
            1 => {
                file.close().unwrap();
                file = again(&storage);
                array = A::open(&file, address, element);
            }
            _ => {}
        }
        assert_eq!(array.all(&file), model);
        assert_eq!(A::open(&file, address, element).all(&file), model, "read anew");
    }
    file.close().unwrap();
    (storage, address, model)
}

#[test]
fn fixed_arrays_follow_their_changes() {
    for seed in 0..2 {
        for element in elements() {
            for (most, page_bits) in [(1, 10), (30, 10), (1000, 3), (33, 4), (100_000, 10)] {
                let create = |file: &OpenFile| fixed_array::ChunkArray::create(file, most, page_bits, element).unwrap();
                let (storage, address, model) = against_a_map(seed, most, element, create);
                let file = again(&storage);
                let array = <fixed_array::ChunkArray as Array>::open(&file, address, element);
                assert_eq!(array.all(&file), model);
                assert!(
                    fixed_array::ChunkArray::open(&file, address, element)
                        .unwrap()
                        .set(&file, most, Some(element.nothing()))
                        .is_err()
                );
            }
        }
    }
}

fn shapes() -> [ArrayShape; 2] {
    let usual = ArrayShape { count_bits: 32, in_index: 4, min_blocks: 4, min_elements: 16, page_bits: 10 };
    [usual, ArrayShape { count_bits: 20, in_index: 2, min_blocks: 2, min_elements: 2, page_bits: 2 }]
}

#[test]
fn extensible_arrays_follow_their_changes() {
    for seed in 0..2 {
        for element in elements() {
            for shape in shapes() {
                for most in [3, 50, 3000, 200_000] {
                    let create = |file: &OpenFile| extensible_array::ChunkArray::create(file, shape, element).unwrap();
                    against_a_map(seed, most, element, create);
                }
            }
        }
    }
}

#[test]
fn an_extensible_array_refuses_what_it_cannot_hold_before_it_changes() {
    let storage: Arc<dyn Driver> = Arc::new(Memory::new());
    let file = new_file(storage);
    let [_, small] = shapes();
    let [element, ..] = elements();
    let mut array = extensible_array::ChunkArray::create(&file, small, element).unwrap();
    let chunk = ChunkEntry { address: Some(1), ..element.nothing() };
    assert!(array.set_all(&file, &[(0, chunk.clone()), (1 << 30, chunk)]).is_err());
    assert!(array.is_empty() && array.all(&file).is_empty());
}

#[test]
fn deleted_arrays_give_all_their_space_back() {
    let storage: Arc<dyn Driver> = Arc::new(Memory::new());
    new_file(storage.clone()).close().unwrap();
    let before = storage.len(&Transfer::default()).unwrap();
    let file = OpenFile::open_writable(storage.clone(), &OpenOptions::default(), LibVersion::V110).unwrap();
    let [_, small] = shapes();
    for element in elements() {
        let chunks: Vec<_> =
            (0..500).map(|number| (number * 3, ChunkEntry { address: Some(1), ..element.nothing() })).collect();
        let mut fixed = fixed_array::ChunkArray::create(&file, 2000, 3, element).unwrap();
        let mut extensible = extensible_array::ChunkArray::create(&file, small, element).unwrap();
        fixed.set_all(&file, &chunks).unwrap();
        extensible.set_all(&file, &chunks).unwrap();
        file.flush().unwrap();
        fixed.delete(&file).unwrap();
        extensible.delete(&file).unwrap();
    }
    file.flush().unwrap();
    file.close().unwrap();
    assert_eq!(storage.len(&Transfer::default()).unwrap(), before);
}
