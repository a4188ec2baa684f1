//! Files written anew, for libraries as old as can hold them.

use hyperslab::{ErrorKind, File, LibVersion, OpenOptions, PageStrategy, Repack};

/// An attribute over 64 KiB has no place in the oldest headers: then the file is made for the oldest library that has one.
#[test]
fn a_file_is_made_for_the_oldest_library_that_can_hold_it() {
    let folder = std::env::temp_dir().join(format!("hyperslab-oldest-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let [from, small, large] = ["from.h5", "small.h5", "large.h5"].map(|name| folder.join(name));
    let file = OpenOptions::new().create().libver_min(LibVersion::V110).open(&from).unwrap();
    let root = file.root().unwrap();
    root.set_attribute_values("some", &[1u8; 1000]).unwrap();
    Repack::new().run(&file, &small).unwrap();
    root.set_attribute_values("many", &vec![2u8; 100_000]).unwrap();
    Repack::new().run(&file, &large).unwrap();
    let version = |path| File::open(path).unwrap().superblock_version();
    assert_eq!((version(&small), version(&large)), (0, 2));
    let read = |name| File::open(&large).unwrap().root().unwrap().attribute(name).unwrap().read::<u8>().unwrap();
    assert_eq!((read("some").len(), read("many").len()), (1000, 100_000));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The new file is opened with the options of pages, too: those that no file can have are refused, and nothing is left.
#[test]
fn options_of_pages_are_those_of_the_new_file_too() {
    let folder = std::env::temp_dir().join(format!("hyperslab-repack-pages-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let [from, to] = ["from.h5", "to.h5"].map(|name| folder.join(name));
    let file = File::create(&from).unwrap();
    file.root().unwrap().new_dataset::<i32>().write("numbers", &[7; 1000]).unwrap();
    let grow = OpenOptions::new().page_strategy(PageStrategy::Grow);
    let refused = Repack::new().opened_with(&grow.clone().page_reserve(60, 60)).run(&file, &to).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument, "{refused}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    // What says which file is opened, and what a new one is like, is of no matter.
    Repack::new().opened_with(&grow.create_new().family(100).user_block(512)).run(&file, &to).unwrap();
    let copy = File::open(&to).unwrap();
    assert_eq!((copy.dataset("numbers").unwrap().len(), copy.driver()), (1000, "sec2"));
    std::fs::remove_dir_all(&folder).unwrap();
}
