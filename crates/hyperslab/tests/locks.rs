//! Who may have a file open beside whom: in one process, and with libhdf5 in another. The whole table between processes is in `locks_between.rs`.
//!
//! The part with libhdf5 needs a Python with h5py and numpy: `$HYPERSLAB_PYTHON`, or `target/venv`; without one it says that it is skipped.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use hyperslab::{
    File, LibVersion, Locking, OpenOptions, Result,
    driver::{Driver, Transfer},
};

use crate::peer::{Peer, options};

const LOWS: [(&str, LibVersion); 2] = [("earliest", LibVersion::Earliest), ("latest", LibVersion::V200)];

/// How a file is opened; the names are those of Python.
const MODES: [&str; 6] = ["r", "r+", "a", "w", "x", "swmr"];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

fn made(name: &str, low: LibVersion) -> PathBuf {
    let path = folder().join(name);
    let file = OpenOptions::new().create().truncate().libver_min(low).open(&path).unwrap();
    file.root().unwrap().new_dataset::<i32>().write("numbers", &[1, 2, 3]).unwrap();
    file.close().unwrap();
    path
}

fn open(path: &Path, mode: &str) -> Result<File> {
    options(mode).open(path)
}

fn numbers(file: &File) -> Vec<i32> {
    file.dataset("numbers").unwrap().read().unwrap()
}

/// The consistency flags of a file with a superblock of version 2 or 3.
fn flags(path: &Path) -> u8 {
    fs::read(path).unwrap()[11]
}

/// The table of libhdf5 for one process: rows are what is open, columns what is opened beside it, in the order of `MODES`.
#[test]
fn openings_of_one_process_share_the_file() {
    let table = [
        ("r", [true, false, false, false, false, false]),
        ("swmr", [true, false, false, false, false, true]),
        ("r+", [true, true, true, false, false, true]),
        ("a", [true, true, true, false, false, true]),
        ("w", [true, true, true, false, false, true]),
    ];
    let other_names = [|path: &Path| path.to_path_buf(), hard_linked, soft_linked, spelled_otherwise];
    for (name, low) in LOWS {
        for (first, row) in table {
            for (second, allowed) in MODES.into_iter().zip(row) {
                for (nth, other_name) in other_names.into_iter().enumerate() {
                    let what = format!("{name}: {second} beside {first}, name {nth}");
                    let path = made("locks-table.h5", low);
                    let open_first = open(&path, first).expect(&what);
                    if first == "w" {
                        open_first.root().unwrap().new_dataset::<i32>().write("numbers", &[1, 2, 3]).unwrap();
                    }
                    let opened = open(&other_name(&path), second);
                    assert_eq!(opened.is_ok(), allowed, "{what}: {:?}", opened.err());
                    if let Ok(second) = opened {
                        assert_eq!(numbers(&second), [1, 2, 3], "{what}");
                        if open_first.is_writable() {
                            second.dataset("numbers").unwrap().write(&[4, 5, 6]).unwrap();
                            assert_eq!(numbers(&open_first), [4, 5, 6], "{what}");
                        }
                        second.close().unwrap();
                    }
                    numbers(&open_first);
                    open_first.close().unwrap();
                }
            }
        }
    }
}

fn hard_linked(path: &Path) -> PathBuf {
    let other = path.with_extension("hard.h5");
    let _ = fs::remove_file(&other);
    fs::hard_link(path, &other).unwrap();
    other
}

fn soft_linked(path: &Path) -> PathBuf {
    let other = path.with_extension("soft.h5");
    let _ = fs::remove_file(&other);
    std::os::unix::fs::symlink(path, &other).unwrap();
    other
}

fn spelled_otherwise(path: &Path) -> PathBuf {
    path.parent()
        .unwrap()
        .join(".")
        .join("..")
        .join(path.parent().unwrap().file_name().unwrap())
        .join(path.file_name().unwrap())
}

#[test]
fn two_writers_of_one_process_lose_nothing_also_without_locks() {
    let path = made("locks-two-writers.h5", LibVersion::Earliest);
    let writers: Vec<_> = (0..2).map(|_| OpenOptions::new().read_write().unlocked().open(&path).unwrap()).collect();
    for (nth, writer) in writers.iter().enumerate() {
        writer.root().unwrap().new_dataset::<usize>().write(format!("of {nth}"), &[nth]).unwrap();
    }
    for writer in writers {
        writer.close().unwrap();
    }
    let file = File::open(&path).unwrap();
    assert_eq!(file.dataset("of 0").unwrap().read::<usize>().unwrap(), [0]);
    assert_eq!(file.dataset("of 1").unwrap().read::<usize>().unwrap(), [1]);
}

#[test]
fn the_last_opening_closes_the_file() {
    let path = made("locks-last.h5", LibVersion::V200);
    let (one, two) = (File::edit(&path).unwrap(), File::edit(&path).unwrap());
    let dataset = one.dataset("numbers").unwrap();
    // A handle that another opening made does not keep the file open.
    let of_two = two.dataset("numbers").unwrap();
    one.close().unwrap();
    of_two.write(&[7, 8, 9]).unwrap();
    assert_eq!(flags(&path), 3, "it is open");
    two.close().unwrap();
    assert_eq!(flags(&path), 0, "it is closed");
    assert!(dataset.write(&[0, 0, 0]).is_err() && of_two.write(&[0, 0, 0]).is_err());
    assert_eq!(numbers(&File::create_new(folder().join("locks-none.h5")).and(File::open(&path)).unwrap()), [7, 8, 9]);
    fs::remove_file(folder().join("locks-none.h5")).unwrap();
    drop((dataset, of_two));
    File::create(&path).unwrap().close().unwrap();
}

#[test]
fn what_a_killed_swmr_writer_left_is_cleared_and_then_everyones() {
    let Some(mut peer) = Peer::h5py() else { return };
    let path = made("locks-swmr-left.h5", LibVersion::V200);
    assert_eq!(peer.ask(&["open", path.to_str().unwrap(), "swmr writer"]), "ok");
    assert_eq!(flags(&path), 5);
    drop(peer);
    assert!(File::open(&path).unwrap_err().to_string().contains("SWMR"), "as libhdf5 has it");
    assert!(File::edit(&path).unwrap_err().to_string().contains("hyperslab clear"));
    assert_eq!(numbers(&open(&path, "swmr").unwrap()), [1, 2, 3]);
    hyperslab::check::clear(&path, false).unwrap();
    let file = File::edit(&path).unwrap();
    assert_eq!(flags(&path), 3);
    file.dataset("numbers").unwrap().write(&[4, 5, 6]).unwrap();
    file.close().unwrap();
    assert_eq!(flags(&path), 0);
    let mut peer = Peer::h5py().unwrap();
    assert_eq!(peer.ask(&["open", path.to_str().unwrap(), "r+"]), "ok");
    assert_eq!(peer.ask(&["read"]), "4 5 6");
}

#[test]
fn refresh_sees_what_a_swmr_writer_appended() {
    let Some(mut peer) = Peer::h5py() else { return };
    let path = folder().join("locks-refresh.h5");
    assert_eq!(peer.ask(&["grow", path.to_str().unwrap()]), "ok");
    let file = open(&path, "swmr").unwrap();
    let mut log = file.dataset("log").unwrap();
    assert_eq!(log.read::<i64>().unwrap(), [0, 1, 2, 3]);
    for rows in 5..40 {
        assert_eq!(peer.ask(&["append"]), "ok");
        log = log.refresh().unwrap();
        assert_eq!(log.read::<i64>().unwrap(), (0..rows).collect::<Vec<_>>());
    }
}

#[test]
fn the_environment_comes_before_the_program() {
    let Some(mut peer) = Peer::h5py() else { return };
    let path = made("locks-environment.h5", LibVersion::Earliest);
    assert_eq!(peer.ask(&["open", path.to_str().unwrap(), "r+"]), "ok");
    for (variable, locking, allowed) in [
        (None, "required", false),
        (None, "best-effort", false),
        (None, "disabled", true),
        (Some("FALSE"), "required", true),
        (Some("0"), "best-effort", true),
        (Some("TRUE"), "disabled", false),
        (Some("BEST_EFFORT"), "disabled", false),
        (Some("false"), "best-effort", false),
        (Some("false"), "disabled", true),
    ] {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "locks::opens_with_a_policy", "--nocapture"]);
        command.env("HYPERSLAB_LOCKS", format!("{locking} {}", path.display())).env_remove("HDF5_USE_FILE_LOCKING");
        command.envs(variable.map(|value| ("HDF5_USE_FILE_LOCKING", value)));
        assert_eq!(command.output().unwrap().status.success(), allowed, "{variable:?}, {locking}");
    }
}

/// What the test above runs in another process. By itself it does nothing.
#[test]
fn opens_with_a_policy() {
    let Ok(wanted) = std::env::var("HYPERSLAB_LOCKS") else { return };
    let (locking, path) = wanted.split_once(' ').unwrap();
    let locking = match locking {
        "required" => Locking::Required,
        "best-effort" => Locking::BestEffort,
        _ => Locking::Disabled,
    };
    OpenOptions::new().locking(locking).open(path).unwrap();
}

#[test]
fn a_close_that_fails_lets_go_of_the_file() {
    for (name, low) in LOWS {
        let path = made(&format!("locks-failing-{name}.h5"), low);
        // No file of this process grows beyond 64 blocks of 512 bytes, and the signal that tells of it is ignored.
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact locks::fails_to_close --nocapture"]);
        command.arg(std::env::current_exe().unwrap()).env("HYPERSLAB_FAILS", &path);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// What the test above runs in another process. By itself it does nothing.
#[test]
fn fails_to_close() {
    let Ok(path) = std::env::var("HYPERSLAB_FAILS") else { return };
    let file = File::edit(&path).unwrap();
    let new = file.root().unwrap().new_dataset::<u64>().shape([100_000]).chunks([100_000]).shuffle();
    // A small cache finds out when it is written, a large one when it is closed.
    let written = new.create("new").unwrap().write(&(0..100_000).collect::<Vec<u64>>());
    assert!(file.close().is_err() || written.is_err());
    assert_eq!(numbers(&File::open(&path).unwrap()), [1, 2, 3]);
    let file = File::edit(&path).unwrap();
    file.dataset("numbers").unwrap().write(&[4, 5, 6]).unwrap();
    file.close().unwrap();
    assert_eq!(numbers(&File::open(&path).unwrap()), [4, 5, 6]);
}

#[test]
fn a_pipe_is_no_file() {
    let path = folder().join("locks-pipe");
    let _ = fs::remove_file(&path);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    for mode in ["r", "r+", "a", "w"] {
        let refused = open(&path, mode).unwrap_err().to_string();
        assert!(refused.contains("pipe, not a regular file"), "{refused}");
    }
    // Nor is it one where another file names it.
    let file = File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new())).unwrap();
    let root = file.root().unwrap();
    root.external_link("linked", path.to_str().unwrap(), "/x").unwrap();
    assert!(file.get("linked").unwrap_err().to_string().contains("pipe"));
}

#[test]
fn a_file_is_closed_when_all_writes_have_ended() {
    for round in 0..40 {
        let path = folder().join("locks-closing.h5");
        let file = File::create(&path).unwrap();
        let new = file.root().unwrap().new_dataset::<i64>().shape([4096]).chunks([64]).deflate(1);
        let dataset = new.create("numbers").unwrap();
        let writers: Vec<_> = (0..4)
            .map(|nth| {
                let dataset = dataset.clone();
                std::thread::spawn(move || {
                    let mut written = Vec::new();
                    for at in (nth * 16..4096).step_by(64) {
                        match dataset.write_slice(at..at + 16, &[at as i64 + 1; 16]) {
                            Ok(()) => written.push(at),
                            Err(_) => break,
                        }
                    }
                    written
                })
            })
            .collect();
        std::thread::sleep(std::time::Duration::from_micros(round * 50));
        file.close().unwrap();
        let written: Vec<usize> = writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
        let stored = File::open(&path).unwrap().dataset("numbers").unwrap().read::<i64>().unwrap();
        for at in written {
            assert_eq!(stored[at], at as i64 + 1, "round {round}: a write that returned Ok");
        }
    }
}

#[test]
fn storage_that_is_no_file_is_opened_as_often_as_one_likes() {
    let memory = std::sync::Arc::new(hyperslab::driver::Memory::new());
    File::create_on(memory.clone()).unwrap().close().unwrap();
    assert!(memory.len(&Transfer::default()).unwrap() > 0);
    let (_one, _two) = (File::open_driver(memory.clone()).unwrap(), File::open_driver(memory).unwrap());
}
