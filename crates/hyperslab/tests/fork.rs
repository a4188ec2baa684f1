//! Processes that are forked while files are open: what a child may do with them, and that it does nothing else.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::allow_attributes)]
#![allow(missing_docs)]

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use hyperslab::{File, OpenOptions, driver::cores::fork};
use rayon::prelude::*;

/// A child that does not end within this time waits for a lock or a thread that it does not have.
const PATIENCE: Duration = Duration::from_secs(60);

/// Does `work` in a child; whether it ended, and without a panic.
#[expect(unsafe_code, reason = "nothing else forks")]
fn child(work: impl FnOnce()) -> bool {
    // SAFETY: what the engine needs is usable in the child, which is what these tests are about. It leaves by `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let done = catch_unwind(AssertUnwindSafe(work));
        // SAFETY: it ends the child.
        unsafe { libc::_exit(i32::from(done.is_err())) };
    }
    let (begun, mut status) = (Instant::now(), 0);
    while begun.elapsed() < PATIENCE {
        // SAFETY: the status is there to be written to.
        if unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == child {
            return status == 0;
        }
        thread::sleep(Duration::from_micros(200));
    }
    // SAFETY: it is a child of this process that was not waited for.
    unsafe { libc::kill(child, libc::SIGKILL) };
    false
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("fork-{name}-{}.h5", std::process::id()))
}

/// A file with 10,000 numbers in chunks.
fn make(name: &str) -> PathBuf {
    let path = path(name);
    let file = File::create(&path).unwrap();
    let numbers: Vec<i32> = (0..10_000).collect();
    file.root().unwrap().new_dataset::<i32>().chunks([100]).deflate(1).write("numbers", &numbers).unwrap();
    file.close().unwrap();
    path
}

fn sum(file: &File) -> i32 {
    file.dataset("numbers").unwrap().read::<i32>().unwrap().iter().sum()
}

const SUM: i32 = 9_999 * 10_000 / 2;

#[test]
fn a_child_reads_what_its_parent_writes_but_changes_nothing() {
    let path = make("writes");
    let file = File::edit(&path).unwrap();
    let numbers = file.dataset("numbers").unwrap();
    // Only in memory.
    numbers.write_slice(hyperslab::s![0..10], &[7; 10]).unwrap();
    let (before, sum_now) = (fs::read(&path).unwrap(), sum(&file));
    assert!(child(|| {
        assert_eq!(sum(&file), sum_now);
        assert_eq!(numbers.read_slice::<i32>(hyperslab::s![9..11]).unwrap(), [7, 10]);
        let refused = [
            numbers.write_slice(hyperslab::s![0], &[1]),
            file.root().unwrap().new_dataset::<i32>().write("new", &[1]).map(drop),
            file.root().unwrap().delete("numbers"),
            file.flush(),
        ];
        for refused in refused {
            assert!(refused.unwrap_err().to_string().contains("forked"));
        }
        // The lock is still the parent's.
        assert!(File::open(&path).is_err());
        let other = file.clone();
        file.clone().close().unwrap();
        drop((other, numbers.clone()));
        assert!(File::open(&path).is_err());
    }));
    assert!(child(|| assert!(File::open(&path).is_err())), "the lock is gone");
    assert!(before == fs::read(&path).unwrap(), "the child wrote");
    numbers.write_slice(hyperslab::s![10], &[8]).unwrap();
    drop(numbers);
    file.close().unwrap();
    let values = File::open(&path).unwrap().dataset("numbers").unwrap().read::<i32>().unwrap();
    assert_eq!(values[8..12], [7, 7, 8, 11]);
    fs::remove_file(&path).unwrap();
}

#[test]
fn a_child_that_drops_all_handles_writes_nothing() {
    let path = path("drops");
    let file = File::create(&path).unwrap();
    let numbers = file.root().unwrap().new_dataset::<i32>().chunks([10]).write("numbers", &[5; 100]).unwrap();
    let mut handles = Some((file, numbers));
    let before = fs::read(&path).unwrap();
    assert!(child(|| drop(handles.take())));
    assert!(before == fs::read(&path).unwrap());
    let (file, numbers) = handles.take().unwrap();
    assert_eq!(numbers.read::<i32>().unwrap(), [5; 100]);
    file.close().unwrap();
    assert_eq!(File::open(&path).unwrap().dataset("numbers").unwrap().read::<i32>().unwrap(), [5; 100]);
    fs::remove_file(&path).unwrap();
}

#[test]
fn a_child_opens_files_of_its_own() {
    let (path, own) = (make("own"), path("own-new"));
    let file = File::open(&path).unwrap();
    assert!(child(|| {
        let again = File::open(&path).unwrap();
        assert_eq!((sum(&file), sum(&again)), (SUM, SUM));
        drop(again);
        // An inherited opening does not count: nothing in this process reads the file. But its parent does.
        assert!(File::edit(&path).is_err());
        let made = File::create(&own).unwrap();
        made.root().unwrap().new_dataset::<i32>().write("x", &[1]).unwrap();
        assert!(child(|| assert!(made.root().unwrap().new_dataset::<i32>().write("y", &[2]).is_err())));
        made.close().unwrap();
    }));
    assert_eq!(File::open(&own).unwrap().dataset("x").unwrap().read::<i32>().unwrap(), [1]);
    assert_eq!(sum(&file), SUM);
    fs::remove_file(&path).unwrap();
    fs::remove_file(&own).unwrap();
}

/// Forks while other threads do `work` all the time.
fn children_beside(count: usize, work: impl Fn() + Sync, in_child: impl Fn()) {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    work();
                }
            });
        }
        let all_ended = (0..count).all(|_| child(&in_child));
        over.store(true, Ordering::Relaxed);
        assert!(all_ended, "a forked child hangs or fails");
    });
}

#[test]
fn children_read_beside_threads_that_hold_off_forks() {
    let path = make("beside");
    // A small cache, so that threads wait for each other and read ahead.
    let cache = hyperslab::CacheConfig::from_environment().bytes(4_000);
    let file = OpenOptions::new().cache(cache).open(&path).unwrap();
    let work = || {
        let _held = fork::hold();
        assert_eq!(sum(&file), SUM);
    };
    children_beside(100, work, || {
        assert_eq!(sum(&file), SUM);
        assert_eq!(sum(&File::open(&path).unwrap()), SUM);
    });
    fs::remove_file(&path).unwrap();
}

/// The threads of the pool are not in the child, which does not need them.
#[test]
fn children_read_beside_a_pool_of_rayon_that_reads() {
    let path = make("pool");
    let cache = hyperslab::CacheConfig::from_environment().bytes(4_000);
    let file = OpenOptions::new().cache(cache).open(&path).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    let read = |_| {
        let _held = fork::hold();
        assert_eq!(sum(&file), SUM);
    };
    let work = || pool.install(|| (0..8).into_par_iter().for_each(read));
    children_beside(100, work, || {
        assert_eq!(sum(&file), SUM);
        assert_eq!(sum(&File::open(&path).unwrap()), SUM);
    });
    fs::remove_file(&path).unwrap();
}

#[test]
fn children_open_files_beside_threads_that_open_files() {
    let path = make("opens");
    let work = || assert_eq!(File::open(&path).unwrap().superblock_version(), 0);
    children_beside(100, work, || assert_eq!(sum(&File::open(&path).unwrap()), SUM));
    fs::remove_file(&path).unwrap();
}
