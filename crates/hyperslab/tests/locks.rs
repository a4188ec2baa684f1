//! Who may have a file open beside whom: as libhdf5 has it, which takes part from another process.
//!
//! Needs a Python with h5py and numpy: `$HYPERSLAB_PYTHON`, or `target/venv`; without one that part says that it is skipped.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use hyperslab::{File, Low, OpenOptions};

const LOWS: [(&str, Low); 2] = [("earliest", Low::Earliest), ("latest", Low::V200)];

fn made(name: &str, low: Low) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let file = OpenOptions::new().create().truncate().low(low).open(&path).unwrap();
    file.root().unwrap().new_dataset::<i32>().write("numbers", &[1, 2, 3]).unwrap();
    file.close().unwrap();
    path
}

#[test]
fn readers_keep_writers_away_and_a_writer_everybody() {
    for (name, low) in LOWS {
        let path = made(&format!("locks-{name}.h5"), low);
        let readers = [File::open(&path).unwrap(), File::open(&path).unwrap()];
        let refused = File::edit(&path).unwrap_err().to_string();
        assert!(refused.contains("has the file open"), "{refused}");
        assert!(File::create(&path).is_err());
        assert_eq!(readers[0].dataset("numbers").unwrap().read::<i32>().unwrap(), [1, 2, 3], "it is as it was");
        drop(readers);

        let writer = File::edit(&path).unwrap();
        assert!(File::open(&path).is_err());
        assert!(File::edit(&path).is_err());
        writer.close().unwrap();
        File::open(&path).unwrap();
    }
}

#[test]
fn who_is_not_locked_is_in_nobodys_way() {
    let path = made("locks-unlocked.h5", Low::Earliest);
    let reader = OpenOptions::new().unlocked().open(&path).unwrap();
    let writer = File::edit(&path).unwrap();
    assert_eq!(reader.dataset("numbers").unwrap().read::<i32>().unwrap(), [1, 2, 3]);
    writer.close().unwrap();
}

#[test]
fn libhdf5_heeds_our_locks() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let can = |path: &Path, mode: &str| {
        let program = "import sys, h5py; h5py.File(sys.argv[1], sys.argv[2]).close()";
        let mut command = Command::new(&python);
        command.args(["-W", "ignore", "-c", program]).arg(path).arg(mode).env_remove("HDF5_USE_FILE_LOCKING");
        command.output().unwrap().status.success()
    };
    for (name, low) in LOWS {
        let path = made(&format!("locks-theirs-{name}.h5"), low);
        let reader = File::open(&path).unwrap();
        assert!(can(&path, "r") && !can(&path, "r+"), "{name}: beside a reader");
        drop(reader);
        let writer = File::edit(&path).unwrap();
        assert!(!can(&path, "r") && !can(&path, "r+"), "{name}: beside a writer");
        writer.close().unwrap();
        assert!(can(&path, "r+"), "{name}: when all is closed");
    }
}
