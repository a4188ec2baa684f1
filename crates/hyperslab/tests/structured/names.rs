//! Datasets of structured chunks that are renamed and deleted.

use std::sync::Arc;

use hyperslab::{check, driver::Memory};

use super::{
    options,
    small::{self, Filters, Index, Kind, NAME},
};

const POINTS: [u64; 8] = [0, 1, 2, 2, 3, 3, 5, 6];
const VALUES: [i16; 4] = [1, 20, 300, 4000];

#[track_caller]
fn is_whole(storage: &Arc<Memory>) {
    let report = check::storage(storage.clone()).unwrap();
    assert_eq!((report.problems().count(), report.lost), (0, 0), "{report:?}");
}

#[test]
fn a_renamed_dataset_keeps_its_values_and_a_deleted_one_leaves_nothing() {
    let kinds = [Kind::Sparse, Kind::SparseVlen, Kind::DenseVlen];
    for (index, kind) in Index::ALL.into_iter().flat_map(|index| kinds.map(|kind| (index, kind))) {
        for filters in Filters::ALL {
            let context = format!("{index:?}, {kind:?}, {filters:?}");
            let storage = Arc::new(Memory::new());
            let (file, dataset) = index.create((kind, filters), options(), storage.clone());
            kind.write(&dataset, &small::points_of(&[6, 7], &POINTS[..4]), &VALUES[..2]).unwrap();
            file.flush().unwrap();
            // What waits in the cache goes the same way.
            kind.write(&dataset, &small::points_of(&[6, 7], &POINTS[4..]), &VALUES[2..]).unwrap();
            file.root().unwrap().rename(NAME, "b").unwrap();
            assert!(file.dataset(NAME).is_err(), "{context}");
            let all = small::points_of(&[6, 7], &POINTS);
            assert_eq!(kind.read(&file.dataset("b").unwrap(), &all).unwrap(), VALUES, "{context}");
            drop(dataset);
            file.close().unwrap();
            is_whole(&storage);

            let file = options().read_write().open_on(storage.clone()).unwrap();
            let dataset = file.dataset("b").unwrap();
            assert_eq!(kind.read(&dataset, &all).unwrap(), VALUES, "{context}");
            kind.write(&dataset, &all, &VALUES.map(|value| value / 2)).unwrap();
            drop(dataset);
            file.root().unwrap().delete("b").unwrap();
            assert!(file.dataset("b").is_err(), "{context}");
            file.close().unwrap();
            is_whole(&storage);

            let file = options().read_write().open_on(storage.clone()).unwrap();
            file.root().unwrap().new_dataset::<u8>().write("b", &[1u8, 2]).unwrap();
            file.close().unwrap();
            is_whole(&storage);
        }
    }
}
