//! Values that come as lists of coordinates and of blocks, and defined elements in every form.

use std::{collections::BTreeMap, sync::Arc};

use fastrand::Rng;
use hyperslab::{Dataset, ErrorKind, File, driver::Memory, s, space::ElementRuns};

use super::file;

fn new(file: &File, dims: [u64; 2], chunks: [u64; 2]) -> Dataset {
    file.root().unwrap().new_dataset::<i32>().shape(dims).chunks(chunks).sparse().create("a").unwrap()
}

#[test]
fn coordinates_come_in_any_order_and_the_last_of_equal_ones_counts() {
    let (file, mut random) = (file(), Rng::with_seed(7));
    let dataset = new(&file, [300, 500], [64, 100]);
    let mut model = BTreeMap::new();
    for _ in 0..6 {
        let points: Vec<[u64; 2]> = (0..3000).map(|_| [random.u64(0..300), random.u64(0..500)]).collect();
        let values: Vec<i32> = points.iter().map(|_| random.i32(..)).collect();
        dataset.write_coords(points.as_flattened(), &values).unwrap();
        model.extend(points.into_iter().zip(values));
        let (elements, values) = dataset.read_defined::<i32>(&dataset.space()).unwrap();
        assert_eq!(elements.coords().unwrap(), model.keys().copied().collect::<Vec<_>>().concat());
        assert_eq!(values, model.values().copied().collect::<Vec<_>>());
    }
}

#[test]
fn datasets_of_all_layouts_take_coordinates_and_blocks() {
    let file = file();
    let new = || file.root().unwrap().new_dataset::<i16>().shape([6, 7]).fill_value(-1i16);
    let datasets = [
        new().contiguous().create("contiguous").unwrap(),
        new().compact().create("compact").unwrap(),
        new().chunks([4, 3]).create("chunked").unwrap(),
        new().chunks([4, 3]).deflate(1).create("filtered").unwrap(),
        new().chunks([4, 3]).sparse().create("sparse").unwrap(),
    ];
    for dataset in &datasets {
        dataset.write_coords(&[5, 6, 0, 0, 3, 2, 0, 0], &[1, 2, 3, 4]).unwrap();
        dataset
            .write_blocks(&[([4, 0], [2, 2]), ([5, 1], [1, 3]), ([0, 0], [0, 7])], &[5, 6, 7, 8, 9, 10, 11])
            .unwrap();
        let mut wanted = [-1i16; 42];
        for (at, value) in [(0, 4), (23, 3), (28, 5), (29, 6), (35, 7), (36, 9), (37, 10), (38, 11), (41, 1)] {
            wanted[at] = value;
        }
        assert_eq!(dataset.read::<i16>().unwrap(), wanted);
        let (elements, values) = dataset.read_defined::<i64>(&dataset.space()).unwrap();
        let is_there = |value: &i16| !dataset.is_sparse() || *value >= 0;
        assert_eq!(values, wanted.into_iter().filter(is_there).map(i64::from).collect::<Vec<_>>());
        assert_eq!(elements.to_space().unwrap().npoints(), values.len() as u64);
    }
    let texts = file.root().unwrap().new_dataset::<String>().shape([9]).create("texts").unwrap();
    texts.write_coords(&[8, 1, 8], &["a", "b", "c"]).unwrap();
    let (_, values) = texts.read_defined::<String>(texts.slice(s![1..;7]).unwrap().selection()).unwrap();
    assert_eq!(values, ["b", "c"]);
}

#[test]
fn wrong_lists_are_refused_and_nothing_is_written() {
    let file = file();
    let dataset = new(&file, [4, 4], [2, 2]);
    let kinds = [
        dataset.write_coords(&[0, 0, 4, 0], &[1, 2]),
        dataset.write_coords(&[0, 0, 1], &[1]),
        dataset.write_coords(&[0, 0, 1, 1], &[1]),
        dataset.write_coords(&[u64::MAX, 0], &[1]),
        dataset.write_blocks(&[([3, 3], [2, 1])], &[1, 2]),
        dataset.write_blocks(&[([0, 0], [2, 1])], &[1]),
        dataset.write_blocks(&[([u64::MAX, 0], [2, 1])], &[1, 2]),
        dataset.write_blocks(&[(vec![0], vec![1])], &[1]),
        dataset.write_blocks(&[(vec![0, 0], vec![1])], &[1]),
    ];
    for kind in kinds.map(|written| written.unwrap_err().kind()) {
        assert_eq!(kind, ErrorKind::InvalidArgument);
    }
    assert!(dataset.read_defined::<i32>(&dataset.space()).unwrap().0.is_empty());
    dataset.write_coords::<i32>(&[], &[]).unwrap();
    dataset.write_blocks::<i32>(&[] as &[([u64; 2], [u64; 2])], &[]).unwrap();
    assert!(dataset.defined_chunks(&dataset.space()).unwrap().next().is_none());
    let dense = file.root().unwrap().new_dataset::<i32>().shape([4]).create("dense").unwrap();
    assert!(dense.defined_chunks(&dense.space()).unwrap_err().to_string().contains("not sparse"));
    let scalar = file.root().unwrap().new_dataset::<i32>().write_scalar("scalar", &7).unwrap();
    let (elements, values) = scalar.read_defined::<i32>(&scalar.space()).unwrap();
    assert_eq!((elements.len(), values), (1, vec![7]));
}

#[test]
fn huge_extents_are_as_any_other() {
    let file = File::create_on(Arc::new(Memory::new())).unwrap();
    let new = file.root().unwrap().new_dataset::<u8>().shape([1 << 40, 1 << 20]).chunks([1 << 12, 1 << 10]).sparse();
    let dataset = new.create("a").unwrap();
    dataset.write_coords(&[(1 << 40) - 1, 5, 3, (1 << 20) - 1], &[1u8, 2]).unwrap();
    let (elements, values) = dataset.read_defined::<u8>(&dataset.space()).unwrap();
    assert_eq!(elements.coords().unwrap(), [3, (1 << 20) - 1, (1 << 40) - 1, 5]);
    assert_eq!(values, [2, 1]);
    assert_eq!(ElementRuns::of(&dataset.defined(&dataset.space()).unwrap()).unwrap(), elements);
    let new = file.root().unwrap().new_dataset::<u8>().shape([1 << 40, 1 << 40]).chunks([1 << 12, 1 << 10]).sparse();
    assert!(new.create("b").unwrap_err().to_string().contains("2^64 elements or more"));
    let new = file.root().unwrap().new_dataset::<u8>().shape([1 << 40, 1 << 20]).max_shape([None, None]);
    let dataset = new.chunks([1 << 12, 1 << 10]).sparse().create("b").unwrap();
    dataset.write_coords(&[(1 << 40) - 1, 5, 3, 4, 3, 4], &[1u8, 2, 3]).unwrap();
    let why = dataset.resize([1 << 40, 1 << 24]).unwrap_err();
    assert!(why.to_string().contains("2^64 elements or more"), "{why}");
    assert_eq!(dataset.shape(), [1 << 40, 1 << 20]);
    dataset.resize([1 << 40, (1 << 24) - 1]).unwrap();
    assert_eq!(dataset.read_defined::<u8>(&dataset.space()).unwrap().1, [3, 1]);
    assert_eq!(dataset.defined(&dataset.space()).unwrap().npoints(), dataset.defined_count().unwrap());
    // Other datasets may be larger, and take points there, too.
    let new = file.root().unwrap().new_dataset::<u8>().shape([1 << 40, 1 << 40]).chunks([1 << 12, 1 << 10]);
    let dataset = new.create("dense").unwrap();
    dataset.write_coords(&[(1 << 40) - 1, 5, 3, 4, 3, 4], &[1u8, 2, 3]).unwrap();
    assert_eq!(dataset.read_slice::<u8>(s![3, 3..6]).unwrap(), [0, 3, 0]);
}
