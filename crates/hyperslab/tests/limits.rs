//! What an array of chunks can never hold has a tree when a dataset is created, and is refused when it is resized, which leaves the file as it was.

use std::sync::Arc;

use hyperslab::{AllocTime, Dataset, File, Layout, LibVersion, NewDataset, OpenOptions, Slice, check, driver::Memory};

const MOST: u64 = 1 << 32;

fn new_file(low: LibVersion) -> (File, Arc<Memory>) {
    let storage = Arc::new(Memory::new());
    (OpenOptions::new().create().truncate().libver_min(low).open_on(storage.clone()).unwrap(), storage)
}

/// The file can still be changed, and is whole.
fn goes_on(file: File, storage: &Arc<Memory>) {
    file.root().unwrap().new_dataset::<i32>().write("after", &[1, 2]).unwrap();
    file.close().unwrap();
    let report = check::storage(storage.clone()).unwrap();
    assert_eq!(report.problems().count(), 0, "{:?}", report.findings);
    let file = File::open_driver(storage.clone()).unwrap();
    assert_eq!(file.dataset("after").unwrap().read::<i32>().unwrap(), [1, 2]);
}

#[track_caller]
fn refused<T>(done: hyperslab::Result<T>, words: &str) {
    let why = done.err().expect("it is possible").to_string();
    assert!(why.contains(words), "{why}");
}

/// Chunks of the dataset are in a tree, and the one with an element of it can be written.
#[track_caller]
fn has_tree(dataset: &Dataset, at: impl Into<Slice>) {
    assert!(matches!(dataset.layout().unwrap(), Layout::Chunked { index: "btree2", .. }));
    let at = at.into();
    dataset.write_slice(at.clone(), &[9u8]).unwrap();
    assert_eq!(dataset.read_slice::<u8>(at).unwrap(), [9]);
}

#[test]
fn an_extensible_array_holds_2_to_the_32_chunks() {
    for filtered in [false, true] {
        let (file, storage) = new_file(LibVersion::V110);
        let root = file.root().unwrap();
        let new = |shape: u64| {
            let new = root.new_dataset::<u8>().shape([shape]).max_shape([None]).chunks([1]);
            if filtered { new.deflate(1) } else { new }
        };
        has_tree(&new(MOST + 1).create("large").unwrap(), MOST);
        let dataset = new(MOST).create("largest").unwrap();
        assert!(matches!(dataset.layout().unwrap(), Layout::Chunked { index: "earray", .. }));
        dataset.write_slice(MOST - 1, &[7u8]).unwrap();
        refused(dataset.resize([MOST + 1]), "extensible array holds 2^32");
        assert_eq!(dataset.read_slice::<u8>(MOST - 2..).unwrap(), [0, 7]);
        drop((dataset, root));
        goes_on(file, &storage);
    }
}

/// The dimension without limit counts slowest, and others count as far as they may grow.
#[test]
fn numbers_of_chunks_count_as_far_as_dimensions_may_grow() {
    let (file, storage) = new_file(LibVersion::V110);
    let root = file.root().unwrap();
    let new = |rows: u64| {
        let new = root.new_dataset::<u8>().shape([1, rows]).chunks([1, 1]);
        new.max_shape([Some(1 << 20), None])
    };
    let dataset = new(1 << 12).create("fits").unwrap();
    refused(dataset.resize([1, (1 << 12) + 1]), "extensible array holds 2^32");
    has_tree(&new((1 << 12) + 1).create("large").unwrap(), (0, 1 << 12));
    dataset.resize([1 << 20, 1 << 12]).unwrap();
    dataset.write_slice(((1 << 20) - 1, (1 << 12) - 1), &[1u8]).unwrap();
    drop((dataset, root));
    goes_on(file, &storage);
}

#[test]
fn a_fixed_array_holds_2_to_the_32_chunks() {
    let (file, storage) = new_file(LibVersion::V110);
    let root = file.root().unwrap();
    let new = |max: u64| root.new_dataset::<u8>().shape([4]).max_shape([Some(max)]).chunks([1]);
    has_tree(&new(MOST + 1).create("large").unwrap(), 3);
    let largest = new(MOST).create("largest").unwrap();
    assert!(matches!(largest.layout().unwrap(), Layout::Chunked { index: "farray", .. }));
    drop(largest);
    drop(root);
    goes_on(file, &storage);
}

/// Trees have no such limit.
#[test]
fn trees_hold_any_number_of_chunks() {
    for (low, max) in [(LibVersion::Earliest, [None, Some(4)]), (LibVersion::V110, [None, None])] {
        let (file, storage) = new_file(low);
        let root = file.root().unwrap();
        let new = root.new_dataset::<u8>().shape([MOST * 4, 4]).max_shape(max).chunks([1, 1]);
        let dataset: Dataset = new.create("large").unwrap();
        dataset.write_slice((MOST * 4 - 1, 3), &[7u8]).unwrap();
        assert_eq!(dataset.read_slice::<u8>((MOST * 4 - 1, 2..)).unwrap(), [0, 7]);
        drop((dataset, root));
        goes_on(file, &storage);
    }
}

/// libhdf5 cannot open chunked datasets that are longer.
#[test]
fn dimensions_of_chunked_datasets_end_before_2_to_the_63() {
    let (file, storage) = new_file(LibVersion::V110);
    let root = file.root().unwrap();
    let new = |size: u64| root.new_dataset::<u8>().shape([size, 2]).max_shape([None, None]).chunks([1 << 20, 2]);
    refused(new(1 << 63).create("long"), "longer than 2^63 - 1");
    let dataset = new((1 << 63) - 1).create("longest").unwrap();
    dataset.write_slice(((1u64 << 63) - 2, 1), &[7u8]).unwrap();
    refused(dataset.resize([1 << 63, 2]), "longer than 2^63 - 1");
    assert_eq!(dataset.read_slice::<u8>(((1u64 << 63) - 2, ..)).unwrap(), [0, 7]);
    drop((dataset, root));
    goes_on(file, &storage);
}

/// Space for all chunks at once is refused before the first is written, if no file has room for the last.
#[test]
fn no_space_is_taken_for_more_chunks_than_a_file_can_have() {
    for low in [LibVersion::Earliest, LibVersion::V110] {
        let (file, storage) = new_file(low);
        let root = file.root().unwrap();
        let new = |size: u64| {
            let new = root.new_dataset::<u8>().shape([size, size]).chunks([2, 2]).max_shape([None, None]);
            new.alloc_time(AllocTime::Early)
        };
        refused(new(1 << 40).create("large"), "more than a file can hold");
        refused(new(1 << 40).deflate(1).create("large"), "more than a file can hold");
        let small = new(4).deflate(1).create("small").unwrap();
        refused(small.resize([1 << 40, 1 << 40]), "more than a file can hold");
        assert_eq!((small.shape(), small.read::<u8>().unwrap()), (vec![4, 4], vec![0; 16]));
        drop((small, root));
        goes_on(file, &storage);
    }
}

/// Whatever is said too large of a new dataset: it is refused, or it can be written to, and the file goes on in any case.
#[test]
fn nothing_too_large_poisons_a_file() {
    use hyperslab::Group;
    let large = [1u64 << 20, 1 << 31, 1 << 33, 1 << 40, 1 << 62, u64::MAX - 1];
    let kinds: [fn(&Group, u64) -> NewDataset; 9] = [
        |root, size| root.new_dataset::<u64>().shape([size]),
        |root, size| root.new_dataset::<u64>().shape([size]).alloc_time(AllocTime::Early),
        |root, size| root.new_dataset::<u64>().shape([size]).chunks([size]),
        |root, size| root.new_dataset::<u64>().shape([size]).chunks([3]),
        |root, size| root.new_dataset::<u64>().shape([3]).max_shape([Some(size)]).chunks([1]),
        |root, size| root.new_dataset::<u64>().shape([3]).max_shape([None]).chunks([size]),
        |root, size| root.new_dataset::<u64>().shape([size, 3]).max_shape([None, None]).chunks([1, 1]),
        |root, size| root.new_dataset::<u64>().shape([3, 3]).max_shape([Some(size), None]).chunks([1, 1]),
        |root, size| root.new_dataset::<u64>().shape([size]).compact(),
    ];
    for low in [LibVersion::Earliest, LibVersion::V18, LibVersion::V110, LibVersion::V200] {
        for (nth, kind) in kinds.into_iter().enumerate() {
            for size in large {
                // Space that is taken at once is real memory here.
                if nth == 1 && size < 1 << 62 || size == 1 << 31 && nth != 3 && nth < 5 {
                    continue;
                }
                let (file, storage) = new_file(low);
                let root = file.root().unwrap();
                if let Ok(dataset) = kind(&root, size).create("x") {
                    for resized in [size, u64::MAX - 1] {
                        let mut shape = dataset.shape();
                        shape[0] = resized;
                        let _ = dataset.resize(&shape);
                        let _ = file.flush();
                    }
                }
                let made = root.new_dataset::<i32>().write("next", &[1]);
                assert!(made.is_ok(), "{low:?}, kind {nth}, size {size:#x}: {made:?}");
                drop((made, root));
                goes_on(file, &storage);
            }
        }
    }
}
