//! Memory: spoiled files make no reader take more of it than they have bytes, some times over, and what does not fit is an error.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::allow_attributes)]
#![allow(missing_docs)]
// To see what is allocated one has to be the allocator, which is an unsafe trait; everything is handed on to the system's.
#![allow(unsafe_code)]

mod sparse;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    ptr::null_mut,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use fastrand::Rng;
use hyperslab::{
    File,
    driver::Memory,
    space::{Op, Slab},
};
use hyperslab_hostile::{mutate, repair_file, seeds, walk};

/// No request over this is granted: a machine with this much memory free is a small one.
const MACHINE: usize = 1 << 30;
/// What may be taken whatever the size of the file, and how often its size.
const FIXED: usize = 64 << 20;
const TIMES: usize = 64;

/// Counts what is taken.
struct Counting;

static TAKEN: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: every request goes to the system's allocator unchanged, or is refused with null, as the trait allows.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > MACHINE {
            return null_mut();
        }
        PEAK.fetch_max(TAKEN.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`, which is the same one.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        TAKEN.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the pointer came from `System` with this layout, through `alloc` above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// What `work` takes at its peak, over what was taken before.
fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = TAKEN.load(Relaxed);
    PEAK.store(before, Relaxed);
    let result = work();
    (result, PEAK.load(Relaxed).saturating_sub(before))
}

/// One test: others beside it would be counted too.
#[test]
fn memory_follows_the_size_of_the_file() {
    sparse::sections_are_no_larger_than_their_filters_can_make_them();
    sparse::patterns_are_no_longer_than_a_chunk_may_have_runs();
    let seeds = seeds().unwrap();
    let mut rng = Rng::with_seed(2);
    let mut most = 0;
    for _ in 0..60 {
        for (name, seed) in &seeds {
            let mut bytes = seed.clone();
            mutate(&mut bytes, seed, seed.len() + 4096, &mut rng);
            repair_file(&mut bytes);
            let allowed = FIXED + TIMES * bytes.len();
            let (_, taken) = peak(|| walk(bytes));
            assert!(taken <= allowed, "{name}: {taken} bytes taken, {allowed} allowed");
            most = most.max(taken);
        }
    }
    println!("at most {most} bytes were taken");
    values_that_do_not_fit_are_an_error();
    chunks_are_not_all_in_memory_at_once();
    sparse::spoiled_files_take_little();
    sparse::vast_chunks_take_what_their_elements_take();
    sparse::a_chunk_grows_point_by_point();
    sparse::encoding_takes_what_the_cache_may_take();
}

fn values_that_do_not_fit_are_an_error() {
    let (_, bytes) = seeds().unwrap().into_iter().find(|(name, _)| name == "old-chunks").unwrap();
    let file = File::open_driver(Arc::new(Memory::from(bytes))).unwrap();
    for name in ["vast", "holes"] {
        let dataset = file.dataset(name).unwrap();
        let (result, taken) = peak(|| dataset.read_stored());
        assert_eq!(result.unwrap_err().kind(), hyperslab::ErrorKind::OutOfMemory);
        assert!(taken < FIXED, "{taken} bytes taken for {name}");
    }
}

/// A file of few bytes has more chunks than there is room for what is known of each.
fn chunks_are_not_all_in_memory_at_once() {
    let (_, bytes) = seeds().unwrap().into_iter().find(|(name, _)| name == "old-chunks").unwrap();
    let dataset = File::open_driver(Arc::new(Memory::from(bytes))).unwrap().dataset("holes").unwrap();
    let (half, all) = (1u64 << 33, 1u64 << 21);
    let mut part = dataset.space();
    part.select_hyperslab(Op::Set, &[Slab::block(half - all / 2, all)]).unwrap();
    let (values, taken) = peak(|| dataset.read_selection::<i16>(&part).unwrap());
    assert!(values.iter().enumerate().all(|(at, &value)| value == if at as u64 == all / 2 { 3 } else { 7 }));
    assert!(taken < FIXED, "{taken} bytes taken");
}
