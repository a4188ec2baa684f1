//! Seeds, spoiled and then changed: nothing panics, overflows, takes long or takes much memory, and what fails says what, where and why.
//!
//! `$HYPERSLAB_SEED` and `$HYPERSLAB_EDITS` (of each seed) change how much is tried.

use hyperslab_workshop::{cases, setting};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    time::{Duration, Instant},
};

use fastrand::Rng;
use hyperslab::{Error, ErrorKind};
use hyperslab_hostile::{edit, mutate, repair_file, seeds, walk};

/// More time than the changes of a small file need, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);
/// What changes of a small file may add to it.
const GROWTH: usize = 64 << 20;

/// A file that does harm is kept, to look at.
fn keep(name: &str, bytes: &[u8]) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("edited-{name}.h5"));
    std::fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

/// How many changes were done.
pub(crate) fn survives(name: &str, bytes: &[u8], seed: u64) -> usize {
    let begin = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(|| {
        let (report, after) = edit(bytes.to_vec(), &mut Rng::with_seed(seed));
        walk(after.clone());
        (report, after.len())
    }));
    let Ok((report, after)) = result else { panic!("{}, seed {seed}: it panics", keep(name, bytes)) };
    let took = begin.elapsed();
    assert!(took < PATIENCE, "{}, seed {seed}: it takes {took:?}", keep(name, bytes));
    assert!(after < bytes.len() + GROWTH, "{}, seed {seed}: it has {after} bytes then", keep(name, bytes));
    for error in report.errors {
        let says_why = error.to_string().split_whitespace().count() >= 3;
        assert!(says_why, "{}: an error that says nothing: {error:?}", keep(name, bytes));
    }
    report.reads
}

#[test]
fn whole_seeds_stay_whole() {
    let mut changes = 0;
    for (name, bytes) in seeds().unwrap() {
        for seed in 0..8 {
            let (report, after) = edit(bytes.clone(), &mut Rng::with_seed(seed));
            assert!(report.objects > 1, "{name}: {report:?}");
            changes += report.reads;
            // What is refused is refused before anything changes.
            let broken = report.errors.iter().any(|error| error.kind() == ErrorKind::Poisoned);
            assert!(!broken, "{name}, seed {seed}: {report:?}");
            let meant = |error: &Error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::LinkLoop);
            let errors: Vec<_> = walk(after.clone()).errors.into_iter().filter(|error| !meant(error)).collect();
            assert!(errors.is_empty(), "{}, seed {seed}: {errors:?}", keep(&name, &after));
        }
    }
    println!("{changes} changes");
}

#[test]
fn changes_of_spoiled_seeds_do_no_harm() {
    let mut rng = Rng::with_seed(setting("HYPERSLAB_SEED", 1));
    let (seeds, mut edits, mut changes) = (seeds().unwrap(), 0, 0);
    for _ in 0..cases("HYPERSLAB_EDITS", 100) {
        for (name, seed) in &seeds {
            let mut bytes = seed.clone();
            let (_, other) = &seeds[rng.usize(..seeds.len())];
            mutate(&mut bytes, other, seed.len() + 4096, &mut rng);
            changes += survives(name, &bytes, rng.u64(..));
            edits += 1;
            if catch_unwind(AssertUnwindSafe(|| repair_file(&mut bytes))).is_ok() {
                changes += survives(name, &bytes, rng.u64(..));
                edits += 1;
            }
        }
    }
    println!("{edits} files, {changes} changes");
}
