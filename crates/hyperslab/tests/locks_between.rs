//! Files between processes: this library and libhdf5 let each other in, and keep each other out, as libhdf5 does with itself.
//!
//! Each process that opens a file is a [`Peer`]: this library, or h5py. Needs a Python with h5py: `$HYPERSLAB_PYTHON`, or `target/venv`; without one
//! the tests are skipped.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use hyperslab::{File, LibVersion, Result};

use crate::peer::{Peer, options};

const FORMATS: [&str; 2] = ["earliest", "latest"];
/// How the first process opens a file. This library has no SWMR writer.
const FIRST: [&str; 6] = ["r", "r+", "w", "a", "swmr", "swmr writer"];
/// How the second process opens it beside the first.
const SECOND: [&str; 6] = ["r", "r+", "w", "a", "x", "swmr"];
/// Set in a process that is a peer with this library.
const PEER: &str = "HYPERSLAB_PEER";

fn place(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn open(path: &str, mode: &str, format: &str) -> Result<File> {
    options(mode).libver_min(if format == "latest" { LibVersion::V200 } else { LibVersion::Earliest }).open(path)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Library {
    H5py,
    Ours,
}

/// A process with a library; none if there is no Python.
fn start(library: Library) -> Option<Peer> {
    if library == Library::H5py {
        return Peer::h5py();
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "locks_between::opens_what_it_is_told", "--nocapture"]).env(PEER, "");
    Some(Peer::start(command))
}

/// Two of each library.
fn start_all() -> Option<[[Peer; 2]; 2]> {
    let two = |library| Some([start(library)?, start(library)?]);
    Some([two(Library::H5py)?, two(Library::Ours)?])
}

fn ask_to_open(peer: &mut Peer, path: &Path, mode: &str, format: &str) -> String {
    peer.ask(&["open", path.to_str().unwrap(), mode, format])
}

/// What a peer with this library runs. By itself it does nothing.
#[test]
fn opens_what_it_is_told() {
    if std::env::var(PEER).is_err() {
        return;
    }
    let mut file = None;
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let done = match line.split('\t').collect::<Vec<_>>()[..] {
            ["open", path, mode, format] => open(path, mode, format).map(|opened| file = Some(opened)),
            _ => file.take().map_or(Ok(()), File::close),
        };
        println!("\n= {}", done.map_or_else(|why| why.to_string().replace('\n', " "), |()| "ok".to_owned()));
    }
}

/// Every cell of the table is tried with both libraries on both sides, and the verdict is that of h5py beside h5py.
#[test]
fn processes_open_files_beside_each_other_as_those_of_libhdf5_do() {
    let Some([[mut their_first, mut their_second], [mut our_first, mut our_second]]) = start_all() else {
        return;
    };
    let (whole, path, mut wrong, mut allowed) = (place("between-whole.h5"), place("between.h5"), String::new(), 0);
    for format in FORMATS {
        assert_eq!(their_first.ask(&["make", whole.to_str().unwrap(), format]), "ok");
        for (first, second) in FIRST.into_iter().flat_map(|first| SECOND.map(|second| (first, second))) {
            let mut wanted = None;
            for (by, beside) in [
                (Library::H5py, Library::H5py),
                (Library::Ours, Library::H5py),
                (Library::H5py, Library::Ours),
                (Library::Ours, Library::Ours),
            ] {
                if by == Library::Ours && first == "swmr writer" {
                    continue;
                }
                let what = format!("{format}: {second} of {beside:?} beside {first} of {by:?}");
                let one = if by == Library::Ours { &mut our_first } else { &mut their_first };
                let two = if beside == Library::Ours { &mut our_second } else { &mut their_second };
                fs::copy(&whole, &path).unwrap();
                let opened = ask_to_open(one, &path, first, format);
                if (format, first) == ("earliest", "swmr writer") {
                    assert_ne!(opened, "ok", "{what}: old files have no SWMR");
                    continue;
                }
                assert_eq!(opened, "ok", "{what}");
                let before = fs::read(&path).unwrap();
                let verdict = ask_to_open(two, &path, second, format);
                let is_open = verdict == "ok";
                if *wanted.get_or_insert(is_open) != is_open {
                    writeln!(wrong, "{what}: {verdict}").unwrap();
                }
                if beside == Library::Ours && !is_open {
                    assert!(before == fs::read(&path).unwrap(), "{what}: a refusal changes nothing");
                    // A SWMR writer has no lock.
                    let is_named = verdict.contains(&format!("(process {})", one.child.id()));
                    let may_be = Path::new("/proc/locks").exists() && first != "swmr writer" && second != "x";
                    assert!(is_named || !may_be, "{what}: {verdict}");
                }
                allowed += usize::from(is_open);
                two.ask(&["close"]);
                // libhdf5 may have cut the file before it saw the lock.
                let closed = one.ask(&["close"]);
                assert!(closed == "ok" || second == "w", "{what}: {closed}");
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(allowed > 0);
}

/// A copy of a file with its consistency flags set by hand.
fn flagged(whole: &Path, name: &str, flags: u8) -> PathBuf {
    let (path, mut bytes) = (place(name), fs::read(whole).unwrap());
    assert_eq!((bytes[8], bytes[11]), (3, 0), "a superblock of version 3 without flags");
    bytes[11] = flags;
    let sum = hyperslab_base::lookup3(&bytes[..44]);
    bytes[44..48].copy_from_slice(&sum.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn consistency_flags_are_read_as_by_libhdf5() {
    let Some([[mut theirs, _], [mut ours, _]]) = start_all() else { return };
    let (whole, mut wrong) = (place("between-flags-whole.h5"), String::new());
    assert_eq!(theirs.ask(&["make", whole.to_str().unwrap(), "latest"]), "ok");
    for (flags, mode) in (0..8).flat_map(|flags| ["r", "r+", "swmr"].map(|mode| (flags, mode))) {
        let path = flagged(&whole, "between-flags.h5", flags);
        let by_them = ask_to_open(&mut theirs, &path, mode, "latest");
        theirs.ask(&["close"]);
        let path = flagged(&whole, "between-flags.h5", flags);
        let by_us = ask_to_open(&mut ours, &path, mode, "latest");
        let refused = by_us != "ok";
        assert!(!refused || fs::read(&path).unwrap()[11] == flags, "a refusal changes nothing");
        ours.ask(&["close"]);
        // The mark of a writer with this library, which keeps the file whole, and whose lock is gone.
        let wanted = flags == 3 || by_them == "ok";
        if wanted == refused {
            writeln!(wrong, "flags {flags}, {mode}: {by_us}, h5py: {by_them}").unwrap();
        }
        let left = fs::read(&path).unwrap()[11];
        if !refused && mode == "r+" && left != 0 {
            writeln!(wrong, "flags {flags}: {left} after they were cleared").unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// A SWMR writer tells of the end of the file before it writes there.
#[test]
fn a_swmr_reader_opens_a_file_whose_end_is_not_written_yet() {
    let Some(mut theirs) = start(Library::H5py) else { return };
    let whole = place("between-end-whole.h5");
    let file = open(whole.to_str().unwrap(), "w", "latest").unwrap();
    for (name, count) in [("numbers", 3), ("last", 1000)] {
        file.root().unwrap().new_dataset::<i64>().write(name, &(1..=count).collect::<Vec<_>>()).unwrap();
    }
    file.close().unwrap();
    for (flags, cut, mode) in [0, 5].into_iter().flat_map(|flags| {
        [0, 8, 64, 4000].into_iter().flat_map(move |cut| ["r", "r+", "swmr"].map(|mode| (flags, cut, mode)))
    }) {
        let what = format!("flags {flags}, {cut} bytes fewer, {mode}");
        let path = flagged(&whole, "between-end.h5", flags);
        let length = fs::metadata(&path).unwrap().len();
        let cut_file = || fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length - cut).unwrap();
        cut_file();
        let by_us = open(path.to_str().unwrap(), mode, "latest");
        if let Ok(file) = &by_us {
            assert_eq!(file.dataset("numbers").unwrap().read::<i64>().unwrap(), [1, 2, 3], "{what}");
            let last = file.dataset("last").and_then(|last| last.read::<i64>());
            assert!(last.is_ok() || cut > 0, "{what}: {last:?}");
            assert!(last.is_err() || cut < 4000, "{what}: it is not there");
        }
        let is_open = by_us.map(drop).is_ok();
        let path = flagged(&whole, "between-end.h5", flags);
        cut_file();
        let by_them = ask_to_open(&mut theirs, &path, mode, "latest");
        assert_eq!(is_open, by_them == "ok", "{what}, h5py: {by_them}");
        assert!(!is_open || theirs.ask(&["read"]) == "1 2 3", "{what}");
        theirs.ask(&["close"]);
    }
}

#[test]
fn a_file_of_libhdf5_is_marked_as_whole_while_it_is_changed() {
    let Some(mut theirs) = start(Library::H5py) else { return };
    let (path, copy) = (place("between-mark.h5"), place("between-mark-copy.h5"));
    assert_eq!(theirs.ask(&["make", path.to_str().unwrap(), "latest"]), "ok");
    let flags = || fs::read(&path).unwrap()[11];
    let file = File::edit(&path).unwrap();
    file.dataset("numbers").unwrap().write(&[4i64, 5, 6]).unwrap();
    file.flush().unwrap();
    assert_eq!(flags(), 3);
    for mode in ["r", "r+", "swmr"] {
        // As another process sees it when this one was killed.
        fs::copy(&path, &copy).unwrap();
        assert_ne!(ask_to_open(&mut theirs, &copy, mode, "latest"), "ok", "libhdf5 does not know the mark");
        let left = open(copy.to_str().unwrap(), mode, "latest").unwrap();
        assert_eq!(left.dataset("numbers").unwrap().read::<i64>().unwrap(), [4, 5, 6]);
        left.close().unwrap();
    }
    file.close().unwrap();
    assert_eq!(flags(), 0);
    assert_eq!(ask_to_open(&mut theirs, &path, "r+", "latest"), "ok");
    assert_eq!(theirs.ask(&["close"]), "ok");
    assert_eq!(flags(), 0);
}
