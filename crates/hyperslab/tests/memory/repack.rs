//! How much memory and time a repack takes, as the allocator counts it: sparse datasets become dense, and dense ones sparse, without anything that is as large as
//! their extent.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use fastrand::Rng;
use hyperslab::{CacheConfig, Dataset, File, NewDataset, OpenOptions, Repack};

use crate::counting::{alone, peak};

/// Each of the two files has a cache of so many bytes.
const CACHE: usize = 4 << 20;
const SOON: Duration = Duration::from_secs(60);

/// Chunks that would have 4 GiB each if they were dense.
const SIDE: u64 = 65_535;
const POINTS: usize = 1000;

fn cache() -> CacheConfig {
    CacheConfig::default().bytes(CACHE).adaptive(CACHE, CACHE)
}

fn path(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.h5", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

/// Writes a file anew with one of its datasets stored in another way; it takes no more memory beside the caches than `most`.
fn repacked(from: &Path, to: &Path, most: usize, how: fn(NewDataset) -> NewDataset) -> File {
    let file = OpenOptions::new().cache(cache()).open(from).unwrap();
    let begun = Instant::now();
    let repack = Repack::new().cache(cache()).store(move |_, new| Some(how(new)));
    let (_, grown) = peak(|| repack.run(&file, to).unwrap());
    println!("{}: {} KiB more at most, {:?}", to.display(), grown >> 10, begun.elapsed());
    assert!(grown <= 2 * CACHE + most, "{}: {grown} bytes more", to.display());
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    OpenOptions::new().cache(cache()).open(to).unwrap()
}

/// Values at random coordinates.
fn points(dims: [u64; 2], count: usize) -> (Vec<u64>, Vec<u8>) {
    let mut random = Rng::with_seed(1);
    let coords = (0..count).flat_map(|_| dims.map(|dim| random.u64(0..dim)).into_iter().collect::<Vec<_>>()).collect();
    (coords, (0..count).map(|nth| 1 + (nth % 250) as u8).collect())
}

fn put(dataset: &Dataset, (coords, values): &(Vec<u64>, Vec<u8>)) {
    let mut space = dataset.space();
    space.select_points(coords).unwrap();
    dataset.write_selection(&space, values).unwrap();
}

fn holds(dataset: &Dataset, (coords, values): &(Vec<u64>, Vec<u8>)) {
    let mut space = dataset.space();
    space.select_points(coords).unwrap();
    assert_eq!(&dataset.read_selection::<u8>(&space).unwrap(), values);
}

#[test]
fn a_sparse_dataset_becomes_dense_by_its_elements() {
    let _alone = alone();
    let ([from, dense, other], dims) = (["sparse", "dense", "other"].map(path), [2 * SIDE, SIDE]);
    let points = points(dims, 2 * POINTS);
    let file = File::create(&from).unwrap();
    let new = file.root().unwrap().new_dataset::<u8>().shape(dims).chunks([SIDE, SIDE]).sparse();
    put(&new.create("a").unwrap(), &points);
    file.close().unwrap();
    let file = repacked(&from, &dense, 4 << 20, |new| new.auto_chunks().deflate(1));
    let dataset = file.dataset("a").unwrap();
    assert!(!dataset.is_sparse());
    holds(&dataset, &points);
    let file = repacked(&from, &other, 4 << 20, |new| new.chunks([SIDE - 1000, 2000]).sparse());
    holds(&file.dataset("a").unwrap(), &points);
    let again = path("again");
    let file = repacked(&dense, &again, 4 << 20, |new| new.chunks([SIDE, SIDE]).sparse());
    let dataset = file.dataset("a").unwrap();
    holds(&dataset, &points);
    assert_eq!(dataset.stored_sections().unwrap().unwrap().defined, 2 * POINTS as u64);
    [from, dense, other, again].iter().for_each(|path| std::fs::remove_file(path).unwrap());
}

/// One strip of values is in memory as it was read, and what of it is kept.
#[test]
fn a_contiguous_dataset_becomes_sparse_strip_by_strip() {
    let _alone = alone();
    let ([from, to], dims) = (["contiguous", "strips"].map(path), [20_000, 20_000]);
    let points = points(dims, POINTS);
    let file = File::create(&from).unwrap();
    put(&file.root().unwrap().new_dataset::<u8>().shape(dims).contiguous().create("a").unwrap(), &points);
    file.close().unwrap();
    let file = repacked(&from, &to, 20 << 20, |new| new.chunks([20_000, 20_000]).sparse().shuffle().deflate(6));
    let dataset = file.dataset("a").unwrap();
    holds(&dataset, &points);
    assert_eq!(dataset.stored_sections().unwrap().unwrap().defined, POINTS as u64);
    [from, to].iter().for_each(|path| std::fs::remove_file(path).unwrap());
}
