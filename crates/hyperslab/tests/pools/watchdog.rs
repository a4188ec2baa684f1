//! A test that hangs says so and ends.

use std::{
    fmt::Debug,
    process,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// A call that takes longer than this hangs: each of them takes milliseconds on an idle machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Aborts the process when for a while no call of a test returned.
#[derive(Clone)]
pub(crate) struct Watchdog(Arc<AtomicU64>);

impl Watchdog {
    pub(crate) fn new(case: impl Debug) -> Watchdog {
        let calls = Arc::new(AtomicU64::new(0));
        let (watched, case) = (Arc::downgrade(&calls), format!("{case:?}"));
        thread::spawn(move || {
            let (mut seen, mut since) = (0, Instant::now());
            while let Some(calls) = watched.upgrade().map(|calls| calls.load(Ordering::Relaxed)) {
                if calls != seen {
                    (seen, since) = (calls, Instant::now());
                }
                if since.elapsed() > PATIENCE {
                    eprintln!(
                        "{case}: no call returned for {PATIENCE:?}, after {calls} calls: threads wait for each other"
                    );
                    process::abort();
                }
                thread::sleep(Duration::from_millis(100));
            }
        });
        Watchdog(calls)
    }

    /// A call returned.
    pub(crate) fn pat(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// How long each case runs with each kind of callers; a file per round.
pub(crate) fn duration() -> Duration {
    let seconds = std::env::var("HYPERSLAB_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs_f64(seconds.unwrap_or(0.2))
}
