//! The sources of virtual datasets.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use hyperslab::File;

use crate::scene::{Folder, read};

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

#[test]
fn a_write_lets_go_of_the_sources_that_it_changed() {
    let folder = scene("written");
    let main = File::edit(folder.join("main.h5")).unwrap();
    let held = main.dataset("v").unwrap();
    for turn in 0..3 {
        held.write(&[turn; 12]).unwrap();
        assert_free(&folder, "written");
        assert_eq!(read(&held), [turn; 12]);
    }
    held.write(&[7i32; 12]).unwrap();
    held.write_slice(.., &[8i32; 11]).unwrap_err();
    main.close().unwrap();
    assert_free(&folder, "closed");
    assert_eq!(read(&File::open(folder.join("b.h5")).unwrap().dataset("x").unwrap()), [7; 4]);
}

/// A read finds the file open for writing while another thread writes it, and does not keep it so.
#[test]
fn reads_beside_writes_keep_no_source_open_for_writing() {
    let folder = scene("beside");
    let main = File::edit(folder.join("main.h5")).unwrap();
    let (held, done) = (main.dataset("v").unwrap(), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let own = main.dataset("v").unwrap();
                while !done.load(Ordering::Relaxed) {
                    // It may say that another thread is closing a source, or opened it for writing.
                    for dataset in [&held, &own] {
                        let _ = dataset.read::<i32>();
                    }
                }
            });
        }
        for turn in 0..50 {
            let _ = held.write(&[turn; 12]);
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!([folder.flags("a.h5"), folder.flags("b.h5")], [0, 0]);
    main.close().unwrap();
    assert_free(&folder, "closed");
}

/// A source that the program itself has open for writing is its to close; what is kept of it goes with the next request.
#[test]
fn a_source_that_the_program_writes_is_not_kept_open_when_it_is_closed() {
    let folder = scene("direct");
    let main = File::open(folder.join("main.h5")).unwrap();
    let (source, held) = (File::edit(folder.join("a.h5")).unwrap(), main.dataset("v").unwrap());
    read(&held);
    source.dataset("x").unwrap().write(&[9, 9, 9, 9]).unwrap();
    assert_eq!(read(&held)[4..8], [9; 4]);
    source.close().unwrap();
    assert_eq!(read(&held)[4..8], [9; 4]);
    assert_eq!(folder.flags("a.h5"), 0);
    main.close().unwrap();
    assert_free(&folder, "closed");
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
