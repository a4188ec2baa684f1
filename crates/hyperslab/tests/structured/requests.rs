//! What the storage is asked for sparse chunks.

use std::sync::Arc;

use hyperslab::{
    CacheConfig, Dataset, File, OpenOptions,
    driver::{Log, Memory, Operation, Record},
    s,
};

/// Images of a stack: each is a chunk, with a region that moves.
const IMAGES: u64 = 1000;
const SIDE: u64 = 256;
const REGION: u64 = 80;

/// The bytes and the parts of all requests that read values.
fn reads(log: &Log<Memory>) -> (usize, usize, usize) {
    let is_read = |record: &&Record| record.operation == Operation::ReadVector;
    let records = log.records();
    let reads: Vec<&Record> = records.iter().filter(is_read).collect();
    let parts = reads.iter().flat_map(|record| &record.parts);
    (reads.len(), parts.clone().count(), parts.map(|part| part.1 as usize).sum())
}

fn make(filtered: bool, cache: usize) -> (File, Dataset, Arc<Log<Memory>>) {
    let log = Arc::new(Log::new(Memory::new()));
    let cache = CacheConfig::default().bytes(cache).read_ahead(hyperslab::ReadAhead::Off);
    let file = OpenOptions::new().create().truncate().cache(cache).open_on(log.clone()).unwrap();
    let new = file.root().unwrap().new_dataset::<u16>().shape([IMAGES, SIDE, SIDE]).chunks([1, SIDE, SIDE]).sparse();
    let dataset = if filtered { new.deflate(1) } else { new }.create("d").unwrap();
    for image in 0..IMAGES {
        let (row, column) = (image % (SIDE - REGION), image * 7 % (SIDE - REGION));
        let region = s![image, row..row + REGION, column..column + REGION];
        let noise = |nth: u64| (nth * 2_654_435_761 % 65_521) as u16;
        dataset.write_slice(region, &(0..REGION * REGION).map(noise).collect::<Vec<_>>()).unwrap();
    }
    dataset.evict().unwrap();
    log.clear();
    (file, dataset, log)
}

#[test]
fn where_elements_are_is_read_without_values_and_the_rest_later() {
    for filtered in [false, true] {
        let (_file, dataset, log) = make(filtered, 64 << 20);
        let stored = dataset.stored_size().unwrap().bytes;
        let defined = dataset.defined(&dataset.space()).unwrap();
        assert_eq!(defined.npoints(), IMAGES * REGION * REGION);
        let (requests, parts, bytes) = reads(&log);
        assert_eq!(parts, IMAGES as usize);
        assert!(requests <= 8, "{requests} requests");
        assert!((bytes as u64) < stored / 20, "{bytes} of {stored} bytes");
        log.clear();
        // One image: the sections that are missing of one chunk.
        dataset.read_slice::<u16>(s![17, .., ..]).unwrap();
        assert_eq!(reads(&log).1, 1);
        log.clear();
        for image in 0..IMAGES {
            dataset.read_slice::<u16>(s![image, 0..SIDE, ..]).unwrap();
        }
        let (_, parts, rest) = reads(&log);
        assert!(
            parts < IMAGES as usize && ((bytes + rest) as u64) < stored,
            "{parts} parts, {bytes} + {rest} of {stored}"
        );
    }
}

#[test]
fn values_leave_before_what_tells_where_they_are() {
    let (_file, dataset, log) = make(true, 4 << 20);
    for image in 0..IMAGES {
        dataset.read_slice::<u16>(s![image, 40..90, ..]).unwrap();
    }
    log.clear();
    // The values of fewer than 310 images fit.
    let last = dataset.slice(s![IMAGES - 360.., .., ..]).unwrap();
    assert_eq!(dataset.defined(last.selection()).unwrap().npoints(), 360 * REGION * REGION);
    let (_, parts, _) = reads(&log);
    assert!(parts < 20, "{parts} selections were read again");
    assert!(dataset.cache_statistics().unwrap().bytes <= 4 << 20);
}

#[test]
fn what_is_defined_comes_with_its_values_by_one_request() {
    for filtered in [false, true] {
        let (_file, dataset, log) = make(filtered, 64 << 20);
        let some = dataset.slice(s![100..160, .., 10..200]).unwrap();
        let (elements, values) = dataset.read_defined::<u16>(some.selection()).unwrap();
        let (requests, parts, bytes) = reads(&log);
        assert_eq!((requests, parts), (1, 60));
        assert!((bytes as u64) < dataset.stored_size().unwrap().bytes / 10);
        log.clear();
        assert_eq!(elements.to_space().unwrap(), dataset.defined(some.selection()).unwrap());
        assert_eq!(values, dataset.read_selection::<u16>(&elements.to_space().unwrap()).unwrap());
        assert_eq!(dataset.read_defined::<u16>(some.selection()).unwrap(), (elements, values));
        assert_eq!(reads(&log), (0, 0, 0));
        // Of chunks whose elements are known, the values come.
        dataset.evict().unwrap();
        dataset.defined(some.selection()).unwrap();
        log.clear();
        dataset.read_defined::<u16>(some.selection()).unwrap();
        assert_eq!(reads(&log).0, 1);
    }
}

#[test]
fn a_handle_past_the_cache_and_a_small_cache_read_what_is_defined() {
    let (_file, dataset, _) = make(true, 100 << 10);
    let wanted = IMAGES * REGION * REGION;
    let direct = dataset.past_cache().read_defined::<u16>(&dataset.space()).unwrap();
    assert_eq!((direct.0.len(), direct.1.len() as u64), (wanted, wanted));
    assert_eq!(dataset.cache_statistics().unwrap().bytes, 0);
    assert_eq!(dataset.read_defined::<u16>(&dataset.space()).unwrap(), direct);
    assert!(dataset.cache_statistics().unwrap().bytes <= 100 << 10);
}
