//! After every single write of a program, each text is one that it was since the last flush: what a value in the file names is in the file.

use std::sync::Arc;

use fastrand::Rng;
use hyperslab::{
    CacheConfig, Dataset, Durability, File, LibVersion, OpenOptions, check,
    driver::{Change, Memory, Tape},
};

const COUNT: usize = 24;

#[derive(Clone, Copy, Debug)]
enum Layout {
    Contiguous,
    Chunks,
    Filtered,
}

/// A dataset, what its texts may be after a crash, and what they were at moments of the program.
struct Text {
    dataset: Dataset,
    now: Vec<String>,
    since: Vec<Vec<String>>,
}

impl Text {
    fn create(file: &File, name: &str, layout: Layout) -> Text {
        let new = file.root().unwrap().new_dataset::<String>().shape([COUNT as u64]);
        let new = match layout {
            Layout::Contiguous => new.contiguous(),
            Layout::Chunks => new.chunks([5]),
            Layout::Filtered => new.chunks([5]).deflate(1),
        };
        let now = vec!["first".to_string(); COUNT];
        let dataset = new.write(name, &now).unwrap();
        let since = now.iter().map(|text| vec![text.clone()]).collect();
        Text { dataset, now, since }
    }

    fn step(&mut self, rng: &mut Rng, nth: usize) {
        match rng.u8(..12) {
            0 => self.dataset.flush().unwrap(),
            1 => self.dataset.evict().unwrap(),
            _ => {
                let from = rng.usize(..COUNT);
                let to = rng.usize(from + 1..=(from + 4).min(COUNT));
                let length = [3, 40, 400][rng.usize(..3)];
                let texts: Vec<String> = (from..to).map(|at| format!("{nth} {at} {}", "y".repeat(length))).collect();
                self.dataset.write_slice(from as u64..to as u64, &texts).unwrap();
                for (at, text) in (from..to).zip(texts) {
                    self.since[at].push(text.clone());
                    self.now[at] = text;
                }
            }
        }
    }

    fn flushed(&mut self) {
        self.since = self.now.iter().map(|text| vec![text.clone()]).collect();
    }
}

/// After so many changes of the storage the program had done so much.
struct Moment {
    changes: usize,
    may_be: Vec<Vec<Vec<String>>>,
}

fn run(seed: u64, layout: Layout, cache: usize, durability: Durability) -> (Vec<Change>, Vec<Moment>) {
    let mut rng = Rng::with_seed(seed);
    let tape = Arc::new(Tape::default());
    let low = [LibVersion::Earliest, LibVersion::V110][seed as usize % 2];
    let cache = CacheConfig::default().bytes(cache).reserve(0).encode_ahead(false);
    let options = OpenOptions::new().create().truncate().libver_min(low).cache(cache).durability(durability);
    let file = options.open_on(tape.clone()).unwrap();
    let mut all = [Text::create(&file, "x", layout), Text::create(&file, "y", Layout::Filtered)];
    file.flush().unwrap();
    let mut moments = Vec::new();
    let note = |moments: &mut Vec<Moment>, all: &[Text]| {
        let may_be = all.iter().map(|text| text.since.clone()).collect();
        moments.push(Moment { changes: tape.changes().len(), may_be });
    };
    note(&mut moments, &all);
    for nth in 0..50 {
        match rng.u8(..10) {
            0 => {
                file.flush().unwrap();
                all.iter_mut().for_each(Text::flushed);
            }
            // Heap objects of others come and go meanwhile.
            1 => {
                let other = Text::create(&file, "other", layout);
                drop(other);
                file.root().unwrap().delete("other").unwrap();
            }
            _ => all[rng.usize(..2)].step(&mut rng, nth),
        }
        note(&mut moments, &all);
    }
    drop(all);
    file.close().unwrap();
    (tape.changes(), moments)
}

/// What is wrong with a file that has what programs that were stopped between two moments leave.
fn look(bytes: &[u8], before: &Moment, after: &Moment, closes: bool) {
    let storage = Arc::new(Memory::from(bytes.to_vec()));
    let file = OpenOptions::new().read_write().unlocked().open_on(storage.clone()).unwrap();
    for (nth, name) in ["x", "y"].into_iter().enumerate() {
        let dataset = file.dataset(name).unwrap();
        for (at, text) in dataset.read::<String>().unwrap().into_iter().enumerate() {
            let mut may_be = before.may_be[nth][at].iter().chain(&after.may_be[nth][at]);
            assert!(may_be.any(|may_be| *may_be == text), "{name} {at}: {text:?}");
        }
        if closes {
            dataset.write(&vec!["another program's text".to_string(); COUNT]).unwrap();
        }
    }
    if closes {
        file.close().unwrap();
        assert_eq!(check::storage(storage).unwrap().problems().count(), 0);
    }
}

#[test]
fn every_prefix_has_whole_texts() {
    let mut prefixes = 0;
    for seed in 0..4 {
        for layout in [Layout::Contiguous, Layout::Chunks, Layout::Filtered] {
            for cache in [0, 300, 1 << 20] {
                let (changes, moments) = run(seed, layout, cache, Durability::None);
                let (mut bytes, mut passed) = (Vec::new(), 0);
                for (nth, change) in changes.iter().enumerate() {
                    change.apply(&mut bytes);
                    while moments.get(passed + 1).is_some_and(|moment| moment.changes <= nth + 1) {
                        passed += 1;
                    }
                    if nth + 1 < moments[0].changes {
                        continue;
                    }
                    prefixes += 1;
                    let after = moments.get(passed + 1).unwrap_or(&moments[passed]);
                    look(&bytes, &moments[passed], after, nth % 16 == 0);
                }
            }
        }
    }
    println!("{prefixes} prefixes");
}

/// With full durability, also when any of the writes since the last sync are not there.
#[test]
fn every_power_failure_leaves_whole_texts() {
    let (mut states, mut rng) = (0, Rng::with_seed(1));
    for seed in 0..4 {
        for layout in [Layout::Contiguous, Layout::Chunks, Layout::Filtered] {
            for cache in [300, 1 << 20] {
                let (changes, moments) = run(seed, layout, cache, Durability::Full);
                let (mut synced, mut from, mut passed) = (Vec::new(), 0, 0);
                for nth in 0..changes.len() {
                    if changes[nth] == Change::Sync {
                        changes[from..nth].iter().for_each(|change| change.apply(&mut synced));
                        from = nth + 1;
                    }
                    while moments.get(passed + 1).is_some_and(|moment| moment.changes <= nth + 1) {
                        passed += 1;
                    }
                    if nth + 1 < moments[0].changes {
                        continue;
                    }
                    states += 1;
                    let mut bytes = synced.clone();
                    let likely = [0.1, 0.5, 0.9][rng.usize(..3)];
                    let since = changes[from..=nth].iter().filter(|_| rng.f64() < likely).collect::<Vec<_>>();
                    since.into_iter().for_each(|change| change.apply(&mut bytes));
                    let after = moments.get(passed + 1).unwrap_or(&moments[passed]);
                    look(&bytes, &moments[passed], after, nth % 16 == 0);
                }
            }
        }
    }
    println!("{states} states");
}
