//! Sparse datasets: random programs against a map from coordinates to values.
//!
//! `$HYPERSLAB_SPARSE_PROGRAMS` and `$HYPERSLAB_SEED` say how many programs run, and from which seed on.

mod coords;
mod corruption;
#[cfg(feature = "sprs")]
mod csmat;
mod direct;
mod foreign;
mod foreign_sections;
mod index_room;
mod libhdf5;
mod model;
mod names;
mod null_and_empty;
mod order;
mod references;
mod requests;
mod section_filters;
mod sizes;
mod small;
mod threads;
mod values;
mod virtual_sources;
mod worked_examples;

use std::sync::Arc;

use hyperslab::{Dataset, File, LibVersion, OpenOptions, driver::Memory, s, space::Space};

pub(crate) fn options() -> OpenOptions {
    OpenOptions::new().libver_min(LibVersion::V110)
}

fn file() -> File {
    File::create_on(Arc::new(Memory::new())).unwrap()
}

fn coords(space: &Space) -> Vec<Vec<u64>> {
    space.coords().unwrap().map(|coord| coord.to_vec()).collect()
}

fn defined(dataset: &Dataset) -> Vec<Vec<u64>> {
    coords(&dataset.defined(&dataset.space()).unwrap())
}

#[test]
fn programs_agree_with_a_map_of_coordinates() {
    let first = hyperslab_workshop::setting("HYPERSLAB_SEED", 1);
    for seed in first..first + hyperslab_workshop::cases("HYPERSLAB_SPARSE_PROGRAMS", 300) {
        model::run(seed);
    }
}

#[test]
fn points_keep_their_order_and_the_last_of_a_place_counts() {
    let dataset =
        file().root().unwrap().new_dataset::<i32>().shape([9, 9]).chunks([4, 4]).sparse().create("a").unwrap();
    let mut points = dataset.space();
    points.select_points(&[8, 8, 0, 1, 8, 8, 3, 3]).unwrap();
    dataset.write_selection(&points, &[1, 2, 3, 4]).unwrap();
    assert_eq!(defined(&dataset), [[0, 1], [3, 3], [8, 8]]);
    let mut asked = dataset.space();
    asked.select_points(&[8, 8, 5, 5, 3, 3, 8, 8]).unwrap();
    assert_eq!(coords(&dataset.defined(&asked).unwrap()), [[8, 8], [3, 3], [8, 8]]);
    assert_eq!(dataset.read_selection::<i32>(&asked).unwrap(), [3, 0, 4, 3]);
}

#[test]
fn a_written_fill_value_is_defined() {
    let file = file();
    let new = file.root().unwrap().new_dataset::<i16>().shape([6]).chunks([3]).sparse().fill_value(7i16);
    let dataset = new.create("a").unwrap();
    dataset.write_slice(s![1], &[7i16]).unwrap();
    dataset.write_fill(dataset.slice(s![4..6]).unwrap().selection()).unwrap();
    assert_eq!(defined(&dataset), [[1], [4], [5]]);
    assert_eq!(dataset.read::<i16>().unwrap(), [7; 6]);
}

#[test]
fn a_chunk_without_elements_takes_no_space() {
    let file = file();
    let new = file.root().unwrap().new_dataset::<u8>().shape([100]).chunks([10]).sparse();
    let dataset = new.create("a").unwrap();
    dataset.write_slice(s![5..25], &[1u8; 20]).unwrap();
    file.flush().unwrap();
    assert_eq!(dataset.stored_size().unwrap().chunks, Some(3));
    dataset.erase(dataset.slice(s![8..30]).unwrap().selection()).unwrap();
    file.flush().unwrap();
    assert_eq!(dataset.stored_size().unwrap().chunks, Some(1));
    assert_eq!(defined(&dataset), [[5], [6], [7]]);
}

#[test]
fn what_shrinks_is_erased_and_does_not_come_back() {
    let file = file();
    let new = file.root().unwrap().new_dataset::<u8>().shape([10]).max_shape([None]).chunks([4]).sparse();
    let dataset = new.create("a").unwrap();
    dataset.write(&[1u8; 10]).unwrap();
    dataset.resize([5]).unwrap();
    dataset.resize([10]).unwrap();
    assert_eq!(defined(&dataset), [[0], [1], [2], [3], [4]]);
    assert_eq!(dataset.read::<u8>().unwrap(), [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]);
}

#[test]
fn what_no_sparse_dataset_can_be_is_refused() {
    let file = file();
    let new = || file.root().unwrap().new_dataset::<u8>().shape([10]).chunks([4]).sparse();
    let refused = |new: hyperslab::NewDataset, why: &str| {
        let text = new.create("a").unwrap_err().to_string();
        assert!(text.contains(why), "{text}");
    };
    for time in [hyperslab::AllocTime::Early, hyperslab::AllocTime::Late] {
        refused(new().alloc_time(time), "allocation time");
    }
    refused(new().chunks([11]), "never has more than 10");
    refused(new().chunks([4, 4]), "both need as many");
    refused(new().shape([1 << 40]).chunks([1 << 33]), "more than 2^32 - 1");
    refused(new().contiguous(), "only chunks");
    let old = OpenOptions::new().libver_min(LibVersion::V18).create_new().open_on(Arc::new(Memory::new())).unwrap();
    let new = old.root().unwrap().new_dataset::<u8>().shape([10]).chunks([4]).sparse();
    assert!(new.create("a").unwrap_err().to_string().contains("superblock"));
    let dense = file.root().unwrap().new_dataset::<u8>().shape([10]).chunks([4]).create("dense").unwrap();
    assert!(dense.erase(&dense.space()).unwrap_err().to_string().contains("write_fill"));
    assert_eq!(defined(&dense).len(), 10);
}
