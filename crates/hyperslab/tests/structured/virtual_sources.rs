//! What is defined in virtual datasets: what their sources have defined.

use fastrand::Rng;
use hyperslab::{
    Dataset, File, NewDataset, s,
    space::{ElementRuns, Op, Slab, Space},
};

use super::{coords, defined, file};

fn rows(first: u64, count: u64) -> Space {
    let mut space = Space::simple(&[12, 8]).unwrap();
    space.select_hyperslab(Op::Set, &[Slab::block(first, count), Slab::block(0, 8)]).unwrap();
    space
}

fn new(file: &File) -> NewDataset {
    file.root().unwrap().new_dataset::<i32>().shape([12, 8]).fill_value(-5)
}

fn sparse(file: &File, name: &str, fill: i32) -> Dataset {
    let new = file.root().unwrap().new_dataset::<i32>().shape([4, 8]).chunks([3, 3]).sparse().fill_value(fill);
    new.create(name).unwrap()
}

#[test]
fn the_sources_say_what_is_defined() {
    let file = file();
    let (one, all) = (sparse(&file, "one", 7), Space::simple(&[4, 8]).unwrap());
    one.write_coords(&[3, 7, 0, 2, 0, 3], &[1, 2, 3]).unwrap();
    let dense = file.root().unwrap().new_dataset::<i16>().shape([2, 8]).write("dense", &[9i16; 16]).unwrap();
    let whole = new(&file)
        .virtual_source(&rows(1, 4), ".", "one", &all)
        .virtual_source(&rows(6, 2), ".", "dense", &dense.space())
        .virtual_source(&rows(8, 4), ".", "missing", &all);
    let whole = whole.create("whole").unwrap();
    let wanted: Vec<Vec<u64>> = [vec![1, 2], vec![1, 3], vec![4, 7]]
        .into_iter()
        .chain((6..8).flat_map(|row| (0..8).map(move |column| vec![row, column])))
        .collect();
    assert_eq!(defined(&whole), wanted);
    let (elements, values) = whole.read_defined::<i64>(&whole.space()).unwrap();
    assert_eq!(elements.coords().unwrap(), wanted.concat());
    assert_eq!(values, [2, 3, 1].into_iter().chain([9; 16]).collect::<Vec<_>>());
    let column = whole.slice(s![.., 3]).unwrap();
    assert_eq!(coords(&whole.defined(column.selection()).unwrap()), [[1, 3], [6, 3], [7, 3]]);
    assert_eq!(whole.read_defined::<i32>(column.selection()).unwrap().1, [3, 9, 9]);
    let mut points = whole.space();
    points.select_points(&[7, 0, 0, 0, 4, 7, 11, 1, 7, 0]).unwrap();
    assert_eq!(coords(&whole.defined(&points).unwrap()), [[7, 0], [4, 7], [7, 0]]);
    let (elements, values) = whole.read_defined::<i32>(&points).unwrap();
    assert_eq!((elements.coords().unwrap(), values), (vec![4, 7, 7, 0], vec![1, 9]));
    // What is asked for is given back where all of it is defined, and nothing where nothing is.
    assert_eq!(whole.defined(&rows(6, 2)).unwrap(), rows(6, 2));
    assert_eq!(whole.defined(&rows(8, 4)).unwrap().npoints(), 0);
    assert!(whole.erase(&whole.space()).is_err());
    one.erase(&one.space()).unwrap();
    assert_eq!(defined(&whole).len(), 16);
}

#[test]
fn virtual_datasets_above_others_know_it_as_well() {
    let (file, mut random) = (file(), Rng::with_seed(11));
    let all = Space::simple(&[4, 8]).unwrap();
    let mut whole = new(&file);
    for nth in 0..3 {
        let source = sparse(&file, &format!("{nth}"), 0);
        let points: Vec<u64> = (0..10).flat_map(|_| [random.u64(0..4), random.u64(0..8)]).collect();
        source.write_coords(&points, &[nth + 1; 10]).unwrap();
        whole = whole.virtual_source(&rows(4 * nth as u64, 4), ".", format!("{nth}"), &all);
    }
    let whole = whole.create("whole").unwrap();
    // Columns in steps, turned into a line.
    let mut steps = whole.space();
    steps.select_hyperslab(Op::Set, &[Slab::new(1, 3, 4, 1), Slab::new(0, 2, 4, 1)]).unwrap();
    let new = file.root().unwrap().new_dataset::<i32>().shape([20]);
    let mut line = Space::simple(&[20]).unwrap();
    line.select_hyperslab(Op::Set, &[Slab::block(2, 16)]).unwrap();
    let above = new.virtual_source(&line, ".", "whole", &steps).create("above").unwrap();
    for dataset in [&whole, &above] {
        let (elements, values) = dataset.read_defined::<i32>(&dataset.space()).unwrap();
        let space = dataset.defined(&dataset.space()).unwrap();
        assert_eq!(ElementRuns::of(&space).unwrap(), elements);
        assert_eq!(dataset.read_selection::<i32>(&space).unwrap(), values);
        let nonzero = dataset.read::<i32>().unwrap().into_iter().filter(|value| *value > 0).count();
        assert_eq!((values.len(), values.contains(&0)), (nonzero, false));
    }
    assert_eq!(above.slice(s![2]).unwrap().read::<i32>().unwrap(), whole.read_slice::<i32>(s![1, 0]).unwrap());
}

#[test]
fn of_sources_that_overlap_the_last_one_counts_that_has_an_element() {
    let file = file();
    let all = Space::simple(&[4, 8]).unwrap();
    let (one, two) = (sparse(&file, "one", 0), sparse(&file, "two", 0));
    one.write_coords(&[1, 0, 2, 0, 3, 0], &[1, 2, 3]).unwrap();
    two.write_coords(&[0, 0, 1, 1], &[4, 5]).unwrap();
    // Row 2 of the first is row 0 of the second.
    let whole = new(&file).virtual_source(&rows(0, 4), ".", "one", &all).virtual_source(&rows(2, 4), ".", "two", &all);
    let whole = whole.create("whole").unwrap();
    let (elements, values) = whole.read_defined::<i32>(&whole.space()).unwrap();
    assert_eq!(elements.coords().unwrap(), [1, 0, 2, 0, 3, 0, 3, 1]);
    assert_eq!(values, [1, 4, 3, 5]);
    assert_eq!(ElementRuns::of(&whole.defined(&whole.space()).unwrap()).unwrap(), elements);
}

#[test]
fn texts_of_sources_come_with_their_elements() {
    let file = file();
    let new = |name: &str| {
        let new = file.root().unwrap().new_dataset::<String>().shape([5]).chunks([2]).sparse();
        new.create(name).unwrap()
    };
    new("one").write_coords(&[4, 1], &["four", "one"]).unwrap();
    new("two").write_coords(&[0], &["zero"]).unwrap();
    let mut whole = file.root().unwrap().new_dataset::<String>().shape([5, 2]);
    for (column, name) in [(0, "one"), (1, "two")] {
        let mut target = Space::simple(&[5, 2]).unwrap();
        target.select_hyperslab(Op::Set, &[Slab::block(0, 5), Slab::block(column, 1)]).unwrap();
        whole = whole.virtual_source(&target, ".", name, &Space::simple(&[5]).unwrap());
    }
    let whole = whole.create("whole").unwrap();
    let (elements, values) = whole.read_defined::<String>(&whole.space()).unwrap();
    assert_eq!(elements.coords().unwrap(), [0, 1, 1, 0, 4, 0]);
    assert_eq!(values, ["zero", "one", "four"]);
}
