//! A forked child has none of the helper threads: it starts its own, whatever the threads of its parent were doing.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::allow_attributes)]
#![allow(missing_docs)]

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use hyperslab_driver::cores;

/// A child that does not end within this time waits for a lock or a thread that it does not have.
const PATIENCE: Duration = Duration::from_secs(60);
const SUM: usize = 499 * 500 / 2;

fn sum() -> usize {
    cores::map((0..500).collect(), |_: &mut (), item: usize| Ok::<_, ()>(item)).unwrap().into_iter().sum()
}

#[test]
fn children_work_on_all_cores() {
    // All threads are started when this returns.
    let (over, count) = (AtomicBool::new(false), cores::count());
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    assert_eq!(sum(), SUM);
                    cores::spawn(|| assert_eq!(sum(), SUM));
                }
            });
        }
        let all_ended = (0..200).all(|_| child_ends(count));
        over.store(true, Ordering::Relaxed);
        assert!(all_ended, "a forked child hangs");
    });
}

/// Whether a forked child gets its work done, and has as many threads for it.
#[expect(unsafe_code, reason = "nothing else forks")]
fn child_ends(count: usize) -> bool {
    // SAFETY: the child uses memory and threads alone, both of which the system's library keeps usable, and leaves by `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let right = sum() == SUM && cores::count() == count;
        // SAFETY: it ends the child.
        unsafe { libc::_exit(i32::from(!right)) };
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
