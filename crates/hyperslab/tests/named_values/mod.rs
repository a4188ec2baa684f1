//! Values that name objects of the heap, in the chunk cache: they wait there like others, and what they name is as whole as before.

mod crash;
mod model;
mod refused;
mod threads;

use std::sync::Arc;

use hyperslab::{CacheConfig, ObjectReference, OpenOptions, check, driver::Memory};

/// The collections of the heap that a file has.
fn collections(storage: &Arc<Memory>) -> u64 {
    let report = check::storage(storage.clone()).unwrap();
    assert_eq!(report.problems().count(), 0, "{report:#?}");
    let collections = report.usage.iter().filter(|usage| usage.what == "global heap collection");
    collections.map(|usage| usage.blocks).sum()
}

#[test]
fn strings_wait_in_the_cache() {
    let storage = Arc::new(Memory::new());
    // The test is about a cache with room.
    let cache = CacheConfig::default().bytes(1 << 20).encode_ahead(false);
    let file = OpenOptions::new().create().truncate().cache(cache).open_on(storage).unwrap();
    let new = file.root().unwrap().new_dataset::<String>().shape([1000]).chunks([100]).deflate(1);
    let dataset = new.create("x").unwrap();
    file.flush().unwrap();
    for nth in 0..1000u64 {
        dataset.write_slice(nth..=nth, &[format!("value {nth}")]).unwrap();
    }
    assert_eq!(dataset.cache_statistics().unwrap().written, 0);
    file.flush().unwrap();
    assert_eq!(dataset.cache_statistics().unwrap().written, 10);
    assert_eq!(dataset.read::<String>().unwrap()[999], "value 999");
}

#[test]
fn references_wait_in_the_cache() {
    let storage = Arc::new(Memory::new());
    let cache = CacheConfig::default().bytes(1 << 20).encode_ahead(false);
    let file = OpenOptions::new().create().truncate().cache(cache).open_on(storage.clone()).unwrap();
    let root = file.root().unwrap();
    let dataset = root.new_dataset::<ObjectReference>().shape([100]).chunks([10]).deflate(1).create("x").unwrap();
    file.flush().unwrap();
    let mut wanted = Vec::new();
    for nth in 0..100u64 {
        let target = root.create_group(format!("g{nth}")).unwrap();
        dataset.write_slice(nth..=nth, &[target.reference()]).unwrap();
        wanted.push(target.reference());
    }
    assert_eq!(dataset.cache_statistics().unwrap().written, 0);
    drop((root, dataset));
    file.close().unwrap();
    let file = OpenOptions::new().open_on(storage).unwrap();
    assert!(file.dataset("x").unwrap().read::<ObjectReference>().unwrap() == wanted);
}
