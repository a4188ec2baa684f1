//! Files written anew, for libraries as old as can hold them.

use hyperslab::{File, LibVersion, OpenOptions, Repack};

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
