//! Threads that wait for each other: none waits forever.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, Scope},
    time::{Duration, Instant},
};

use fastrand::Rng;
use hyperslab::{CacheConfig, File, OpenOptions, driver::Memory, s};

use crate::cache_threads::setting;

/// Threads that do something again and again, and how many times they did.
#[derive(Default)]
struct Busy {
    times: AtomicU64,
    done: AtomicBool,
}

impl Busy {
    fn spawn<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, mut work: impl FnMut() + Send + 'scope) {
        scope.spawn(move || {
            while !self.done.load(Ordering::Relaxed) {
                work();
                self.times.fetch_add(1, Ordering::Relaxed);
            }
        });
    }

    /// Waits until the end, and aborts the process if no thread gets on for long: they could not be ended otherwise.
    fn watch(&self, end: Instant) {
        let (mut last, mut since) = (0, Instant::now());
        while Instant::now() < end {
            thread::sleep(Duration::from_millis(20));
            let now = self.times.load(Ordering::Relaxed);
            if now != last {
                (last, since) = (now, Instant::now());
            }
            if since.elapsed() > Duration::from_secs(30) {
                eprintln!("all threads wait after {now} requests");
                std::process::abort();
            }
        }
        self.done.store(true, Ordering::Relaxed);
    }
}

/// Readers of a row of all chunks, of which some must come, and writers of another row, who wait in between: readers must lock chunks in one order.
#[test]
fn values_in_two_orders() {
    const WIDTH: u64 = 32 << 10;
    const CHUNKS: u64 = 8;
    let bytes = (2 * WIDTH * 8) as usize;
    let config = CacheConfig::default().bytes(12 * bytes).reserve(0).read_ahead(false).encode_ahead(false);
    let file = OpenOptions::new().create().truncate().cache(config).open_on(Arc::new(Memory::new())).unwrap();
    let [read, other] = ["read", "other"].map(|name| {
        let new = file.root().unwrap().new_dataset::<i64>().shape([2, WIDTH * CHUNKS]).chunks([2, WIDTH]).fletcher32();
        new.write(name, &vec![1i64; (2 * WIDTH * CHUNKS) as usize]).unwrap()
    });
    file.flush().unwrap();
    let busy = Busy::default();
    thread::scope(|scope| {
        for _ in 0..3 {
            busy.spawn(scope, || drop(read.read_slice::<i64>(s![0, ..;64]).unwrap()));
        }
        for nth in 0..4 {
            let (values, mut rng, read) = (vec![nth as i64; WIDTH as usize], Rng::with_seed(nth), &read);
            busy.spawn(scope, move || {
                let from = (2 * rng.u64(0..CHUNKS / 2) + nth % 2) * WIDTH;
                read.write_slice(s![1, from..from + WIDTH], &values).unwrap();
            });
        }
        let (mut rng, other) = (Rng::with_seed(7), &other);
        busy.spawn(scope, move || {
            let from = rng.u64(0..CHUNKS) * WIDTH;
            other.read_slice::<i64>(s![0, from..from + 9]).unwrap();
            thread::sleep(Duration::from_micros(300));
        });
        busy.watch(Instant::now() + Duration::from_secs(setting("HYPERSLAB_SECONDS", 1)));
    });
}

/// Threads that read without a pause leave time for those that change the file.
#[test]
fn a_writer_beside_readers() {
    const GROUPS: u64 = 20;
    let file = File::create_on(Arc::new(Memory::new())).unwrap();
    let root = file.root().unwrap();
    let values = root.new_dataset::<i64>().contiguous().write("values", &vec![1i64; 1 << 21]).unwrap();
    let (busy, made) = (Busy::default(), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            let (mut to, values) = (vec![0i64; 1 << 21], &values);
            busy.spawn(scope, move || values.read_into(&mut to).unwrap());
        }
        scope.spawn(|| {
            while made.load(Ordering::Relaxed) < GROUPS && !busy.done.load(Ordering::Relaxed) {
                root.create_group(format!("{}", made.fetch_add(1, Ordering::Relaxed))).unwrap();
            }
            busy.done.store(true, Ordering::Relaxed);
        });
        let end = Instant::now() + Duration::from_secs(20);
        while !busy.done.load(Ordering::Relaxed) && Instant::now() < end {
            thread::sleep(Duration::from_millis(5));
        }
        busy.done.store(true, Ordering::Relaxed);
    });
    assert_eq!(made.into_inner(), GROUPS);
    assert!(busy.times.into_inner() > 0);
}
