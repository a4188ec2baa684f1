//! `check` and `clear` on files that libhdf5 made, and on one whose writer was killed.
//!
//! Needs a Python with h5py: `$HYPERSLAB_PYTHON`, or `target/venv`; without one the tests say that they are skipped.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::allow_attributes)]
#![allow(missing_docs)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use hyperslab::driver::{Local, Lock};

fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    directory
}

fn hyperslab(arguments: &[&str], file: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hyperslab")).args(arguments).arg(file).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn whatever_libhdf5_makes_is_whole() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let directory = directory("zoo");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/zoo.py");
    let made = Command::new(python).arg(script).arg(&directory).output().unwrap();
    assert!(made.status.success(), "{}", text(&made.stderr));
    let mut seen = 0;
    for entry in fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "h5") {
            continue;
        }
        let report = hyperslab::check::file(&path, &mut |_| ()).unwrap();
        assert_eq!(report.problems().collect::<Vec<_>>(), Vec::<&hyperslab::check::Finding>::new(), "{path:?}");
        let used: u64 = report.usage.iter().map(|usage| usage.bytes).sum();
        assert_eq!(used + report.free + report.lost, report.size, "{path:?}");
        assert!(report.objects() > 200, "{path:?}");
        // Where libhdf5 keeps books of free space, ours agree with them to the byte. It loses some of old groups.
        if report.space.persists && report.superblock > 2 {
            assert_eq!(report.lost, 0, "{path:?}");
        }
        seen += 1;
    }
    assert_eq!(seen, 12);
    fs::remove_dir_all(&directory).unwrap();
}

/// Flushes, and ends without closing the file.
const KILLED: &str = "
import os, sys, h5py
file = h5py.File(sys.argv[1], 'w', libver='latest')
file['x'] = range(10)
file.flush()
os._exit(0)
";

#[test]
fn marks_of_a_crash_are_cleared() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let directory = directory("clear");
    let file = directory.join("killed.h5");
    assert!(Command::new(&python).args(["-c", KILLED]).arg(&file).status().unwrap().success());
    let refused = hyperslab(&["ls"], &file);
    assert!(text(&refused.stderr).contains("marked as open for writing"), "{}", text(&refused.stderr));
    let checked = hyperslab(&["check"], &file);
    assert_eq!(checked.status.code(), Some(1), "{}", text(&checked.stdout));

    // Not while somebody has it open.
    let writer = Local::options().write(true).open(&file).unwrap();
    if writer.lock(Lock::Exclusive).unwrap() {
        let locked = hyperslab(&["clear"], &file);
        assert_eq!(locked.status.code(), Some(1));
        assert!(text(&locked.stderr).contains("another program has"), "{}", text(&locked.stderr));
    }
    drop(writer);

    let cleared = hyperslab(&["clear"], &file);
    assert!(cleared.status.success(), "{}", text(&cleared.stderr));
    let said = text(&cleared.stdout);
    assert!(
        said.contains("marked as open for writing\nthe file is whole: 2 objects") && said.ends_with("cleared\n"),
        "{said}"
    );
    assert!(hyperslab(&["ls"], &file).status.success() && hyperslab(&["check"], &file).status.success());
    let read = Command::new(&python)
        .args(["-c", "import h5py, sys; print(h5py.File(sys.argv[1], 'r+')['x'][9])"])
        .arg(&file)
        .output()
        .unwrap();
    assert_eq!(text(&read.stdout), "9\n", "{}", text(&read.stderr));
    fs::remove_dir_all(&directory).unwrap();
}
