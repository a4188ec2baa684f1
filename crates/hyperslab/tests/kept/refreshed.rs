//! A refreshed handle of a virtual dataset reads its sources as another process left them.

use std::fs;

use hyperslab::{
    Dataset, File, OpenOptions,
    space::{Extent, Op, Slab, Space, UNLIMITED},
};

use crate::kept::scene::{Folder, read};

/// The bytes of a file before and after another process appends to its dataset `log`.
fn grown(folder: &Folder) -> [Vec<u8>; 2] {
    let (path, file) = (folder.join("elsewhere.h5"), folder.make("elsewhere.h5"));
    let new = file.root().unwrap().new_dataset::<i32>().shape([4]).max_shape([None]).chunks([4]).deflate(1);
    new.create("log").unwrap().write(&[1, 2, 3, 4]).unwrap();
    file.close().unwrap();
    let before = fs::read(&path).unwrap();
    let file = File::edit(&path).unwrap();
    let log = file.dataset("log").unwrap();
    log.resize([8]).unwrap();
    log.write(&[9, 8, 7, 6, 5, 4, 3, 2]).unwrap();
    file.close().unwrap();
    [before, fs::read(&path).unwrap()]
}

/// A dataset as large as its only source.
fn make_growing(file: &File, name: &str, source: (&str, &str)) -> Dataset {
    let extent = Extent::with_max(&[4], &[None]).unwrap();
    let mut all = Space::new(extent);
    all.select_hyperslab(Op::Set, &[Slab::new(0, 1, UNLIMITED, 1)]).unwrap();
    let new = file.root().unwrap().new_dataset::<i32>().shape([4]).max_shape([None]);
    new.virtual_source(&all, source.0, source.1, &all).create(name).unwrap()
}

#[test]
fn sources_are_read_anew() {
    let folder = Folder::new("refreshed");
    let [before, after] = grown(&folder);
    // The dataset is the source of one that grows and of one that does not, and is behind other files, links and virtual datasets.
    let (four, next, main) = (Space::simple(&[4]).unwrap(), folder.make("next.h5"), folder.make("main.h5"));
    make_growing(&next, "v", ("source.h5", "log"));
    next.root().unwrap().external_link("link", "source.h5", "log").unwrap();
    next.close().unwrap();
    make_growing(&main, "direct", ("source.h5", "log"));
    make_growing(&main, "nested", ("next.h5", "v"));
    make_growing(&main, "linked", ("next.h5", "link"));
    let fixed = main.root().unwrap().new_dataset::<i32>().shape([4]);
    let mut first = four.clone();
    first.select_hyperslab(Op::Set, &[Slab::block(0, 4)]).unwrap();
    fixed.virtual_source(&four, "source.h5", "log", &first).create("fixed").unwrap();
    main.close().unwrap();

    for writable in [false, true] {
        fs::write(folder.join("source.h5"), &before).unwrap();
        let options = OpenOptions::new();
        let options = if writable { options.read_write() } else { options.swmr_read() };
        let main = options.open(folder.join("main.h5")).unwrap();
        let held = ["direct", "nested", "linked", "fixed"].map(|name| (name, main.dataset(name).unwrap()));
        for (name, held) in &held {
            assert_eq!(read(held), [1, 2, 3, 4], "{name}");
        }
        // In place, as another process does.
        fs::write(folder.join("source.h5"), &after).unwrap();
        for (name, held) in &held {
            let (fresh, all) = (held.refresh().unwrap(), [9, 8, 7, 6, 5, 4, 3, 2]);
            assert_eq!(read(&fresh), all[..if *name == "fixed" { 4 } else { 8 }], "{name}");
        }
        drop(held);
        main.close().unwrap();
    }
}

#[test]
fn nothing_of_a_closed_file_is_refreshed() {
    let folder = Folder::new("closed");
    folder.make_with("main.h5", &["x"], &[1]);
    for options in [OpenOptions::new(), OpenOptions::new().read_write()] {
        let main = options.open(folder.join("main.h5")).unwrap();
        let held = main.dataset("x").unwrap();
        main.close().unwrap();
        assert!(held.refresh().unwrap_err().to_string().contains("closed"));
    }
}
