//! What the chunk cache tells of itself, for each dataset and for the file.

use std::sync::Arc;

use hyperslab::{CacheConfig, CacheStatistics, Dataset, File, OpenOptions, driver::Memory, s, space::Space};

const SIDE: u64 = 32;
const CHUNK: u64 = 8;

/// What a chunk takes in the cache.
const HELD: usize = (CHUNK * SIDE * 4) as usize + 512;

fn file(bytes: usize) -> File {
    let cache = CacheConfig::default().bytes(bytes).read_ahead(false).encode_ahead(false).reserve(0);
    OpenOptions::new().create().truncate().cache(cache).open_on(Arc::new(Memory::new())).unwrap()
}

/// A dataset of four chunks with filters, which are in the file and not in memory.
fn filtered(file: &File, name: &str) -> Dataset {
    let new = file.root().unwrap().new_dataset::<i32>().shape([SIDE, SIDE]).chunks([CHUNK, SIDE]).deflate(1);
    let dataset = new.create(name).unwrap();
    dataset.write(&(0..(SIDE * SIDE) as i32).collect::<Vec<_>>()).unwrap();
    dataset.evict().unwrap();
    dataset.reset_cache_statistics().unwrap();
    dataset
}

fn seen(dataset: &Dataset) -> CacheStatistics {
    dataset.cache_statistics().unwrap()
}

#[test]
fn datasets_count_their_own_chunks() {
    let file = file(1 << 20);
    let (first, second) = (filtered(&file, "first"), filtered(&file, "second"));
    file.reset_cache_statistics();
    for row in 0..SIDE {
        first.read_slice::<i32>(s![row, ..]).unwrap();
    }
    second.write_slice(s![3, ..], &[1; SIDE as usize]).unwrap();
    file.flush().unwrap();
    let (one, other, all) = (seen(&first), seen(&second), file.cache_statistics());
    assert_eq!((one.hits, one.misses, one.loads, one.written, one.bytes), (28, 4, 4, 0, 4 * HELD));
    assert_eq!((other.hits, other.misses, other.loads, other.written, other.bytes), (0, 1, 1, 1, HELD));
    assert_eq!((all.hits, all.misses, all.loads, all.written, all.bytes), (28, 5, 5, 1, 5 * HELD));
    assert_eq!(all.decoding, one.decoding + other.decoding);
    assert_eq!((one.encoding.is_zero(), other.encoding.is_zero(), all.encoding), (true, false, other.encoding));
    assert_eq!((one.bypasses, other.bypasses), (0, 0));
    // Another handle of the dataset counts for it, too.
    file.dataset("first").unwrap().read_slice::<i32>(s![0, ..]).unwrap();
    assert_eq!(seen(&first).hits, 29);
}

#[test]
fn chunks_that_are_made_are_misses_and_no_loads() {
    let file = file(1 << 20);
    let new = file.root().unwrap().new_dataset::<i32>().shape([SIDE, SIDE]).chunks([CHUNK, SIDE]).deflate(1);
    let dataset = new.create("new").unwrap();
    dataset.write(&[7; (SIDE * SIDE) as usize]).unwrap();
    dataset.evict().unwrap();
    dataset.write_slice(s![0, ..], &[8; SIDE as usize]).unwrap();
    assert_eq!((seen(&dataset).misses, seen(&dataset).loads), (5, 1));
}

#[test]
fn a_dataset_that_pushes_out_another_has_evictions_counted_for_the_other() {
    let file = file(4 * HELD);
    let (first, second) = (filtered(&file, "first"), filtered(&file, "second"));
    first.read_slice::<i32>(s![.., 0]).unwrap();
    second.read_slice::<i32>(s![..16, 0]).unwrap();
    assert_eq!((seen(&first).evictions, seen(&first).bytes, seen(&first).peak_bytes), (2, 2 * HELD, 4 * HELD));
    assert_eq!((seen(&second).evictions, seen(&second).bytes), (0, 2 * HELD));
}

#[test]
fn what_goes_past_the_cache_is_counted_with_its_bytes() {
    let file = file(1 << 20);
    let root = file.root().unwrap();
    let plain = root.new_dataset::<i32>().shape([SIDE, SIDE]).create("plain").unwrap();
    plain.write(&[1; (SIDE * SIDE) as usize]).unwrap();
    plain.read::<i32>().unwrap();
    assert_eq!((seen(&plain).bypasses, seen(&plain).bypassed_bytes), (2, 2 * 4 * SIDE * SIDE));

    let coded = filtered(&file, "coded");
    coded.past_cache().read_slice::<i32>(s![..3, ..]).unwrap();
    coded.past_cache().write_slice(s![..3, ..], &[5; 3 * SIDE as usize]).unwrap();
    assert_eq!((seen(&coded).bypasses, seen(&coded).bypassed_bytes), (2, 2 * 4 * 3 * SIDE));
    let (mask, bytes) = coded.read_chunk([1, 0]).unwrap().unwrap();
    coded.write_chunk([1, 0], mask, &bytes).unwrap();
    assert_eq!((seen(&coded).bypasses, seen(&coded).bypassed_bytes), (4, 2 * (4 * 3 * SIDE + bytes.len() as u64)));
    assert_eq!((seen(&coded).hits, seen(&coded).misses, seen(&coded).bytes), (0, 0, 0));

    // Values that name others are written in one operation.
    let text = root.new_dataset::<String>().shape([4]).chunks([2]).create("text").unwrap();
    text.write(&["a", "b", "c", "d"].map(String::from)).unwrap();
    assert_eq!((seen(&text).bypasses, seen(&text).bypassed_bytes), (1, 4 * 16));
    let all = file.cache_statistics();
    assert!(all.bypasses >= 7 && all.bypassed_bytes >= seen(&plain).bypassed_bytes);
}

#[test]
fn without_a_cache_all_goes_past_it() {
    let file = file(0);
    let dataset = filtered(&file, "d");
    dataset.read_slice::<i32>(s![3, ..]).unwrap();
    let seen = seen(&dataset);
    assert_eq!((seen.hits, seen.misses, seen.loads, seen.bypasses, seen.bypassed_bytes), (0, 0, 0, 1, 4 * SIDE));
}

#[test]
fn a_dataset_without_values_in_the_cache_has_no_counts() {
    let file = file(1 << 20);
    filtered(&file, "source");
    let whole = Space::simple(&[SIDE, SIDE]).unwrap();
    let new = file.root().unwrap().new_dataset::<i32>().shape([SIDE, SIDE]);
    let view = new.virtual_source(&whole, ".", "source", &whole).create("view").unwrap();
    view.read::<i32>().unwrap();
    assert_eq!(seen(&view), CacheStatistics::default());
    view.reset_cache_statistics().unwrap();
    let source = seen(&file.dataset("source").unwrap());
    assert!(source.misses + source.bypasses > 0);
}
