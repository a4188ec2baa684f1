//! Random programs change files, by Hyperslab and by libhdf5: whoever opens what comes of them sees what the model says.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use hyperslab_oracle::changes::{Changes, compare, shrink};
use hyperslab_oracle::{Job, run_job};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// How often a program that fails is run again, to make it shorter.
const TRIES: usize = 150;

#[test]
fn programs_agree_with_the_model_and_libhdf5() -> Result<(), Box<dyn std::error::Error>> {
    let job = Job { script: "changes.py", cases: 40, variable: "HYPERSLAB_PROGRAMS", batch: 1 };
    let (done, failed) = (AtomicU64::new(0), AtomicU64::new(0));
    run_job(&job, Changes::new, |oracle, programs| {
        let mut differences = Vec::new();
        for program in programs {
            let directory = Directory::new(program.seed);
            if let Some(first) = compare(oracle, program, &directory.0)? {
                failed.fetch_add(1, Ordering::Relaxed);
                let mut last = first.clone();
                let short = shrink(program, TRIES, &mut |shorter| match compare(oracle, shorter, &directory.0) {
                    Ok(Some(why)) => {
                        last = why;
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
    println!("{} programs agree", done.load(Ordering::Relaxed));
    Ok(())
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
