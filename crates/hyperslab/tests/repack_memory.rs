//! How much memory and time a repack takes, as the allocator counts it: sparse datasets become dense, and dense ones sparse, without anything that is as large as
//! their extent.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use fastrand::Rng;
use hyperslab::{CacheConfig, Dataset, File, NewDataset, OpenOptions, Repack};

/// The system's allocator, and how much it gave away.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

#[expect(unsafe_code, reason = "only an allocator sees all memory; this one passes everything on and counts")]
// SAFETY: all requests go to the system's allocator as they come.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        MOST.fetch_max(HELD.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promised; it was given out above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test at a time: memory is the process's.
static ALONE: Mutex<()> = Mutex::new(());

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
    let before = HELD.load(Relaxed);
    MOST.store(before, Relaxed);
    let begun = Instant::now();
    Repack::new().cache(cache()).store(move |_, new| Some(how(new))).run(&file, to).unwrap();
    let grown = MOST.load(Relaxed) - before;
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
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
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
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
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
