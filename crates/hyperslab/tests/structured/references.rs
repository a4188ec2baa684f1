//! References in structured chunks: to objects, to regions and revised ones, by themselves, in sequences and beside what is of variable length.

use std::{collections::BTreeMap, sync::Arc};

use fastrand::Rng;
use hyperslab::{
    Dataset, Element, File, LibVersion, ObjectReference, RegionReference, Repack, Value, check,
    driver::{Driver, Memory},
    dtype::{Arena, Datatype, Reference, Revised, Target},
    s,
    space::Space,
};

use hyperslab_base::{Width, Widths};
use hyperslab_format::message::{DataLayout, Layout, kind};

use super::{model::selection, options, small};

#[derive(Element, Clone, Debug, PartialEq)]
struct Row {
    number: i16,
    region: RegionReference,
    name: String,
    object: ObjectReference,
    regions: Vec<RegionReference>,
    near: [ObjectReference; 2],
}

/// What values refer to: a dataset, and references to parts of it.
struct Scene {
    target: Dataset,
    regions: Vec<RegionReference>,
}

impl Scene {
    fn new(file: &File) -> Scene {
        let target = file.root().unwrap().new_dataset::<i32>().write("target", &(0..20).collect::<Vec<_>>()).unwrap();
        let region = |nth: u64| target.region_reference(target.slice(s![nth..nth + 3]).unwrap().selection()).unwrap();
        let regions = (0..10).map(region).chain([RegionReference::NULL]).collect();
        Scene { target, regions }
    }

    fn region(&self, random: &mut Rng) -> RegionReference {
        self.regions[random.usize(..self.regions.len())].clone()
    }

    fn row(&self, random: &mut Rng) -> Row {
        let object = |random: &mut Rng| if random.bool() { self.target.reference() } else { ObjectReference::NULL };
        Row {
            number: random.i16(..),
            region: self.region(random),
            name: (0..random.usize(0..9)).map(|_| random.alphanumeric()).collect(),
            object: object(random),
            regions: (0..random.usize(0..3)).map(|_| self.region(random)).collect(),
            near: [object(random), object(random)],
        }
    }

    fn nothing() -> Row {
        let (region, object) = (RegionReference::NULL, ObjectReference::NULL);
        Row { number: 0, region, name: String::new(), object, regions: vec![], near: [object; 2] }
    }
}

fn followed(file: &File, region: &RegionReference) -> Option<Vec<i32>> {
    let (dataset, selection) = region.region(file).unwrap()?;
    Some(dataset.read_selection(&selection).unwrap())
}

/// What a row says: its number and text, the values of its regions, how many values its objects have.
type Meaning = (i16, String, Vec<Option<Vec<i32>>>, Vec<Option<u64>>);

/// What the references of a row lead to.
fn meaning(file: &File, row: &Row) -> Meaning {
    let regions = std::iter::once(&row.region).chain(&row.regions).map(|region| followed(file, region)).collect();
    let objects = [row.object, row.near[0], row.near[1]];
    let objects = objects.map(|object| object.object(file).unwrap().map(|found| found.into_dataset().unwrap().len()));
    (row.number, row.name.clone(), regions, objects.to_vec())
}

fn meanings(file: &File, name: &str) -> Vec<Meaning> {
    let rows = file.dataset(name).unwrap().read::<Row>().unwrap();
    rows.iter().map(|row| meaning(file, row)).collect()
}

fn assert_whole(storage: Arc<dyn Driver>) {
    let report = check::storage(storage).unwrap();
    let problems: Vec<_> = report.problems().collect();
    assert!(problems.is_empty(), "{problems:?}");
}

/// Random writes, erasures, evictions and reopenings agree with a map, and copies refer to copies.
#[test]
fn rows_agree_with_a_map() {
    for seed in 0..24 {
        let mut random = Rng::with_seed(seed);
        let is_sparse = random.bool();
        let storage: Arc<dyn Driver> = Arc::new(Memory::new());
        let mut file = options().create_new().open_on(storage.clone()).unwrap();
        let mut scene = Scene::new(&file);
        let new = file.root().unwrap().new_dataset::<Row>().shape([9, 5]).chunks([4, 3]);
        let new = if is_sparse { new.sparse() } else { new.vlen_in_chunks() };
        let new = if random.bool() { new.shuffle().deflate(1) } else { new };
        let mut dataset = new.create("a").unwrap();
        let mut model: BTreeMap<Vec<u64>, Row> = BTreeMap::new();
        for _ in 0..20 {
            let part = selection(&mut random, &[9, 5]);
            match random.usize(0..8) {
                0..=3 => {
                    let rows: Vec<Row> = (0..part.npoints()).map(|_| scene.row(&mut random)).collect();
                    dataset.write_selection(&part, &rows).unwrap();
                    model.extend(super::coords(&part).into_iter().zip(rows));
                }
                4 if is_sparse => {
                    dataset.erase(&part).unwrap();
                    super::coords(&part).iter().for_each(|coord| drop(model.remove(coord)));
                }
                5 => dataset.evict().unwrap(),
                6 => {
                    scene.regions.truncate(0);
                    drop((dataset, scene));
                    file.close().unwrap();
                    file = options().read_write().open_on(storage.clone()).unwrap();
                    dataset = file.dataset("a").unwrap();
                    let target = file.dataset("target").unwrap();
                    let region =
                        |nth: u64| target.region_reference(target.slice(s![nth..nth + 2]).unwrap().selection());
                    let regions = (0..5).map(|nth| region(nth).unwrap()).collect();
                    scene = Scene { target, regions };
                }
                _ => file.flush().unwrap(),
            }
            let rows: Vec<Row> = super::coords(&part)
                .iter()
                .map(|coord| model.get(coord).cloned().unwrap_or_else(Scene::nothing))
                .collect();
            assert_eq!(dataset.read_selection::<Row>(&part).unwrap(), rows, "seed {seed}");
        }
        drop(dataset);
        file.root().unwrap().copy("a", &file.root().unwrap(), "beside").unwrap();
        let all = meanings(&file, "a");
        assert_eq!(meanings(&file, "beside"), all, "seed {seed}");
        file.close().unwrap();
        let file = File::open_driver(storage.clone()).unwrap();
        assert_eq!(meanings(&file, "a"), all, "seed {seed}");
        let copy = repacked(&format!("model-{seed}"), &file, &Repack::new());
        assert_eq!(meanings(&copy, "a"), all, "seed {seed}, repacked");
        assert_whole(storage);
    }
}

/// The file written anew, its datasets stored in another way.
fn repacked(name: &str, file: &File, repack: &Repack) -> File {
    let path = std::env::temp_dir().join(format!("hyperslab-references-{name}-{}.h5", std::process::id()));
    let _ = std::fs::remove_file(&path);
    repack.run(file, &path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let storage = Arc::new(Memory::from(bytes));
    assert_whole(storage.clone());
    File::open_driver(storage).unwrap()
}

/// Stores all but the target in a way that a number tells.
fn stored(way: usize) -> Repack {
    Repack::new().libver_min(LibVersion::V200).store(move |old, new| {
        if old.len() == 20 {
            return None;
        }
        let new = new.chunks([4]);
        Some(match way {
            0 => new.sparse(),
            1 => new.vlen_in_chunks().deflate(1),
            _ => new,
        })
    })
}

/// What the revised references of the tests say: object, region, attribute, object of another file.
fn revised(target: &Dataset) -> Vec<Vec<u8>> {
    let said = |kind: u8, flags: u8, rest: &[u8]| {
        let address = target.address().to_le_bytes();
        [&[kind, flags, 8][..], &address, rest].concat()
    };
    let part = target.slice(s![2..5]).unwrap();
    let region = part.selection().encode_selection(LibVersion::V200).unwrap();
    let sizes = [(region.len() as u32).to_le_bytes(), 1u32.to_le_bytes()].concat();
    vec![
        said(2, 0, &[]),
        said(3, 0, &[sizes, region].concat()),
        said(4, 0, &[&4u16.to_le_bytes()[..], b"unit"].concat()),
        said(2, 1, &[&7u16.to_le_bytes()[..], b"else.h5"].concat()),
    ]
}

/// A dataset of revised references, with what they say, null ones between them.
fn write_revised(file: &File, target: &Dataset, in_sequences: bool) -> Dataset {
    let reference = Datatype::reference(18, Reference::Revised(Revised::Object)).unwrap();
    let datatype = if in_sequences { Datatype::vlen(reference).unwrap() } else { reference };
    let new = file.root().unwrap().new_dataset_of(datatype).shape([9]).chunks([4]).sparse();
    let dataset = new.create("revised").unwrap();
    let (memory, mut arena) = (dataset.memory_datatype().unwrap(), Arena::default());
    assert_eq!(memory.size(), 16);
    let mut values = vec![0; 9 * 16];
    for (place, nth) in values.chunks_exact_mut(16).zip(0..) {
        let mut slots = vec![0; 16 * 2];
        for (slot, nth) in slots.chunks_exact_mut(16).zip(nth..) {
            let said = revised(target).get(nth % 5).cloned();
            arena.store(said.as_ref().map(|said| (said.len(), said.as_slice())), slot).unwrap();
        }
        match in_sequences {
            true => arena.store(Some((2, &slots)), place).unwrap(),
            false => place.copy_from_slice(&slots[..16]),
        }
    }
    dataset.write_converted(&dataset.space(), &memory, &Space::simple(&[9]).unwrap(), &values, &arena).unwrap();
    dataset
}

/// The values, with the addresses of the target left out.
fn shown(file: &File) -> Vec<String> {
    let (target, dataset) = (file.dataset("target").unwrap(), file.dataset("revised").unwrap());
    let values: Vec<Value> = dataset.read_values(&dataset.space()).unwrap().collect::<Result<_, _>>().unwrap();
    let here = format!("{:#x}", target.address());
    let shown = values.iter().map(|value| value.to_string().replace(&here, "target"));
    // What is in another file stays where it is.
    shown.map(|text| text.split(" of \"else.h5\"").next().unwrap().to_owned()).collect()
}

#[test]
fn revised_references_are_copied_in_all_ways() {
    for in_sequences in [false, true] {
        let storage = Arc::new(Memory::new());
        let file = options().create_new().open_on(storage.clone()).unwrap();
        let scene = Scene::new(&file);
        scene.target.set_attribute("unit", "m").unwrap();
        drop(write_revised(&file, &scene.target, in_sequences));
        let all = shown(&file);
        let one = "3 elements of the dataset at target";
        assert!(all[1].contains(one) && all[2].contains("attribute \"unit\""), "{all:?}");
        assert!(all[0].contains("object at target") && all[4].contains("null"), "{all:?}");
        file.close().unwrap();
        let mut file = File::open_driver(storage).unwrap();
        assert_eq!(shown(&file)[..3], all[..3]);
        // From sparse to dense in chunks, to the heap, back, and between all of them.
        for (step, way) in [1, 2, 0, 2, 1, 0, 0].into_iter().enumerate() {
            file = repacked(&format!("revised-{in_sequences}-{step}"), &file, &stored(way));
            let found = shown(&file);
            for nth in 0..9 {
                // The address in another file is none of this one.
                if !found[nth].contains("object at 0x") {
                    assert_eq!(found[nth], all[nth], "step {step}");
                }
            }
            assert!(found[3].contains("object at"), "{found:?}");
        }
    }
}

#[test]
fn rows_are_copied_in_all_ways() {
    let storage = Arc::new(Memory::new());
    let file = options().create_new().open_on(storage).unwrap();
    let (scene, mut random) = (Scene::new(&file), Rng::with_seed(3));
    let rows: Vec<Row> = (0..30).map(|_| scene.row(&mut random)).collect();
    file.root().unwrap().new_dataset::<Row>().chunks([8]).write("a", &rows).unwrap();
    let all = meanings(&file, "a");
    let mut copy = repacked("rows-first", &file, &stored(0));
    for (step, way) in [1, 0, 2, 2, 1, 1, 0].into_iter().enumerate() {
        assert_eq!(meanings(&copy, "a"), all, "step {step}");
        copy = repacked(&format!("rows-{step}"), &copy, &stored(way));
    }
    assert_eq!(meanings(&copy, "a"), all);
}

/// A copy in another file without what is referred to refers to nothing.
#[test]
fn copies_without_their_targets_refer_to_nothing() {
    let file = options().create_new().open_on(Arc::new(Memory::new())).unwrap();
    let (scene, mut random) = (Scene::new(&file), Rng::with_seed(4));
    let rows: Vec<Row> = (0..10).map(|_| scene.row(&mut random)).collect();
    file.root().unwrap().new_dataset::<Row>().chunks([8]).sparse().write("a", &rows).unwrap();
    let storage = Arc::new(Memory::new());
    let other = options().create_new().open_on(storage.clone()).unwrap();
    file.root().unwrap().copy("a", &other.root().unwrap(), "a").unwrap();
    for (copy, row) in other.dataset("a").unwrap().read::<Row>().unwrap().iter().zip(&rows) {
        assert_eq!((copy.number, &copy.name, copy.regions.len()), (row.number, &row.name, row.regions.len()));
        assert!(copy.regions.iter().chain([&copy.region]).all(|region| *region == RegionReference::NULL));
        assert!(copy.near.iter().chain([&copy.object]).all(|object| *object == ObjectReference::NULL));
    }
    other.close().unwrap();
    assert_whole(storage);
}

/// Values as a program has them that knows the heap of the file only.
#[test]
fn references_in_the_heap_are_written_to_chunks() {
    let file = options().create_new().open_on(Arc::new(Memory::new())).unwrap();
    let scene = Scene::new(&file);
    let root = file.root().unwrap();
    let dense = root.new_dataset::<RegionReference>().write("dense", &scene.regions).unwrap();
    let count = scene.regions.len() as u64;
    let sparse = root.new_dataset::<RegionReference>().shape([count]).chunks([4]).sparse().create("sparse").unwrap();
    let (stored, places) = (dense.read_stored().unwrap(), Space::simple(&[count]).unwrap());
    sparse.write_converted(&sparse.space(), dense.datatype(), &places, &stored, &Arena::default()).unwrap();
    assert_eq!(sparse.read::<RegionReference>().unwrap(), scene.regions);
    assert_eq!(dense.read::<RegionReference>().unwrap(), scene.regions);
    sparse.write(&dense.read::<RegionReference>().unwrap()).unwrap();
    assert_eq!(sparse.read::<RegionReference>().unwrap(), scene.regions);
    let back = dense.write(&sparse.read::<RegionReference>().unwrap()).unwrap_err();
    assert!(back.to_string().contains("Dataset::region_reference"), "{back}");
    let why =
        sparse.read_converted(&sparse.space(), dense.datatype(), &places, &mut stored.clone(), &mut Arena::default());
    assert!(why.unwrap_err().to_string().contains("not in the heap of the file"));
    // A fill value that refers to something.
    let new = root.new_dataset::<RegionReference>().shape([5]).chunks([2]).sparse();
    let filled = new.fill_value(scene.regions[3].clone()).create("filled").unwrap();
    filled.write_slice(s![1], &[scene.regions[4].clone()]).unwrap();
    let regions = filled.read::<RegionReference>().unwrap();
    assert_eq!(regions[..2], [scene.regions[3].clone(), scene.regions[4].clone()]);
}

/// The size of an element that a layout message tells.
fn element_size(message: &[u8]) -> u64 {
    let widths = Widths { offsets: Width::W8, lengths: Width::W8 };
    match DataLayout::decode(message, widths).unwrap().layout {
        Layout::Chunked { element_size, .. } => element_size,
        _ => panic!("it has no chunks"),
    }
}

/// The file with another size of an element in the layout message, as a program writes it that counts so.
fn with_element_size(bytes: &[u8], size: u64) -> Vec<u8> {
    small::with_message(bytes, kind::DATA_LAYOUT, |body| {
        let widths = Widths { offsets: Width::W8, lengths: Width::W8 };
        let mut message = DataLayout::decode(body, widths).unwrap();
        let Layout::Chunked { element_size, .. } = &mut message.layout else { panic!("it has no chunks") };
        *element_size = size;
        (kind::DATA_LAYOUT, message.encode(widths).unwrap())
    })
}

/// Some programs tell the type's own size of elements, whose chunks have slots of 16 bytes: readers and checks take that, and sizes in the index are as wide as it makes them. Both refuse others.
#[test]
fn sizes_of_elements_as_other_programs_tell_them() {
    for (side, room) in [(10, 2), (20, 3)] {
        let storage = Arc::new(Memory::new());
        let file = options().create_new().open_on(storage.clone()).unwrap();
        let scene = Scene::new(&file);
        let new = file.root().unwrap().new_dataset::<RegionReference>().shape([side]).chunks([side]);
        let dataset = new.vlen_in_chunks().create(small::NAME).unwrap();
        dataset.write_slice(s![1..3], &scene.regions[4..6]).unwrap();
        let regions: Vec<_> =
            scene.regions[4..6].iter().map(|region| region.region(&file).unwrap().unwrap().1).collect();
        drop((dataset, scene));
        file.close().unwrap();
        let ours = small::bytes_of(&*storage);
        let theirs = with_element_size(&ours, 12);
        let [our_len, their_len] =
            [&ours, &theirs].map(|bytes| small::message(bytes, kind::DATA_LAYOUT).unwrap().len());
        // What has 240 bytes is told in two bytes, what has 320 in three.
        assert_eq!(our_len - their_len, room - 2);

        let storage = Arc::new(Memory::from(theirs));
        let report = check::storage(storage.clone()).unwrap();
        assert_eq!(report.problems().count(), 0, "{report:?}");
        for written in [false, true] {
            let file = options().read_write().open_on(storage.clone()).unwrap();
            let dataset = file.dataset(small::NAME).unwrap();
            let read: Vec<RegionReference> = dataset.read().unwrap();
            let found = read.iter().map(|region| region.region(&file).unwrap().map(|(_, space)| space));
            let mut expected = vec![None; side as usize];
            expected[1] = Some(regions[0].clone());
            expected[2] = Some(regions[1].clone());
            expected[7] = written.then(|| regions[1].clone());
            assert!(found.eq(expected));
            dataset.write_slice(s![7], &read[2..3]).unwrap();
            drop(dataset);
            file.close().unwrap();
            let report = check::storage(storage.clone()).unwrap();
            assert_eq!(report.problems().count(), 0, "{report:?}");
            // Entries of an index would stay as wide as they are: so does what tells their width.
            let message = small::message(&small::bytes_of(&*storage), kind::DATA_LAYOUT).unwrap();
            assert_eq!(message.len(), their_len);
            assert_eq!(element_size(&message), 12);
        }
        for size in [1, 13, 15, 17] {
            let wrong = Arc::new(Memory::from(with_element_size(&ours, size)));
            let report = check::storage(wrong.clone()).unwrap();
            assert!(report.problems().any(|problem| problem.why.contains("but the type has 16")), "{report:?}");
            let why = File::open_driver(wrong)
                .unwrap()
                .dataset(small::NAME)
                .and_then(|dataset| dataset.read::<RegionReference>());
            assert!(why.unwrap_err().to_string().contains("but the type has 16"));
        }
    }
}
