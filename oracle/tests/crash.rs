//! After a crash at any write, and on a disk that is full from any write on, everything that was flushed is there.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use hyperslab::driver::{Change, Damage, Driver, Fault, Memory, Tape, Target, Transfer};
use hyperslab_oracle::changes::{Crashed, LOWS, after_crash, look};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The oldest formats, and those whose structures came later.
const FORMATS: [usize; 4] = [0, 1, 2, 5];

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

#[test]
fn every_prefix_has_what_was_flushed() {
    let (seed, programs) = (setting("HYPERSLAB_SEED", 1), setting("HYPERSLAB_CRASHES", 3));
    let (mut prefixes, mut wrong) = (0, Vec::new());
    for (seed, low) in (seed..seed + programs).flat_map(|seed| FORMATS.map(|low| (seed, low))) {
        let tape = Arc::new(Tape::default());
        let run = Crashed::run(seed, low, 60, tape.clone(), &|| tape.changes().len()).unwrap();
        assert!(run.failed.is_none(), "seed {seed}, {}: {:?}", LOWS[low].1, run.failed);
        let mut bytes = Vec::new();
        let mut found = None;
        for (nth, change) in tape.changes().iter().enumerate() {
            change.apply(&mut bytes);
            // Before the first operation the file is still being made.
            if nth + 1 < run.changes[0] || *change == Change::Sync {
                continue;
            }
            prefixes += 1;
            let window = run.window(nth + 1);
            let seen = after_crash(bytes.clone()).and_then(|file| look(&file, true));
            let why = seen.map_or_else(|why| Some(why.to_string()), |seen| window.wrong(&seen));
            if let (Some(why), None) = (why, &found) {
                let begun = run.changes.iter().take(run.operations.len()).filter(|before| **before <= nth).count();
                let before = run.operations[..begun].iter().rev().take(12).rev();
                let steps: Vec<_> = before.map(|operation| format!("    {operation:?}")).collect();
                let name = LOWS[low].1;
                found = Some(format!("seed {seed}, {name}, change {nth}: {why}\n{}", steps.join("\n")));
            }
        }
        wrong.extend(found);
    }
    println!("{prefixes} prefixes tried");
    assert!(wrong.is_empty(), "{} programs lose something:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_full_disk_is_an_error_and_loses_nothing() {
    let (seed, step) = (setting("HYPERSLAB_SEED", 1), 1 + 12 / setting("HYPERSLAB_CRASHES", 3).clamp(1, 12));
    let (mut failures, mut wrong) = (0, Vec::new());
    for low in FORMATS {
        for spare in (0..).step_by(step as usize) {
            let disk = Arc::new(Fault::new(Memory::new()));
            disk.arm_forever(Target::Writes, spare, Damage::Shorten(0));
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
            let mut bytes = vec![0; disk.len().unwrap() as usize];
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
