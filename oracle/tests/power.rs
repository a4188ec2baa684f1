//! After a power failure at any moment, a file that is written with full durability has what was flushed.
//!
//! The model of a device: everything before a sync is there. Of each write since then, any of its sectors of 512 bytes may be there or not,
//! whatever became of others; changes of length may have happened or not. Only values that are overwritten where they are, without filters, are
//! taken as whole, since an element that lies over the border of a sector may be half old and half new: that is not promised.

use hyperslab::driver::{Change, Memory, MemoryType, Tape};
use hyperslab::{Durability, OpenOptions};
use hyperslab_oracle::changes::{Crashed, LOWS, Window, after_crash, look};
use hyperslab_workshop::{cases, setting};
use std::sync::Arc;

const SECTOR: usize = 512;
/// The oldest formats, and those whose structures came later.
const FORMATS: [usize; 4] = [0, 1, 2, 5];

/// What a device has that had `synced`, and some of the changes since.
fn after_power_failure(synced: &[u8], since: &[Change], random: &mut fastrand::Rng) -> Vec<u8> {
    let mut bytes = synced.to_vec();
    // Mostly there, mostly not, or as it comes.
    let likely = [0.1, 0.5, 0.9, 0.97][random.usize(..4)];
    for change in since {
        match change {
            Change::Write { kind, addr, bytes: written } if *kind != MemoryType::RawData => {
                let mut at = 0;
                while at < written.len() {
                    let place = *addr as usize + at;
                    let end = (at + SECTOR - place % SECTOR).min(written.len());
                    if random.f64() < likely {
                        let part = Change::Write { kind: *kind, addr: place as u64, bytes: written[at..end].to_vec() };
                        part.apply(&mut bytes);
                    }
                    at = end;
                }
            }
            other if random.f64() < likely => other.apply(&mut bytes),
            _ => {}
        }
    }
    bytes
}

/// What is wrong with a file that a device has; nothing if it has what it must.
fn wrong(bytes: &[u8], window: &Window<'_>, random: &mut fastrand::Rng) -> Option<String> {
    let told = |seen: hyperslab::Result<_>| {
        seen.map_or_else(|why| Some(why.to_string()), |seen: std::collections::BTreeMap<_, _>| window.wrong(&seen))
    };
    if random.u8(..4) == 0 {
        let storage = Arc::new(Memory::from(bytes.to_vec()));
        let read = OpenOptions::new().unlocked().open_on(storage).and_then(|file| look(&file, true));
        if let Some(why) = told(read) {
            return Some(format!("for who only reads: {why}"));
        }
    }
    if random.u8(..8) == 0 {
        // The power fails again while the file is opened.
        let tape = Arc::new(Tape::from(bytes.to_vec()));
        let options = OpenOptions::new().read_write().unlocked().durability(Durability::Full);
        drop(options.open_on(tape.clone()));
        let changes = tape.changes();
        let until = random.usize(..=changes.len());
        let (synced, since) = split(bytes.to_vec(), &changes[..until]);
        let again = after_power_failure(&synced, since, random);
        if let Some(why) = told(after_crash(again).and_then(|file| look(&file, true))) {
            return Some(format!("after a second power failure: {why}"));
        }
    }
    told(after_crash(bytes.to_vec()).and_then(|file| look(&file, true)))
}

/// The bytes at the last sync, and the changes since.
fn split(mut bytes: Vec<u8>, changes: &[Change]) -> (Vec<u8>, &[Change]) {
    let synced = changes.iter().rposition(|change| *change == Change::Sync).map_or(0, |at| at + 1);
    changes[..synced].iter().for_each(|change| change.apply(&mut bytes));
    (bytes, &changes[synced..])
}

#[test]
fn every_state_has_what_was_flushed() {
    let (first, wanted) = (setting("HYPERSLAB_SEED", 1), cases("HYPERSLAB_POWER_STATES", 3_000));
    let mut random = fastrand::Rng::with_seed(first);
    let (mut states, mut failed, mut seed) = (0, Vec::new(), first);
    while states < wanted && failed.len() < 5 {
        for low in FORMATS {
            let tape = Arc::new(Tape::default());
            let how = (low, Durability::Full);
            let run = Crashed::run_durably(seed, how, 50, tape.clone(), &|| tape.changes().len()).unwrap();
            assert!(run.failed.is_none(), "seed {seed}, {}: {:?}", LOWS[low].1, run.failed);
            let changes = tape.changes();
            let (mut synced, mut from) = (Vec::new(), 0);
            for nth in 0..changes.len() {
                if changes[nth] == Change::Sync {
                    changes[from..nth].iter().for_each(|change| change.apply(&mut synced));
                    from = nth + 1;
                }
                if nth + 1 < run.changes[0] || random.u8(..3) != 0 {
                    continue;
                }
                states += 1;
                let bytes = after_power_failure(&synced, &changes[from..=nth], &mut random);
                let window = run.window(nth + 1);
                if let Some(why) = wrong(&bytes, &window, &mut random) {
                    failed.push(format!("seed {seed}, {}, change {nth} of {}: {why}", LOWS[low].1, changes.len()));
                    break;
                }
            }
        }
        seed += 1;
    }
    println!("{states} states tried");
    assert!(failed.is_empty(), "{} programs lose something:\n{}", failed.len(), failed.join("\n"));
}

/// The model finds what goes wrong: without syncs between the steps of a flush, something does.
#[test]
fn without_full_durability_something_is_lost() {
    let mut random = fastrand::Rng::with_seed(1);
    for seed in 1..30 {
        let tape = Arc::new(Tape::default());
        let how = (5, Durability::Flush);
        let run = Crashed::run_durably(seed, how, 50, tape.clone(), &|| tape.changes().len()).unwrap();
        let changes = tape.changes();
        for nth in run.changes[0]..changes.len() {
            let (synced, since) = split(Vec::new(), &changes[..=nth]);
            let bytes = after_power_failure(&synced, since, &mut random);
            if wrong(&bytes, &run.window(nth + 1), &mut random).is_some() {
                return;
            }
        }
    }
    panic!("nothing was lost");
}
