//! The end of openings: what other threads, handles that are left and later programs see of it.

mod during;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Barrier, mpsc},
    thread,
    time::Duration,
};

use hyperslab::{
    Error, File, FileSpace, LibVersion, OpenOptions, SpaceStrategy, check,
    space::{Op, Slab, Space, UNLIMITED},
};

fn place(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn made(name: &str, options: OpenOptions) -> PathBuf {
    let path = place(name);
    let file = options.create().truncate().open(&path).unwrap();
    file.root().unwrap().new_dataset::<i32>().write("numbers", &[1, 2, 3]).unwrap();
    file.close().unwrap();
    path
}

/// The consistency flags of a file with a superblock of version 2 or 3.
fn flags(path: &Path) -> u8 {
    fs::read(path).unwrap()[11]
}

fn is_closed<T>(result: Result<T, Error>) -> bool {
    result.is_err_and(|why| why.to_string().contains("the file was closed"))
}

/// Another process may have changed the file since, or may be changing it.
#[test]
fn handles_of_a_closed_file_neither_read_nor_write_it() {
    for writes in [false, true] {
        let path = made("closed.h5", OpenOptions::new());
        let options = OpenOptions::new();
        let file = if writes { options.read_write() } else { options }.open(&path).unwrap();
        let (numbers, root) = (file.dataset("numbers").unwrap(), file.root().unwrap());
        if writes {
            numbers.write(&[4, 5, 6]).unwrap();
        }
        file.close().unwrap();
        let later = OpenOptions::new().read_write().open(&path).unwrap();
        later.root().unwrap().new_dataset::<i32>().write("more", &[7; 10_000]).unwrap();
        later.flush().unwrap();
        let bytes = fs::read(&path).unwrap();
        assert!(is_closed(numbers.read::<i32>()));
        assert!(is_closed(numbers.write(&[7, 8, 9])) || !writes);
        assert!(is_closed(root.get("numbers")));
        assert!(is_closed(root.links()));
        assert_eq!(fs::read(&path).unwrap(), bytes);
        assert_eq!(
            later.dataset("numbers").unwrap().read::<i32>().unwrap(),
            if writes { [4, 5, 6] } else { [1, 2, 3] }
        );
    }
}

#[test]
fn several_openings_are_closed_at_once() {
    let path = made("closed-at-once.h5", OpenOptions::new());
    for round in 0..300 {
        let (openings, start) =
            ([0, 1, 2].map(|_| OpenOptions::new().read_write().open(&path).unwrap()), Barrier::new(3));
        openings[0].dataset("numbers").unwrap().write(&[round; 3]).unwrap();
        thread::scope(|scope| {
            for file in openings {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    file.close().unwrap();
                });
            }
        });
        assert_eq!(File::open(&path).unwrap().dataset("numbers").unwrap().read::<i32>().unwrap(), [round; 3]);
    }
}

/// Each access opens the other file and lets it go again.
#[test]
fn a_link_leads_to_a_file_that_other_threads_let_go() {
    let target = made("closed-linked.h5", OpenOptions::new());
    let path = place("closed-links.h5");
    let file = File::create(&path).unwrap();
    file.root().unwrap().external_link("link", target.to_str().unwrap(), "/numbers").unwrap();
    file.close().unwrap();
    let file = File::open(&path).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1000 {
                    assert_eq!(file.dataset("link").unwrap().read::<i32>().unwrap(), [1, 2, 3]);
                }
            });
        }
    });
}

/// A path leads through links of a file to the file itself, and another thread closes it on the way: the last thread that lets go of the file ends
/// it, and must have no lock of it then.
#[test]
fn a_file_that_leads_to_itself_is_closed_by_another_thread() {
    let path = place("closed-circle.h5");
    let file = File::create(&path).unwrap();
    let (root, name) = (file.root().unwrap(), path.to_str().unwrap());
    root.new_dataset::<i32>().shape([3]).max_shape([None]).chunks([4]).write("numbers", &[1, 2, 3]).unwrap();
    let mut growing = Space::with_max(&[3], &[None]).unwrap();
    growing.select_hyperslab(Op::Set, &[Slab::new(0, 1, UNLIMITED, 1)]).unwrap();
    let new = root.new_dataset::<i32>().shape([3]).max_shape([None]);
    new.virtual_source(&growing, name, "numbers", &growing).create("grows").unwrap();
    root.external_link("nowhere", name, "/missing").unwrap();
    file.close().unwrap();
    let (done, all_done) = mpsc::channel();
    for way in ["grows", "nowhere"] {
        for _ in 0..100 {
            let file = OpenOptions::new().read_write().open(&path).unwrap();
            let (root, done, start) = (file.root().unwrap(), done.clone(), Arc::new(Barrier::new(2)));
            let started = start.clone();
            thread::spawn(move || {
                started.wait();
                let mut met = 0;
                while !is_closed(root.get(way)) {
                    met += 1;
                }
                done.send(met).unwrap();
            });
            start.wait();
            thread::yield_now();
            let closed = thread::spawn(move || file.close().unwrap());
            all_done.recv_timeout(Duration::from_secs(60)).expect("the thread that follows the path hangs");
            closed.join().unwrap();
        }
    }
}

/// A process that can lock a file with the other mark takes it for left by a writer that is gone.
#[test]
fn a_writer_without_a_lock_does_not_mark_the_file_as_whole() {
    let path = place("closed-marks.h5");
    for (unlocked, wanted) in [(false, 3), (true, 1)] {
        let options = OpenOptions::new().create().truncate().libver_min(LibVersion::V110);
        let file = if unlocked { options.unlocked() } else { options }.open(&path).unwrap();
        file.flush().unwrap();
        assert_eq!(flags(&path), wanted);
        // As another process sees it.
        let copy = place("closed-marks-copy.h5");
        fs::copy(&path, &copy).unwrap();
        assert_eq!(OpenOptions::new().read_write().open(&copy).is_ok(), !unlocked);
        file.close().unwrap();
        assert_eq!(flags(&path), 0);
        let file = OpenOptions::new().read_write();
        let file = if unlocked { file.unlocked() } else { file }.open(&path).unwrap();
        assert_eq!(flags(&path), wanted);
        file.close().unwrap();
    }
}

/// All openings have one policy of locking. While a file has the mark of a writer with a lock, the lock is held, whichever opening is closed first:
/// otherwise another process would take it for left by a writer that is gone.
#[test]
fn openings_share_the_lock_or_have_none() {
    let choices = [(false, false), (false, true), (true, false), (true, true)];
    for (low, (unlocked, reversed)) in
        [LibVersion::Earliest, LibVersion::V110].into_iter().flat_map(|low| choices.map(|choice| (low, choice)))
    {
        let what = format!("{low:?}, without a lock: {unlocked}, closed last: {reversed}");
        let path = made("closed-one-lock.h5", OpenOptions::new().libver_min(low));
        let open = |unlocked| {
            let options = OpenOptions::new().read_write();
            if unlocked { options.unlocked() } else { options }.open(&path)
        };
        let has_mark = || low == LibVersion::V110 && flags(&path) & 2 != 0;
        let mut files = [open(unlocked).unwrap(), open(unlocked).unwrap()];
        let refused = open(!unlocked).unwrap_err().to_string();
        assert!(refused.contains("policy of locking"), "{what}: {refused}");
        for (nth, file) in files.iter().enumerate() {
            file.root().unwrap().new_dataset::<usize>().write(format!("of {nth}"), &[nth]).unwrap();
        }
        assert_eq!(is_locked(&path), !unlocked, "{what}");
        assert!(is_locked(&path) || !has_mark(), "{what}");
        if reversed {
            files.reverse();
        }
        let [one, last] = files;
        one.close().unwrap();
        last.dataset("numbers").unwrap().write(&[7, 8, 9]).unwrap();
        last.flush().unwrap();
        assert_eq!(is_locked(&path), !unlocked, "{what}, one closed");
        assert!(is_locked(&path) || !has_mark(), "{what}, one closed");
        last.close().unwrap();
        assert!(!is_locked(&path) && (low == LibVersion::Earliest || flags(&path) == 0), "{what}");
        let file = File::open(&path).unwrap();
        assert_eq!(file.dataset("numbers").unwrap().read::<i32>().unwrap(), [7, 8, 9], "{what}");
        for nth in 0..2 {
            assert_eq!(file.dataset(format!("of {nth}")).unwrap().read::<usize>().unwrap(), [nth], "{what}");
        }
    }
}

/// Whether another process could not lock the file.
fn is_locked(path: &Path) -> bool {
    let file = fs::File::open(path).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_err()
}

#[test]
fn a_file_that_cannot_be_opened_for_writing_stays_as_it_is() {
    let space = FileSpace { strategy: SpaceStrategy::Managers, persist: true, ..FileSpace::default() };
    let path = made("closed-lists.h5", OpenOptions::new().libver_min(LibVersion::V110).file_space(space));
    let file = OpenOptions::new().read_write().open(&path).unwrap();
    for name in ["more", "last"] {
        file.root().unwrap().new_dataset::<i32>().write(name, &[7; 10_000]).unwrap();
        file.flush().unwrap();
    }
    file.root().unwrap().delete("more").unwrap();
    file.close().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let list = bytes.windows(4).position(|four| four == b"FSSE").expect("a list of free space");
    bytes[list + 20] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert!(OpenOptions::new().read_write().open(&path).is_err());
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert!(File::open(&path).is_ok());
    assert_eq!(check::file(&path, &mut |_| ()).unwrap().marks.bits, 0);
}
