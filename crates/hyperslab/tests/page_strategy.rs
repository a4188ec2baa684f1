//! Values that are read by means of pages: the same values with each strategy, and how many requests they take.

use std::sync::Arc;

use hyperslab::{
    CacheConfig, Dataset, File, OpenOptions, PageStrategy,
    driver::{Log, Memory},
    s,
};

const LENGTH: u64 = 20_000;

fn options(strategy: PageStrategy) -> OpenOptions {
    let cache = CacheConfig::default().bytes(0).read_ahead(false);
    OpenOptions::new().cache(cache).page_buffer(64 << 10).page_strategy(strategy).page_reserve(25, 25)
}

fn new(strategy: PageStrategy) -> (File, Arc<Log<Memory>>) {
    let storage = Arc::new(Log::new(Memory::new()));
    (options(strategy).create().truncate().open_on(storage.clone()).unwrap(), storage)
}

fn datasets(file: &File) -> [Dataset; 3] {
    let root = file.root().unwrap();
    let new = || root.new_dataset::<u16>().shape([LENGTH]);
    [
        new().create("contiguous").unwrap(),
        new().chunks([50]).create("chunked").unwrap(),
        new().chunks([500]).deflate(1).create("filtered").unwrap(),
    ]
}

#[test]
fn values_are_the_same_with_each_strategy() {
    for strategy in PageStrategy::ALL {
        let (file, storage) = new(strategy);
        let twins = datasets(&file).map(|dataset| {
            let (mut twin, mut state) = (vec![0; LENGTH as usize], 7u64);
            for step in 0..200u16 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let (start, most) = ((state >> 33) % LENGTH, if step % 9 == 0 { LENGTH } else { 300 });
                let end = (start + 1 + (state >> 20) % most).min(LENGTH);
                let range = start as usize..end as usize;
                if step % 3 == 0 {
                    let values = vec![step; range.len()];
                    dataset.write_slice(s![start..end], &values).unwrap();
                    twin[range].copy_from_slice(&values);
                } else {
                    assert_eq!(dataset.read_slice::<u16>(s![start..end]).unwrap(), twin[range], "{strategy} {step}");
                }
            }
            file.flush().unwrap();
            assert_eq!(dataset.read::<u16>().unwrap(), twin, "{strategy}");
            twin
        });
        file.close().unwrap();
        let file = options(strategy).open_on(storage).unwrap();
        for (name, twin) in ["contiguous", "chunked", "filtered"].into_iter().zip(twins) {
            assert_eq!(file.dataset(name).unwrap().read::<u16>().unwrap(), twin, "{strategy} {name}");
        }
    }
}

/// Small chunks that lie side by side, one read each.
#[test]
fn pages_save_requests_for_small_pieces() {
    let requests = PageStrategy::ALL.map(|strategy| {
        let (file, storage) = new(strategy);
        let [_, chunked, _] = datasets(&file);
        chunked.write(&vec![1; LENGTH as usize]).unwrap();
        file.close().unwrap();
        let file = options(strategy).open_on(storage.clone()).unwrap();
        let chunked = file.dataset("chunked").unwrap();
        chunked.read_slice::<u16>(s![..1]).unwrap();
        storage.clear();
        (0..LENGTH / 50).for_each(|nth| {
            chunked.read_slice::<u16>(s![nth * 50..nth * 50 + 5]).unwrap();
        });
        storage.counts().reads
    });
    let [fit, grow, direct, split] = requests;
    assert!(fit == grow && fit * 10 < direct && split <= direct, "{requests:?}");
}

#[test]
fn more_than_all_pages_cannot_be_reserved() {
    let options = OpenOptions::new().create().page_reserve(60, 41);
    let why = options.open_on(Arc::new(Memory::new())).unwrap_err();
    assert_eq!(why.kind(), hyperslab::ErrorKind::InvalidArgument, "{why}");
}
