//! Threads that read, write, fill, resize, flush and evict overlapping parts of the same datasets at once, store whole chunks, and make and delete datasets beside that. Each write fills a box with a stamp of
//! its own. What was written when is in a diary; every read must be explained by some order of the writes that agrees with it.
//!
//! `HYPERSLAB_SECONDS` and `HYPERSLAB_THREADS` make it longer and wilder.

mod waiting;

use hyperslab_workshop::setting;
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use fastrand::Rng;
use hyperslab::{
    CacheConfig, Dataset, Error, File, OpenOptions, check,
    driver::{Memory, Throttle},
    s,
};
use parking_lot::RwLock;

const DATASETS: usize = 20;
const ROWS: u64 = 24;
const COLUMNS: u64 = 48;
/// Rows from here on come and go.
const KEPT: u64 = 20;
/// What elements have that no thread wrote, or that were filled or cut off since.
const FILL: u64 = 0;

/// Row and column.
type Element = (u64, u64);

/// A write, and the elements that show it.
type Shown<'a> = (&'a Arc<Write>, &'a Vec<Element>);

/// Part of a dataset: first and last row and column, and the distance from row to row.
#[derive(Clone, Copy, Debug)]
struct Part {
    rows: (u64, u64),
    columns: (u64, u64),
    step: u64,
}

impl Part {
    fn any(rows: u64, rng: &mut Rng) -> Part {
        let mut side = |size: u64| {
            let first = rng.u64(..size);
            (first, rng.u64(first..size))
        };
        let (rows, columns) = (side(rows), side(COLUMNS));
        Part { step: if rng.bool() { 1 } else { rng.u64(2..5) }, ..Part::all(rows, columns) }
    }

    fn all(rows: (u64, u64), columns: (u64, u64)) -> Part {
        Part { rows, columns, step: 1 }
    }

    fn has(&self, (row, column): Element) -> bool {
        let is_row = (self.rows.0..=self.rows.1).contains(&row) && (row - self.rows.0).is_multiple_of(self.step);
        is_row && (self.columns.0..=self.columns.1).contains(&column)
    }

    fn slice(&self) -> hyperslab::Slice {
        s![self.rows.0..=self.rows.1; self.step, self.columns.0..=self.columns.1]
    }

    fn elements(&self) -> impl Iterator<Item = Element> + use<> {
        let Part { rows, columns, step } = *self;
        (rows.0..=rows.1)
            .step_by(step as usize)
            .flat_map(move |row| (columns.0..=columns.1).map(move |column| (row, column)))
    }
}

/// A write: which part got which stamp; when it began, and when it was seen to be done.
struct Write {
    stamp: u64,
    part: Part,
    began: u64,
    /// The latest time at which it may have happened; later than anything while it is not known.
    done: AtomicU64,
    /// It was refused.
    void: AtomicBool,
}

/// All writes of a dataset, in the order in which they began.
#[derive(Default)]
struct Diary(RwLock<Vec<Arc<Write>>>);

/// Time passes with everything that begins or ends.
struct Clock(AtomicU64);

impl Clock {
    fn now(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

impl Diary {
    fn begin(&self, stamp: u64, part: Part, clock: &Clock) -> Arc<Write> {
        let mut writes = self.0.write();
        let (began, done, void) = (clock.now(), AtomicU64::new(u64::MAX), AtomicBool::new(false));
        let write = Arc::new(Write { stamp, part, began, done, void });
        writes.push(write.clone());
        write
    }

    /// Explains what a read saw that began and ended at these times.
    fn explain(&self, part: Part, values: &[u64], began: u64, ended: u64) {
        let mut seen: HashMap<u64, Vec<Element>> = HashMap::new();
        for (element, stamp) in part.elements().zip(values) {
            seen.entry(*stamp).or_default().push(element);
        }
        let writes = self.0.read();
        let shown: Vec<Shown<'_>> = seen
            .iter()
            .filter(|(stamp, _)| **stamp != FILL)
            .map(|(stamp, elements)| {
                let write = writes.iter().rev().find(|write| write.stamp == *stamp);
                (write.unwrap_or_else(|| panic!("no thread wrote {stamp}")), elements)
            })
            .collect();
        for (write, elements) in &shown {
            assert!(!write.void.load(Ordering::SeqCst), "a write that was refused is seen: {:?}", write.part);
            assert!(write.began < ended, "a write is seen before it began");
            let over = overwriters(&writes, write.done.load(Ordering::SeqCst), began);
            for element in *elements {
                assert!(write.part.has(*element), "{element:?} shows what was written to {:?}", write.part);
                let lost = over.iter().find(|over| over.part.has(*element));
                assert!(lost.is_none(), "{element:?} shows {} after {}", write.stamp, lost.unwrap().stamp);
            }
        }
        for element in seen.get(&FILL).into_iter().flatten() {
            let fits = |fill: &&Arc<Write>| {
                let is_fill = fill.stamp == FILL && fill.part.has(*element) && fill.began < ended;
                is_fill && !fill.void.load(Ordering::SeqCst) && {
                    let over = overwriters(&writes, fill.done.load(Ordering::SeqCst), began);
                    !over.iter().any(|over| over.part.has(*element))
                }
            };
            assert!(writes.iter().rev().any(|write| fits(&write)), "{element:?} of {part:?} lost what it had");
        }
        in_some_order(&shown);
        // Whatever is seen has happened.
        shown.iter().for_each(|(write, _)| _ = write.done.fetch_min(ended, Ordering::SeqCst));
    }
}

/// Writes that certainly came after a time, and were certainly done at another.
fn overwriters(writes: &[Arc<Write>], after: u64, before: u64) -> Vec<&Arc<Write>> {
    let first = writes.partition_point(|write| write.began <= after);
    let last = writes.partition_point(|write| write.began < before);
    let certain =
        |write: &&Arc<Write>| !write.void.load(Ordering::SeqCst) && write.done.load(Ordering::SeqCst) < before;
    writes.get(first..last).unwrap_or_default().iter().filter(certain).collect()
}

/// Refuses what no order of writes makes: where one could have been seen, and another is, the other came later.
fn in_some_order(shown: &[Shown<'_>]) {
    let comes_before = |left: usize, right: usize| {
        let ((first, _), (second, elements)) = (&shown[left], &shown[right]);
        let is_over = elements.iter().any(|element| first.part.has(*element));
        left != right && (is_over || first.done.load(Ordering::SeqCst) < second.began)
    };
    let mut left: Vec<usize> = (0..shown.len()).collect();
    while let Some(at) = left.iter().position(|&one| !left.iter().any(|&other| comes_before(other, one))) {
        left.swap_remove(at);
    }
    let circle: Vec<_> = left.iter().map(|&nth| (shown[nth].0.stamp, shown[nth].0.part)).collect();
    assert!(left.is_empty(), "no order of these writes shows all of them: {circle:?}");
}

struct Shared {
    file: File,
    datasets: Vec<Dataset>,
    diaries: Vec<Diary>,
    clock: Clock,
    done: AtomicBool,
}

impl Shared {
    fn new(file: File) -> Shared {
        let root = file.root().unwrap();
        let make = |nth: usize| {
            let new = || root.new_dataset::<u64>().shape([ROWS, COLUMNS]);
            let chunked = || new().max_shape([Some(ROWS), Some(COLUMNS)]).chunks([3, 10 + nth as u64]);
            let new = match nth % 5 {
                0 => chunked(),
                1 => new().contiguous(),
                _ => chunked().deflate(1),
            };
            new.create(format!("d{nth}")).unwrap()
        };
        let datasets: Vec<Dataset> = (0..DATASETS).map(make).collect();
        let (clock, done) = (Clock(AtomicU64::new(1)), AtomicBool::new(false));
        let diaries: Vec<Diary> = (0..DATASETS).map(|_| Diary::default()).collect();
        let whole = Part::all((0, ROWS - 1), (0, COLUMNS - 1));
        for diary in &diaries {
            diary.begin(FILL, whole, &clock).done.store(clock.now(), Ordering::SeqCst);
        }
        Shared { file, datasets, diaries, clock, done }
    }

    /// Does what changes a part, and keeps the diary.
    fn change(&self, nth: usize, stamp: u64, part: Part, change: impl FnOnce(&Dataset) -> hyperslab::Result<()>) {
        let write = self.diaries[nth].begin(stamp, part, &self.clock);
        match change(&self.datasets[nth]) {
            Ok(()) => _ = write.done.fetch_min(self.clock.now(), Ordering::SeqCst),
            // A thread that selects values while the dataset changes its size is told so.
            Err(why) => {
                assert!(matches!(why, Error::Slice(_) | Error::Space(_) | Error::Extent { .. }), "{why}");
                write.void.store(true, Ordering::SeqCst);
            }
        }
    }

    fn read(&self, nth: usize, part: Part) {
        let began = self.clock.now();
        let dataset = &self.datasets[nth];
        // Some leave nothing in the cache.
        let dataset = if self.clock.now().is_multiple_of(4) { &dataset.past_cache() } else { dataset };
        match dataset.read_slice::<u64>(part.slice()) {
            Ok(values) => self.diaries[nth].explain(part, &values, began, self.clock.now()),
            Err(why) => assert!(
                part.rows.1 >= KEPT && matches!(why, Error::Slice(_) | Error::Space(_) | Error::Extent { .. }),
                "{why}"
            ),
        }
    }

    fn step(&self, stamp: u64, rng: &mut Rng) {
        let (nth, wide) = (rng.usize(..DATASETS), rng.u8(..4) == 0);
        let part = Part::any(if wide { ROWS } else { KEPT }, rng);
        let selected = |dataset: &Dataset| hyperslab::Result::Ok(dataset.slice(part.slice())?.selection().clone());
        match rng.u8(..64) {
            0..24 => self.change(nth, stamp, part, |dataset| {
                let dataset = if stamp.is_multiple_of(4) { &dataset.past_cache() } else { dataset };
                dataset.write_selection(&selected(dataset)?, &vec![stamp; part.elements().count()])
            }),
            24..53 => self.read(nth, part),
            53 => self.come_and_go(stamp, rng),
            54..57 => self.change(nth, FILL, part, |dataset| dataset.write_fill(&selected(dataset)?)),
            57 if nth % 5 != 1 => {
                let rows = rng.u64(KEPT..ROWS);
                let cut = Part::all((rows, ROWS - 1), (0, COLUMNS - 1));
                self.change(nth, FILL, cut, |dataset| dataset.resize([rows, COLUMNS]));
                self.datasets[nth].resize([ROWS, COLUMNS]).unwrap();
            }
            58..60 => self.datasets[nth].evict().unwrap(),
            60..62 => self.datasets[nth].flush().unwrap(),
            62 => self.file.flush().unwrap(),
            63 if nth % 5 != 1 => self.write_chunk(nth, stamp, rng),
            _ => drop(self.datasets[nth].read_chunk([0, 0])),
        }
    }

    /// Stores a chunk as it is, past the filters.
    fn write_chunk(&self, nth: usize, stamp: u64, rng: &mut Rng) {
        let width = 10 + nth as u64;
        let [row, column] = [rng.u64(..KEPT / 3), rng.u64(..COLUMNS.div_ceil(width))];
        let columns = (column * width, ((column + 1) * width).min(COLUMNS) - 1);
        let part = Part::all((row * 3, row * 3 + 2), columns);
        let bytes: Vec<u8> = (0..3 * width).flat_map(|_| stamp.to_le_bytes()).collect();
        let mask = u32::from(!self.datasets[nth].filters().is_empty());
        self.change(nth, stamp, part, |dataset| dataset.write_chunk([row, column], mask, &bytes));
    }

    /// Makes a dataset of its own, and deletes it while some of its chunks are on their way to the file.
    fn come_and_go(&self, stamp: u64, rng: &mut Rng) {
        let (root, name) = (self.file.root().unwrap(), format!("t{stamp}"));
        let new = root.new_dataset::<u64>().shape([ROWS, COLUMNS]).chunks([3, 16]);
        let dataset = if rng.bool() { new.deflate(1) } else { new }.create(&name).unwrap();
        let part = Part::any(ROWS, rng);
        let values = vec![stamp; part.elements().count()];
        let used = if rng.bool() { dataset.past_cache() } else { dataset.clone() };
        used.write_slice(part.slice(), &values).unwrap();
        assert_eq!(dataset.read_slice::<u64>(part.slice()).unwrap(), values);
        std::thread::scope(|scope| {
            scope.spawn(|| drop(dataset.flush()));
            scope.spawn(|| drop(used.write_slice(part.slice(), &values)));
            root.delete(&name).unwrap();
        });
    }
}

#[test]
fn every_read_is_explained_by_some_order() {
    explain_all(Duration::ZERO);
}

/// While values are on their way to the storage, other threads change the index and flush the file.
#[test]
fn every_read_of_slow_storage_is_explained_by_some_order() {
    explain_all(Duration::from_micros(100));
}

fn explain_all(latency: Duration) {
    let (threads, seconds) = (setting("HYPERSLAB_THREADS", 8), setting("HYPERSLAB_SECONDS", 3));
    // A few chunks of each dataset fit.
    let cache = CacheConfig::default().bytes(64 << 10).reserve(2 << 10);
    let storage = Arc::new(Memory::new());
    let slow = Arc::new(Throttle::new(storage.clone()).latency(latency));
    let shared = Shared::new(OpenOptions::new().create().truncate().cache(cache).open_on(slow).unwrap());
    std::thread::scope(|scope| {
        for thread in 1..=threads {
            let shared = &shared;
            scope.spawn(move || {
                let (mut rng, mut stamp) = (Rng::with_seed(thread), thread << 40);
                while !shared.done.load(Ordering::Relaxed) {
                    stamp += 1;
                    shared.step(stamp, &mut rng);
                    let seen = shared.file.cache_statistics();
                    assert!(seen.peak_bytes <= cache.limits().active, "{seen:?}");
                }
            });
        }
        let end = Instant::now() + Duration::from_secs(seconds);
        while Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        shared.done.store(true, Ordering::Relaxed);
    });
    let (seen, writes): (_, usize) =
        (shared.file.cache_statistics(), shared.diaries.iter().map(|diary| diary.0.read().len()).sum());
    println!("{writes} writes; {seen:?}");
    assert!(seen.hits > 100 && seen.evictions > 100, "{seen:?}");
    let Shared { file, datasets, diaries, clock, .. } = shared;
    drop(datasets);
    file.close().unwrap();
    let report = check::storage(storage.clone()).unwrap();
    assert_eq!(report.problems().collect::<Vec<_>>(), Vec::<&check::Finding>::new());
    let file = File::open_driver(storage).unwrap();
    for (nth, diary) in diaries.iter().enumerate() {
        let (dataset, began) = (file.dataset(format!("d{nth}")).unwrap(), clock.now());
        let part = Part::all((0, dataset.shape()[0] - 1), (0, COLUMNS - 1));
        diary.explain(part, &dataset.read::<u64>().unwrap(), began, clock.now());
    }
}
