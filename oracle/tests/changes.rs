//! Random programs change files, by Hyperslab and by libhdf5: all readers of what comes of them see what the model says.

use hyperslab_oracle::changes::{Changes, LOWS, compare, shrink};
use hyperslab_oracle::{Job, run_job};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// How often a program that fails is run again, to make it shorter.
const TRIES: usize = 150;

#[test]
fn programs_agree_with_the_model_and_libhdf5() -> Result<(), Box<dyn std::error::Error>> {
    let job = Job { script: "changes.py", cases: 40, variable: "HYPERSLAB_PROGRAMS", batch: 1 };
    // What libhdf5 cannot do by itself says nothing of us.
    let [done, failed, theirs] = [const { AtomicU64::new(0) }; 3];
    let kinds = Mutex::new(BTreeMap::<String, u64>::new());
    run_job(&job, Changes::new, |oracle, programs| {
        let mut differences = Vec::new();
        for program in programs {
            for kind in told(program) {
                *kinds.lock().unwrap().entry(kind).or_default() += 1;
            }
            let directory = Directory::new(program.seed);
            let difference = compare(oracle, program, &directory.0)?;
            if difference.is_some()
                && let Some(alone) = compare(oracle, &program.by_libhdf5(), &directory.0)?.filter(|alone| alone.libhdf5)
            {
                println!("seed {}: libhdf5 fails by itself: {}", program.seed, alone.why);
                theirs.fetch_add(1, Ordering::Relaxed);
            } else if let Some(first) = difference.map(|difference| difference.why) {
                failed.fetch_add(1, Ordering::Relaxed);
                let mut last = first.clone();
                let short = shrink(program, TRIES, &mut |shorter| match compare(oracle, shorter, &directory.0) {
                    Ok(Some(difference)) => {
                        last = difference.why;
                        true
                    }
                    _ => false,
                });
                let shown = short.segments.iter().enumerate().filter(|(_, segment)| !segment.operations.is_empty());
                let steps = shown.flat_map(|(number, segment)| {
                    let head = format!(
                        "  segment {number}: low {}, theirs {}, swapped {}",
                        segment.low, segment.theirs, segment.swapped
                    );
                    std::iter::once(head).chain(segment.operations.iter().map(|operation| format!("    {operation:?}")))
                });
                let steps = steps.collect::<Vec<_>>().join("\n");
                let report = format!(
                    "HYPERSLAB_SEED={} HYPERSLAB_PROGRAMS=1: {first}\n  shortened: {last}\n{steps}",
                    program.seed
                );
                println!("seed {} fails: {last}", program.seed);
                differences.push(report);
            }
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if done % 50 == 0 {
                println!("{done} programs, {} failed", failed.load(Ordering::Relaxed));
            }
        }
        Ok(differences)
    })?;
    let (done, theirs) = (done.into_inner(), theirs.into_inner());
    println!("{} programs agree, in {theirs} libhdf5 fails by itself", done - theirs);
    println!("they did, and how often: {:?}", kinds.into_inner()?);
    Ok(())
}

/// What is worth counting of a program: where it starts, its versions, and its operations.
fn told(program: &Changes) -> Vec<String> {
    let mut told = Vec::new();
    for (nth, segment) in program.segments.iter().enumerate() {
        let low = LOWS[segment.low].1;
        told.push(match (nth, segment.theirs) {
            (0, true) => format!("start from libhdf5, {low}"),
            (0, false) => format!("start from nothing, {low}"),
            _ => format!("reopen, {low}{}", if segment.swapped { ", swapped" } else { "" }),
        });
        // The name of what is done comes first.
        let name = |operation| format!("{operation:?}").chars().take_while(|letter| letter.is_alphabetic()).collect();
        told.extend(segment.operations.iter().map(name));
    }
    told
}

/// A directory that goes with the test.
struct Directory(PathBuf);

impl Directory {
    fn new(seed: u64) -> Directory {
        let path = std::env::temp_dir().join(format!("hyperslab-changes-{}-{seed}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}
