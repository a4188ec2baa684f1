//! Requests in another extent than the dataset has are refused, whatever its layout, and move no byte.

use std::{
    fs::{create_dir_all, remove_dir_all},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use hyperslab::{
    Dataset, Error, File, LibVersion, OpenOptions, PartToRead, PartToWrite, Result,
    driver::Memory,
    dtype::{Arena, Datatype},
    space::{Op, Slab, Space},
};

const VALUES: i32 = 16;

/// 4×4 datasets of all layouts, in a file with other values around them.
fn datasets(file: &File, folder: &Path) -> Vec<(&'static str, Dataset)> {
    let root = file.root().unwrap();
    let values: Vec<i32> = (1..=VALUES).collect();
    let new = || root.new_dataset::<i32>().shape([4, 4]);
    let external = folder.join("values").to_str().unwrap().to_string();
    std::fs::write(&external, [77; 4096]).unwrap();
    let mut made = Vec::new();
    let mut add = |name: &'static str, new: hyperslab::NewDataset| {
        let dataset = new.write(name, &values).unwrap();
        root.new_dataset::<i32>().contiguous().write(format!("behind {name}"), &[99; 64]).unwrap();
        made.push((name, dataset));
    };
    add("compact", new().compact());
    add("contiguous", new().contiguous());
    add("chunked", new().chunks([2, 3]));
    add("filtered", new().chunks([2, 3]).deflate(1));
    add("growing", new().chunks([2, 3]).max_shape([None, Some(4)]));
    add("single", new().chunks([4, 4]));
    add("tree", new().chunks([2, 3]).max_shape([None, None]).deflate(1));
    add("external", new().external([(external, 8, None)]));
    let strings: Vec<String> = values.iter().map(ToString::to_string).collect();
    let text = root.new_dataset::<String>().shape([4, 4]).write("text", &strings).unwrap();
    made.push(("text", text));
    let space = Space::simple(&[4, 4]).unwrap();
    let source = made.iter().find(|(name, _)| *name == "filtered").unwrap().1.space();
    let whole = new().virtual_source(&space, ".", "filtered", &source).create("virtual").unwrap();
    made.push(("virtual", whole));
    made
}

/// Selections of other extents: larger, smaller, of other ranks, all of them or parts that lie in both.
fn wrong() -> Vec<Space> {
    let mut all = Vec::new();
    for dims in
        [&[24][..], &[16], &[2, 8], &[8, 2], &[4, 5], &[5, 4], &[3, 4], &[400, 4], &[4, 4, 1], &[1 << 20, 1 << 20]]
    {
        let whole = Space::simple(dims).unwrap();
        let mut corner = whole.clone();
        corner.select_hyperslab(Op::Set, &vec![Slab::block(0, 1); dims.len()]).unwrap();
        let mut point = whole.clone();
        point.select_points(&dims.iter().map(|side| side - 1).collect::<Vec<_>>()).unwrap();
        all.extend([whole, corner, point]);
    }
    all.push(Space::scalar());
    all
}

#[track_caller]
fn refused<T>(what: &str, name: &str, space: &Space, done: Result<T>) {
    let why = match done {
        Ok(_) => panic!("{name}, {what}: {:?} is possible", space.dims()),
        Err(Error::Part { why, .. }) => *why,
        Err(why) => why,
    };
    let Error::Extent { extent, selection, .. } = &why else { panic!("{name}, {what}, {:?}: {why}", space.dims()) };
    assert_eq!((extent.as_slice(), selection.as_slice()), (&[4u64, 4][..], space.dims()), "{name}, {what}");
    assert!(why.to_string().contains("[4, 4]") && why.to_string().contains(&format!("{:?}", space.dims())));
}

fn reads(name: &str, dataset: &Dataset, space: &Space, small: bool) {
    let count = space.npoints() as usize;
    refused("read", name, space, dataset.read_selection::<i32>(space));
    refused("convert", name, space, dataset.read_selection::<f64>(space));
    refused("past", name, space, dataset.past_cache().read_selection::<i32>(space));
    refused("many", name, space, hyperslab::read_many::<i32>(&[(dataset, space)]));
    refused("prefetch", name, space, hyperslab::prefetch(&[(dataset, space)]));
    refused("defined", name, space, dataset.defined(space));
    refused("stored", name, space, dataset.read_stored_selection(space));
    if small {
        refused("into", name, space, dataset.read_selection_into(space, &mut vec![0i64; count]));
        refused("values", name, space, dataset.read_values(space));
        let (datatype, mem_selection) = (Datatype::of::<i32>(), Space::simple(&[count as u64]).unwrap());
        let (mut buf, mut arena) = (vec![0; count * 4], Arena::default());
        refused(
            "converted",
            name,
            space,
            dataset.read_converted(space, &datatype, &mem_selection, &mut buf, &mut arena),
        );
        let (mem_selection, buf) = (&mem_selection, buf.as_mut_slice());
        let part = PartToRead { dataset, selection: space, datatype: &datatype, mem_selection, buf, arena: &mut arena };
        refused("many", name, space, hyperslab::read_many_converted(&mut [part]));
    }
}

fn writes(name: &str, dataset: &Dataset, space: &Space) {
    let count = space.npoints() as usize;
    refused("fill", name, space, dataset.write_fill(space));
    refused("erase", name, space, dataset.erase(space));
    refused("write", name, space, dataset.write_selection(space, &vec![5i32; count]));
    refused("convert", name, space, dataset.write_selection(space, &vec![5f64; count]));
    refused("many", name, space, hyperslab::write_many(&[(dataset, space, vec![5i32; count].as_slice())]));
    let (datatype, mem_selection) = (Datatype::of::<i32>(), Space::simple(&[count as u64]).unwrap());
    let (buf, arena) = (vec![5; count * 4], Arena::default());
    refused("converted", name, space, dataset.write_converted(space, &datatype, &mem_selection, &buf, &arena));
    let part = PartToWrite {
        dataset,
        selection: space,
        datatype: &datatype,
        mem_selection: &mem_selection,
        buf: &buf,
        arena: &arena,
    };
    refused("many", name, space, hyperslab::write_many_converted(&[part]));
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("extents").join(name);
    remove_dir_all(&folder).ok();
    create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_selection_of_another_extent_is_refused_at_every_door() {
    for low in [LibVersion::Earliest, LibVersion::V110] {
        let folder = folder(&format!("{low:?}"));
        let path = folder.join("file.h5");
        let check = |made: &[(&'static str, Dataset)], writable: bool| {
            for (name, dataset) in made {
                for space in wrong() {
                    let small = space.npoints() < 4096;
                    if *name == "text" {
                        refused("text", name, &space, dataset.read_selection::<String>(&space));
                        let text = || vec!["x".to_string(); space.npoints() as usize];
                        if writable && small {
                            refused("text", name, &space, dataset.write_selection(&space, &text()));
                        }
                        continue;
                    }
                    reads(name, dataset, &space, small);
                    if writable && small {
                        writes(name, dataset, &space);
                    }
                }
                let values: Vec<String> = match *name {
                    "text" => dataset.read().unwrap(),
                    _ => dataset.read::<i32>().unwrap().iter().map(ToString::to_string).collect(),
                };
                assert_eq!(values, (1..=VALUES).map(|value| value.to_string()).collect::<Vec<_>>(), "{name}");
                if let Ok(behind) = dataset.file().dataset(format!("behind {name}")) {
                    assert_eq!(behind.read::<i32>().unwrap(), [99; 64], "{name}");
                }
            }
        };
        let file = OpenOptions::new().create().truncate().libver_min(low).open(&path).unwrap();
        let made = datasets(&file, &folder);
        check(&made, true);
        file.flush().unwrap();
        check(&made, true);
        let names: Vec<&'static str> = made.iter().map(|(name, _)| *name).collect();
        drop(made);
        file.close().unwrap();
        let file = File::open(&path).unwrap();
        check(&names.iter().map(|name| (*name, file.dataset(name).unwrap())).collect::<Vec<_>>(), false);
    }
}

#[test]
fn a_null_dataset_has_no_value() {
    let file = File::create_on(Arc::new(Memory::new())).unwrap();
    let dataset = file.root().unwrap().new_dataset::<i32>().empty().create("null").unwrap();
    assert!(dataset.read_selection::<i32>(&Space::scalar()).is_err());
    assert!(dataset.write_selection::<i32>(&Space::scalar(), &[1]).is_err());
    assert!(dataset.read::<i32>().unwrap().is_empty());
}

#[test]
fn a_view_of_before_a_resize_is_refused() {
    let file = File::create_on(Arc::new(Memory::new())).unwrap();
    let new = file.root().unwrap().new_dataset::<i32>().shape([8]).max_shape([None]).chunks([3]);
    let dataset = new.write("log", &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    let view = dataset.slice(5..8).unwrap();
    let space = dataset.space();
    for size in [4, 12] {
        dataset.resize([size]).unwrap();
        assert!(matches!(view.read::<i32>(), Err(Error::Extent { .. })));
        assert!(matches!(view.write(&[0, 0, 0]), Err(Error::Extent { .. })));
        assert!(matches!(view.read_into(&mut [0i32; 3]), Err(Error::Extent { .. })));
        assert!(matches!(dataset.read_selection::<i32>(&space), Err(Error::Extent { .. })));
    }
    assert_eq!(dataset.read::<i32>().unwrap(), [1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0]);
    dataset.resize([8]).unwrap();
    assert_eq!(view.read::<i32>().unwrap(), [0, 0, 0]);
}

/// A reader of all values never fails because another thread resizes, and sees the values of one extent.
#[test]
fn whole_reads_beside_resizes_see_one_extent() {
    let file = File::create_on(Arc::new(Memory::new())).unwrap();
    let new = file.root().unwrap().new_dataset::<u64>().shape([1, 8]).max_shape([None, None]).chunks([3, 3]).deflate(1);
    let dataset = new.fill_value(7u64).create("log").unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut reads = 0;
                    while !done.load(Ordering::Relaxed) || reads < 10 {
                        let values = dataset.read::<u64>().unwrap();
                        assert!(values.len().is_multiple_of(8) && values.iter().all(|value| *value == 7));
                        assert_eq!(dataset.read_slice::<u64>((0, ..)).unwrap(), [7; 8]);
                        let space = dataset.space();
                        match dataset.read_selection::<f32>(&space) {
                            Ok(values) => assert_eq!(values.len() as u64, space.npoints()),
                            Err(why) => assert!(matches!(why, Error::Extent { .. }), "{why}"),
                        }
                        reads += 1;
                    }
                })
            })
            .collect();
        for round in 0..300u64 {
            dataset.resize([1 + round * 7 % 23, 8]).unwrap();
        }
        done.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
}

#[test]
fn each_dimension_is_resized_by_a_thread_of_its_own() {
    let file = File::create_on(Arc::new(Memory::new())).unwrap();
    let new = file.root().unwrap().new_dataset::<u8>().shape([1, 1]).max_shape([None, Some(200)]).chunks([50, 50]);
    let dataset = new.create("table").unwrap();
    std::thread::scope(|scope| {
        for dimension in 0..2 {
            let dataset = &dataset;
            scope.spawn(move || {
                for size in 2..=200 {
                    dataset.resize_dimension(dimension, size).unwrap();
                    assert_eq!(dataset.shape()[dimension], size);
                }
            });
        }
    });
    assert_eq!(dataset.shape(), [200, 200]);
    assert!(dataset.resize_dimension(1, 201).is_err() && dataset.resize_dimension(2, 1).is_err());
    assert_eq!(dataset.shape(), [200, 200]);
}

/// As many values as places, whatever they are converted to: the buffer stays as it was.
#[test]
fn reads_to_more_or_fewer_places_than_values() {
    let folder = folder("places");
    let file = File::create_on(Arc::new(Memory::new())).unwrap();
    for (name, dataset) in datasets(&file, &folder) {
        let mut wanted = dataset.space();
        wanted.select_hyperslab(Op::Set, &[Slab::block(0, 2), Slab::block(0, 2)]).unwrap();
        let types = match name {
            "text" => vec![dataset.datatype().in_memory().unwrap()],
            _ => vec![Datatype::of::<i32>(), Datatype::of::<f64>(), Datatype::of::<i8>()],
        };
        for (datatype, count) in types.iter().flat_map(|datatype| [1, 3, 5, 8].map(|count| (datatype, count))) {
            let mut mem_selection = Space::simple(&[16]).unwrap();
            mem_selection.select_hyperslab(Op::Set, &[Slab { start: 0, stride: 2, count, block: 1 }]).unwrap();
            let mut buf = vec![7; 16 * datatype.size()];
            let read = dataset.read_converted(&wanted, datatype, &mem_selection, &mut buf, &mut Arena::default());
            assert!(read.is_err() && buf.iter().all(|byte| *byte == 7), "{name}, {count} places");
        }
    }
    remove_dir_all(folder).unwrap();
}
