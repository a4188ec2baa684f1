//! The sources of virtual datasets.

use std::{
    fs,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use hyperslab::File;

use crate::kept::scene::{Folder, read};

const ONE: [i32; 4] = [1, 2, 3, 4];

/// A dataset whose sources are one dataset of a file, and two of another.
fn scene(test: &str) -> Folder {
    let folder = Folder::new(test);
    folder.make_with("a.h5", &["x", "y"], &ONE);
    folder.make_with("b.h5", &["x"], &ONE);
    folder.make_virtual(&[("b.h5", "x"), ("a.h5", "x"), ("a.h5", "y")]);
    folder
}

/// Other programs may open the sources, as if this one never had.
fn assert_free(folder: &Folder, what: &str) {
    for name in ["a.h5", "b.h5"] {
        assert!(folder.is_unlocked(name), "{what}: {name} is locked");
        assert_eq!(folder.flags(name), 0, "{what}: {name} is marked");
    }
}

#[test]
fn a_closed_file_lets_go_of_the_sources_that_it_read() {
    let folder = scene("read");
    let main = File::open(folder.join("main.h5")).unwrap();
    let (held, again) = (main.dataset("v").unwrap(), main.dataset("v").unwrap());
    assert_eq!((read(&held), read(&again)), (ONE.repeat(3), ONE.repeat(3)));
    assert!(!folder.is_unlocked("a.h5"), "they are locked while the file is open");
    main.close().unwrap();
    assert_free(&folder, "closed");
    assert!(held.read::<i32>().is_err());
    assert_free(&folder, "read after the file was closed");
}

/// The file may stay open by another opening, and the handle usable: it keeps nothing open between its requests.
#[test]
fn an_opening_that_ended_lets_go_of_the_sources_that_it_read() {
    let folder = scene("ended");
    let [first, second] = [(); 2].map(|()| File::open(folder.join("main.h5")).unwrap());
    let (held, new) = (first.dataset("v").unwrap(), first.clone());
    read(&held);
    first.close().unwrap();
    assert_free(&folder, "ended");
    assert_eq!(read(&held), ONE.repeat(3));
    assert_eq!(read(&new.dataset("v").unwrap()), ONE.repeat(3));
    assert_free(&folder, "read after the end");
    second.close().unwrap();
}

/// As in libhdf5, sources that are written stay open, until the file is closed or the dataset has no handle any more.
#[test]
fn a_closed_file_lets_go_of_the_sources_that_it_changed() {
    let folder = scene("written");
    for drops in [false, true] {
        let main = File::edit(folder.join("main.h5")).unwrap();
        let held = main.dataset("v").unwrap();
        for turn in 0..3 {
            held.write(&[turn; 12]).unwrap();
            assert_eq!(read(&held), [turn; 12]);
            // As another process reads it if this one is killed.
            fs::copy(folder.join("b.h5"), folder.join("copy.h5")).unwrap();
            assert_eq!(read(&File::open(folder.join("copy.h5")).unwrap().dataset("x").unwrap()), [turn; 4]);
        }
        assert_eq!([folder.flags("a.h5"), folder.flags("b.h5")], [3, 3]);
        if drops {
            drop(held);
            assert_free(&folder, "without a handle");
            main.close().unwrap();
        } else {
            main.close().unwrap();
            assert_free(&folder, "closed");
            assert!(held.write(&[7; 12]).is_err());
            assert_free(&folder, "written after the file was closed");
        }
    }
}

/// Threads that read and write find the sources open, or are told that they were opened for writing since.
#[test]
fn reads_beside_writes_leave_no_source_open() {
    let folder = scene("beside");
    let main = File::edit(folder.join("main.h5")).unwrap();
    let (held, done) = (main.dataset("v").unwrap(), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let own = main.dataset("v").unwrap();
                while !done.load(Ordering::Relaxed) {
                    for dataset in [&held, &own] {
                        let why = dataset.read::<i32>().err().map(|why| why.to_string()).unwrap_or_default();
                        assert!(why.is_empty() || why.contains("opened for writing since"), "{why}");
                    }
                }
            });
        }
        for turn in 0..100 {
            held.write(&[turn; 12]).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(read(&held), [99; 12]);
    main.close().unwrap();
    assert_free(&folder, "closed");
}

/// A file is closed while other threads read its virtual dataset: what they open then is not kept.
#[test]
fn reads_beside_a_close_leave_no_source_open() {
    let folder = scene("closing");
    for round in 0..20 {
        let main = File::open(folder.join("main.h5")).unwrap();
        let held = main.dataset("v").unwrap();
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| while held.read::<i32>().is_ok() {});
            }
            thread::sleep(Duration::from_micros(100 * round));
            main.close().unwrap();
        });
        assert_free(&folder, "closed");
    }
}

/// A source that is missing is looked for by each request.
#[test]
fn a_source_may_come_later() {
    let folder = Folder::new("later");
    folder.make_virtual(&[("a.h5", "x"), ("b.h5", "x")]);
    let main = File::open(folder.join("main.h5")).unwrap();
    let held = main.dataset("v").unwrap();
    assert_eq!(read(&held), [-1; 8]);
    folder.make_with("b.h5", &["x"], &ONE);
    assert_eq!(read(&held), [-1, -1, -1, -1, 1, 2, 3, 4]);
    folder.make_with("a.h5", &["x"], &ONE);
    assert_eq!(read(&held), ONE.repeat(2));
}
