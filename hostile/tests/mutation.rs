//! Seeds, spoiled a few thousand times: nothing panics, overflows or takes long, and what fails says what, where and why.
//!
//! `$HYPERSLAB_SEED` and `$HYPERSLAB_MUTATIONS` (of each seed) change how much is tried.

use hyperslab_workshop::{cases, setting};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    time::{Duration, Instant},
};

use fastrand::Rng;
use hyperslab::{Error, ErrorKind};
use hyperslab_hostile::{mutate, repair_file, seeds, walk};

/// More time than any walk over a small file needs, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(5);

/// A file that does harm is kept, to look at.
fn keep(name: &str, bytes: &[u8]) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hostile-{name}.h5"));
    std::fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

pub(crate) fn survives(name: &str, bytes: &[u8]) {
    let begin = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(|| walk(bytes.to_vec())));
    let Ok(report) = result else { panic!("{}: the walk panics", keep(name, bytes)) };
    assert!(begin.elapsed() < PATIENCE, "{}: the walk takes {:?}", keep(name, bytes), begin.elapsed());
    for error in report.errors {
        let says_why = error.to_string().split_whitespace().count() >= 3;
        assert!(says_why, "{}: an error that says nothing: {error:?}", keep(name, bytes));
    }
}

#[test]
fn seeds_are_read_whole() {
    for (name, bytes) in seeds().unwrap() {
        let report = walk(bytes);
        assert!(report.objects > 1, "{name}: {report:?}");
        // What leads nowhere does so on purpose.
        let meant = |error: &Error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::LinkLoop);
        let errors: Vec<_> = report.errors.iter().filter(|error| !meant(error)).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
    }
}

#[test]
fn spoiled_seeds_do_no_harm() {
    let mut rng = Rng::with_seed(setting("HYPERSLAB_SEED", 1));
    let seeds = seeds().unwrap();
    for _ in 0..cases("HYPERSLAB_MUTATIONS", 200) {
        for (name, seed) in &seeds {
            let mut bytes = seed.clone();
            let (_, other) = &seeds[rng.usize(..seeds.len())];
            mutate(&mut bytes, other, seed.len() + 4096, &mut rng);
            survives(name, &bytes);
            if catch_unwind(AssertUnwindSafe(|| repair_file(&mut bytes))).is_ok() {
                survives(name, &bytes);
            }
        }
    }
}

#[test]
fn files_that_lost_their_end_do_no_harm() {
    let mut rng = Rng::with_seed(setting("HYPERSLAB_SEED", 1));
    for (name, seed) in seeds().unwrap() {
        for _ in 0..60 {
            survives(&name, &seed[..rng.usize(..seed.len())]);
        }
    }
}
