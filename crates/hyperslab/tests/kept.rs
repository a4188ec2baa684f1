//! Files that links lead to are kept for the next time, unless another program changed them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{fs, path::Path, thread, time::Duration};

use hyperslab::{File, OpenOptions};

/// Longer than a step of the clock of files.
fn wait() {
    thread::sleep(Duration::from_millis(40));
}

/// The bytes of a file with one dataset, made elsewhere.
fn bytes(folder: &Path, values: &[i32]) -> Vec<u8> {
    let path = folder.join("elsewhere.h5");
    let file = File::create(&path).unwrap();
    file.root().unwrap().new_dataset::<i32>().write("x", values).unwrap();
    file.close().unwrap();
    fs::read(&path).unwrap()
}

/// A file that is known by two names: what one of them finds changed is not used by the other.
#[test]
fn a_file_that_changed_is_read_anew_by_each_name() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kept-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let target = folder.join("target.h5");
    fs::write(&target, bytes(&folder, &[1, 2, 3])).unwrap();
    std::os::unix::fs::symlink("target.h5", folder.join("alias.h5")).unwrap();
    let main = File::create(folder.join("main.h5")).unwrap();
    main.root().unwrap().external_link("one", "target.h5", "/x").unwrap();
    main.root().unwrap().external_link("two", "alias.h5", "/x").unwrap();
    main.close().unwrap();
    wait();

    let main = OpenOptions::new().open(folder.join("main.h5")).unwrap();
    let both = ["one", "two"].map(|name| main.dataset(name).unwrap());
    assert!(both.iter().all(|dataset| dataset.read::<i32>().unwrap() == [1, 2, 3]));
    drop(both);
    // In place, as another program does that has no other name for it.
    fs::write(&target, bytes(&folder, &[4, 5, 6, 7])).unwrap();
    wait();
    for name in ["one", "two", "one"] {
        assert_eq!(main.dataset(name).unwrap().read::<i32>().unwrap(), [4, 5, 6, 7], "{name}");
    }
    fs::remove_dir_all(&folder).unwrap();
}
