//! Files that links lead to are kept for the next time, unless another program changed them.

use std::fs;

use hyperslab::File;

use crate::kept::scene::{Folder, read, wait};

/// The bytes of a file with one dataset, made elsewhere.
fn bytes(folder: &Folder, values: &[i32]) -> Vec<u8> {
    folder.make_with("elsewhere.h5", &["x"], values);
    fs::read(folder.join("elsewhere.h5")).unwrap()
}

/// A file that is known by two names: what one of them finds changed is not used by the other.
#[test]
fn a_file_that_changed_is_read_anew_by_each_name() {
    let folder = Folder::new("links");
    let target = folder.join("target.h5");
    fs::write(&target, bytes(&folder, &[1, 2, 3])).unwrap();
    std::os::unix::fs::symlink("target.h5", folder.join("alias.h5")).unwrap();
    let main = folder.make("main.h5");
    main.root().unwrap().external_link("one", "target.h5", "/x").unwrap();
    main.root().unwrap().external_link("two", "alias.h5", "/x").unwrap();
    main.close().unwrap();
    wait();

    let main = File::open(folder.join("main.h5")).unwrap();
    let both = ["one", "two"].map(|name| main.dataset(name).unwrap());
    assert!(both.iter().all(|dataset| read(dataset) == [1, 2, 3]));
    drop(both);
    // In place, as another program does that has no other name for it.
    fs::write(&target, bytes(&folder, &[4, 5, 6, 7])).unwrap();
    wait();
    for name in ["one", "two", "one"] {
        assert_eq!(read(&main.dataset(name).unwrap()), [4, 5, 6, 7], "{name}");
    }
}
