//! After a crash at any write, and on a disk that is full from any write on, everything that was flushed is there.

use hyperslab::OpenOptions;
use hyperslab::check;
use hyperslab::driver::{Change, Damage, Driver, Fault, Memory, Result as Outcome, Tape, Target, Transfer, WritePart};
use hyperslab_oracle::Oracle;
use hyperslab_oracle::changes::{Crashed, LOWS, after_crash, look, states, their_look};
use hyperslab_workshop::{cases, setting};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The oldest formats, and those whose structures came later.
const FORMATS: [usize; 4] = [0, 1, 2, 5];

/// Programs that lost something once: names while they moved, what a dataset showed that grew, and what values named that were deleted.
const ONCE: [u64; 5] = [503, 511, 512, 711, 715];

/// A tape on which each request is written in the order of addresses, as the local driver does it, and not in the order of its parts.
#[derive(Default)]
struct ByAddress {
    tape: Tape,
    /// How many requests had their parts in another order.
    sorted: AtomicUsize,
}

impl Driver for ByAddress {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Outcome<()> {
        self.tape.read_at(addr, buf, transfer)
    }

    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Outcome<()> {
        self.tape.write_at(addr, buf, transfer)
    }

    fn write_vector(&self, parts: &[WritePart<'_>], transfer: &Transfer) -> Outcome<()> {
        self.sorted.fetch_add(usize::from(!parts.is_sorted_by_key(|part| part.addr)), Ordering::Relaxed);
        // Which part each byte comes from: where parts overlap, the last.
        let bytes_of =
            |(nth, part): (usize, &WritePart<'_>)| (part.addr..).take(part.buf.len()).map(move |at| (at, nth));
        let sources: BTreeMap<u64, usize> = parts.iter().enumerate().flat_map(bytes_of).collect();
        let sources: Vec<(u64, usize)> = sources.into_iter().collect();
        sources.chunk_by(|one, next| (one.0 + 1, one.1) == *next).try_for_each(|run| {
            let (addr, part) = (run[0].0, &parts[run[0].1]);
            let from = (addr - part.addr) as usize;
            self.write_at(addr, &part.buf[from..from + run.len()], &transfer.clone().with_kind(part.kind))
        })
    }

    fn len(&self, transfer: &Transfer) -> Outcome<u64> {
        self.tape.len(transfer)
    }

    fn set_len(&self, len: u64, transfer: &Transfer) -> Outcome<()> {
        self.tape.set_len(len, transfer)
    }

    fn sync(&self, transfer: &Transfer) -> Outcome<()> {
        self.tape.sync(transfer)
    }

    fn flush(&self, transfer: &Transfer) -> Outcome<()> {
        self.tape.flush(transfer)
    }
}

#[test]
fn every_prefix_has_what_was_flushed() {
    let seed = setting("HYPERSLAB_SEED", 1);
    try_every_prefix((seed..seed + cases("HYPERSLAB_CRASHES", 5)).chain(ONCE), |seed, low| {
        let tape = Arc::new(Tape::default());
        let run = Crashed::run(seed, low, 60, tape.clone(), &|| tape.changes().len()).unwrap();
        (run, tape.changes())
    });
}

#[test]
fn every_prefix_in_the_order_of_addresses_has_what_was_flushed() {
    let (seed, sorted) = (setting("HYPERSLAB_SEED", 1), AtomicUsize::new(0));
    try_every_prefix(seed..seed + cases("HYPERSLAB_CRASHES", 2), |seed, low| {
        let storage = Arc::new(ByAddress::default());
        let run = Crashed::run(seed, low, 60, storage.clone(), &|| storage.tape.changes().len()).unwrap();
        sorted.fetch_add(storage.sorted.load(Ordering::Relaxed), Ordering::Relaxed);
        (run, storage.tape.changes())
    });
    println!("{} requests had another order", sorted.load(Ordering::Relaxed));
    assert!(sorted.into_inner() > 0, "the order of addresses is that of the parts");
}

/// Runs programs, which leave what was done to the storage, and looks at the storage after every change.
fn try_every_prefix(seeds: impl Iterator<Item = u64>, program: impl Fn(u64, usize) -> (Crashed, Vec<Change>)) {
    let (mut prefixes, mut torn, mut wrong) = (0, 0, Vec::new());
    for (seed, low) in seeds.flat_map(|seed| FORMATS.map(|low| (seed, low))) {
        let (run, changes) = program(seed, low);
        assert!(run.failed.is_none(), "seed {seed}, {}: {:?}", LOWS[low].1, run.failed);
        let mut bytes = Vec::new();
        let (mut found, mut first) = (None, None);
        for (nth, change) in changes.iter().enumerate() {
            let states = states(&mut bytes, change);
            // Before the first operation the file is still being made.
            if nth + 1 < run.changes[0] || matches!(change, Change::Sync | Change::Flush) {
                continue;
            }
            prefixes += 1;
            torn += states.len() - 1;
            let window = run.window(nth + 1);
            let mut why = None;
            for state in states {
                let seen = after_crash(state).and_then(|file| look(&file, true));
                if let (None, Ok(seen)) = (&first, &seen) {
                    first = Some(seen.clone());
                }
                why = why.or(seen.map_or_else(|why| Some(why.to_string()), |seen| window.wrong(&seen)));
            }
            if let (Some(why), None) = (why, &found) {
                let begun = run.changes.iter().take(run.operations.len()).filter(|before| **before <= nth).count();
                let before = run.operations[..begun].iter().rev().take(12).rev();
                let steps: Vec<_> = before.map(|operation| format!("    {operation:?}")).collect();
                let name = LOWS[low].1;
                found = Some(format!("seed {seed}, {name}, change {nth}: {why}\n{}", steps.join("\n")));
            }
        }
        // What has nothing of it is noticed.
        assert!(run.window(usize::MAX).wrong(&first.unwrap()).is_some(), "seed {seed}");
        wrong.extend(found);
    }
    println!("{prefixes} prefixes tried, {torn} torn writes");
    assert!(torn > 0, "no write was torn");
    assert!(wrong.is_empty(), "{} programs lose something:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn libhdf5_reads_what_was_flushed_when_the_mark_is_cleared() -> Result<(), Box<dyn std::error::Error>> {
    let Some(mut oracle) = Oracle::start_script("changes.py")? else { return Ok(()) };
    let (seed, path) = (setting("HYPERSLAB_SEED", 1), std::env::temp_dir());
    let path = path.join(format!("hyperslab-crash-{}.h5", std::process::id()));
    let (mut prefixes, mut wrong) = (0, Vec::new());
    let programs = cases("HYPERSLAB_CRASHES", 2);
    // A process looks at each, so not at all of them.
    let apart = setting("HYPERSLAB_PREFIXES_APART", 13);
    for (seed, low) in (seed..seed + programs).chain(ONCE).flat_map(|seed| FORMATS.map(|low| (seed, low))) {
        let tape = Arc::new(Tape::default());
        let run = Crashed::run(seed, low, 60, tape.clone(), &|| tape.changes().len())?;
        let mut bytes = Vec::new();
        for (nth, change) in tape.changes().iter().enumerate() {
            let mut states = states(&mut bytes, change);
            if nth < run.changes[0]
                || matches!(change, Change::Sync | Change::Flush)
                || !(nth as u64).is_multiple_of(apart)
            {
                continue;
            }
            prefixes += 1;
            // Torn or not.
            let state = states.swap_remove(nth % states.len());
            std::fs::write(&path, &state)?;
            hyperslab::check::clear(&path, false)?;
            let seen = their_look(&mut oracle, &path);
            let why = seen.map_or_else(|why| Some(why.to_string()), |seen| run.window(nth + 1).wrong(&seen));
            wrong.extend(why.map(|why| format!("seed {seed}, {}, change {nth}: {why}", LOWS[low].1)));
        }
    }
    std::fs::remove_file(&path)?;
    println!("{prefixes} prefixes read by libhdf5");
    assert!(wrong.is_empty(), "{} prefixes lose something:\n{}", wrong.len(), wrong[..wrong.len().min(5)].join("\n"));
    Ok(())
}

/// A check finds no damage after any write, and nothing at all that names or heaps lag behind once the file was opened and closed again.
#[test]
fn what_a_crash_leaves_is_no_damage_and_is_mended() {
    let (seed, programs) = (setting("HYPERSLAB_SEED", 1), cases("HYPERSLAB_CRASHES", 2));
    let (mut prefixes, mut lagging, mut wrong) = (0, 0, Vec::new());
    let is_mark = |why: &str| why.contains("marked as open for writing");
    let is_lag = |why: &str| why.contains("objects in their heap") || why.contains("hard links, but has");
    // The formats with a mark.
    for (seed, low) in (seed..seed + programs).chain(ONCE).flat_map(|seed| [2, 5].map(|low| (seed, low))) {
        let tape = Arc::new(Tape::default());
        let run = Crashed::run(seed, low, 60, tape.clone(), &|| tape.changes().len()).unwrap();
        let mut bytes = Vec::new();
        for (nth, change) in tape.changes().iter().enumerate() {
            change.apply(&mut bytes);
            if nth < run.changes[0] || *change == Change::Sync {
                continue;
            }
            prefixes += 1;
            let mut note = |when: &str, why: &str| wrong.push(format!("seed {seed}, change {nth}, {when}: {why}"));
            let report = check::storage(Arc::new(Memory::from(bytes.clone()))).unwrap();
            report.problems().filter(|problem| !is_mark(&problem.why)).for_each(|problem| note("killed", &problem.why));
            let has_lag = report.findings.iter().any(|finding| is_lag(&finding.why));
            if !has_lag && nth % 10 != 0 {
                continue;
            }
            lagging += usize::from(has_lag);
            let storage = Arc::new(Memory::from(bytes.clone()));
            OpenOptions::new().read_write().unlocked().open_on(storage.clone()).unwrap().close().unwrap();
            let report = check::storage(storage).unwrap();
            report.problems().for_each(|problem| note("mended", &problem.why));
            report.findings.iter().filter(|found| is_lag(&found.why)).for_each(|found| note("mended", &found.why));
        }
    }
    println!("{prefixes} prefixes, {lagging} with something to mend");
    assert!(lagging > 0);
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong[..wrong.len().min(10)].join("\n"));
}

#[test]
fn a_full_disk_is_an_error_and_loses_nothing() {
    let seed = setting("HYPERSLAB_SEED", 1);
    let (mut failures, mut wrong) = (0, Vec::new());
    // Nothing of the request is done, or its first part.
    let damages = [Damage::Shorten(0), Damage::TearAtPart(1)];
    for (low, damage) in FORMATS.into_iter().flat_map(|low| damages.map(|damage| (low, damage))) {
        for spare in 0.. {
            let disk = Arc::new(Fault::new(Memory::new()));
            disk.arm_forever(Target::Writes, spare, damage);
            let told = catch_unwind(AssertUnwindSafe(|| Crashed::run(seed, low, 40, disk.clone(), &|| 0)));
            let name = LOWS[low].1;
            let Ok(told) = told else {
                wrong.push(format!("{name}, write {spare}: panic"));
                break;
            };
            let Ok(run) = told else { continue };
            if run.failed.is_none() {
                break;
            }
            failures += 1;
            let mut bytes = vec![0; disk.len(&Transfer::default()).unwrap() as usize];
            disk.read_at(0, &mut bytes, &Transfer::default()).unwrap();
            let seen = after_crash(bytes).and_then(|file| look(&file, true));
            let window = run.window_of_failure();
            let why = seen.map_or_else(|why| Some(why.to_string()), |seen| window.wrong(&seen));
            wrong.extend(why.map(|why| format!("{name}, write {spare}, {:?}: {why}", run.failed)));
        }
    }
    println!("{failures} writes failed, one in each run");
    assert!(wrong.is_empty(), "{} runs lose something:\n{}", wrong.len(), wrong[..wrong.len().min(8)].join("\n"));
}

const FOREIGN: &str = "
import sys, h5py, numpy
path, low = sys.argv[1:]
with h5py.File(path, 'w', libver=(low, 'latest')) as file:
    group = file.create_group('group')
    for nth in range(150):
        made = group.create_dataset(f'data{nth}', data=numpy.arange(10))
        made.attrs['name'] = f'this is {nth}'
    group['data0'].attrs['large'] = numpy.arange(700)
";

/// libhdf5 puts blocks over the borders of pages. They are rewritten in place all the same, and none is left half written.
#[test]
fn blocks_of_libhdf5_that_cross_pages_are_not_torn() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let path = std::env::temp_dir().join(format!("hyperslab-crash-foreign-{}.h5", std::process::id()));
    for name in ["earliest", "v108", "latest"] {
        let made = std::process::Command::new(&python).args(["-c", FOREIGN]).arg(&path).arg(name).status().unwrap();
        assert!(made.success());
        let mut bytes = std::fs::read(&path).unwrap();
        let tape = Arc::new(Tape::from(bytes.clone()));
        let file = OpenOptions::new().read_write().open_on(tape.clone()).unwrap();
        for nth in 0..150 {
            file.dataset(format!("group/data{nth}")).unwrap().set_attribute("more", nth).unwrap();
            let root = file.root().unwrap();
            match nth % 3 {
                0 => root.rename(format!("group/data{nth}"), format!("group/moved{nth}")).unwrap(),
                1 => drop(root.create_group(format!("group/new group with a long name {nth}")).unwrap()),
                _ => {}
            }
            if nth % 10 == 9 {
                file.flush().unwrap();
            }
        }
        file.close().unwrap();
        let mut torn = 0;
        for (nth, change) in tape.changes().iter().enumerate() {
            let states = states(&mut bytes, change);
            torn += states.len() - 1;
            for state in states {
                let what = format!("{name}, change {nth}");
                let file = after_crash(state).expect(&what);
                for nth in 0..150 {
                    let old = file.dataset(format!("group/data{nth}"));
                    let dataset = old.or_else(|_| file.dataset(format!("group/moved{nth}"))).expect(&what);
                    let name = dataset.attribute("name").expect(&what).read_scalar::<String>().expect(&what);
                    assert_eq!(name, format!("this is {nth}"), "{what}");
                }
                let large = file.dataset("group/data0").or_else(|_| file.dataset("group/moved0")).unwrap();
                assert_eq!(large.attribute("large").expect(&what).read::<i64>().expect(&what).len(), 700, "{what}");
            }
        }
        println!("{name}: {torn} torn writes");
        assert!(torn > 0, "{name}: no write was torn");
    }
    std::fs::remove_file(&path).unwrap();
}
