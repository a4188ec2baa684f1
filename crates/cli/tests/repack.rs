//! Files that are written anew: filters for all datasets; and some real files for several versions of the library, of which libhdf5 says the same.
//! `cargo xtask repack` does it with all.
//!
//! The latter needs a Python with h5py (`$HYPERSLAB_PYTHON`, or `target/venv`), and the corpus in `$HYPERSLAB_CORPUS` or `../shared/corpus` beside the
//! workspace, with `oracle/oracle.py` beside it; without them that test says that it is skipped.
#![cfg(target_os = "linux")]

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::common::{Folder, run, text};

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

/// Filters for all datasets are left out where values cannot go through them; those that fit no dataset at all are an error.
#[test]
fn filters_are_for_the_datasets_that_they_fit() {
    let folder = Folder::new("fitting");
    let file = hyperslab::File::create(folder.path("a.h5")).unwrap();
    let root = file.root().unwrap();
    root.new_dataset::<String>().write("words", &["one".to_owned(), "two".to_owned()]).unwrap();
    root.new_dataset::<i32>().write("numbers", &(0..1000).collect::<Vec<i32>>()).unwrap();
    root.new_dataset::<i32>().write("few", &[1, 2, 3]).unwrap();
    root.new_dataset::<f64>().scalar().write("one", &[1.0]).unwrap();
    file.close().unwrap();
    for (filter, fitting) in [
        ("scaleoffset:0", "[few, numbers]"),
        ("szip:nn:16", "[numbers]"),
        ("fletcher32", "[few, numbers]"),
        ("gzip", "[few, numbers, words]"),
        ("scaleoffset:0 --layout chunked:2", "[few, numbers]"),
    ] {
        let output = run(&folder, &format!("repack --filter {filter} a.h5 new.h5"));
        assert_eq!(output.status.code(), Some(0), "{filter}: {}", text(&output.stderr));
        assert_eq!(run(&folder, "diff a.h5 new.h5").status.code(), Some(0), "{filter}");
        let new = hyperslab::File::open(folder.path("new.h5")).unwrap();
        let names = new.root().unwrap().names().unwrap();
        let filtered = names.into_iter().filter(|name| !new.dataset(name).unwrap().filters().is_empty());
        assert_eq!(format!("[{}]", filtered.collect::<Vec<_>>().join(", ")), fitting, "{filter}");
        std::fs::remove_file(folder.path("new.h5")).unwrap();
    }
    for words in ["--filter gzip:12", "--filter szip:nn:99", "--filter 7777", "--filter gzip --layout contiguous"] {
        let output = run(&folder, &format!("repack {words} a.h5 new.h5"));
        assert_eq!(output.status.code(), Some(1), "{words}: {}", text(&output.stderr));
        assert_eq!(folder.names(), ["a.h5"], "{words}");
    }
}
