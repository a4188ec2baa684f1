//! The threads that call the library: a pool of `rayon`, the blocking pool of `tokio`, plain threads.

use std::{
    env,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use rayon::prelude::*;

/// Where the calls of a test come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Callers {
    /// Worker threads, which run other tasks of their pool while a task of theirs waits for a parallel iterator.
    Rayon(usize),
    /// The threads for blocking work, at most so many.
    Tokio(usize),
    /// Threads that do nothing else.
    Plain(usize),
}

const ALL: [Callers; 6] =
    [Callers::Rayon(1), Callers::Rayon(2), Callers::Rayon(8), Callers::Rayon(32), Callers::Tokio(8), Callers::Plain(8)];

/// The callers that are tried: those of `HYPERSLAB_CALLERS` (`rayon`, `tokio` or `plain`), or all.
pub(crate) fn all() -> impl Iterator<Item = Callers> {
    let wanted = env::var("HYPERSLAB_CALLERS").ok();
    ALL.into_iter().filter(move |callers| {
        let name = format!("{callers:?}").to_lowercase();
        wanted.as_ref().is_none_or(|wanted| name.starts_with(wanted.as_str()))
    })
}

/// A task, which gets its number.
pub(crate) type Task = Arc<dyn Fn(u64) + Send + Sync>;

impl Callers {
    /// Runs a task for each number below `count`, and returns when all are done.
    pub(crate) fn run(self, count: u64, task: &Task) {
        match self {
            Callers::Rayon(threads) => {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| (0..count).into_par_iter().for_each(|nth| task(nth)));
            }
            Callers::Tokio(threads) => {
                let runtime =
                    tokio::runtime::Builder::new_current_thread().max_blocking_threads(threads).build().unwrap();
                let tasks: Vec<_> = (0..count)
                    .map(|nth| {
                        let task = task.clone();
                        runtime.spawn_blocking(move || task(nth))
                    })
                    .collect();
                tasks.into_iter().for_each(|task| runtime.block_on(task).unwrap());
            }
            Callers::Plain(threads) => {
                let next = AtomicU64::new(0);
                let each = || {
                    while let Some(nth) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|nth| *nth < count) {
                        task(nth);
                    }
                };
                thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(each))));
            }
        }
    }
}
