//! Some real files, written anew for several versions of the library: libhdf5 says the same of them. `cargo xtask repack` does it with all.
//!
//! Needs a Python with h5py (`$HYPERSLAB_PYTHON`, or `target/venv`), and the corpus in `$HYPERSLAB_CORPUS` or `../shared/corpus` beside the
//! workspace, with `oracle/oracle.py` beside it; without them the test says that it is skipped.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::allow_attributes)]
#![allow(missing_docs)]

use std::{
    path::{Path, PathBuf},
    process::Command,
};

#[test]
fn files_written_anew_are_the_same_for_libhdf5() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let beside = workspace.join("../shared/corpus");
    let corpus = std::env::var_os("HYPERSLAB_CORPUS").map_or(beside, PathBuf::from);
    if !corpus.join("index.csv").exists() || !corpus.join("../oracle/oracle.py").exists() {
        return eprintln!("skipped all files: there is no corpus, or nothing that tells of its files");
    }
    let Some(python) = hyperslab_workshop::python() else { return };
    let mut command = Command::new(python);
    command.arg(workspace.join("oracle/repack.py")).arg("--bin").arg(env!("CARGO_BIN_EXE_hyperslab"));
    command.arg("--corpus").arg(corpus).args(["--every", "29", "--least", "100", "--h5dump", ""]);
    let done = command.output().unwrap();
    let told = String::from_utf8_lossy(&done.stdout);
    println!("{told}");
    assert!(done.status.success(), "{told}{}", String::from_utf8_lossy(&done.stderr));
}
