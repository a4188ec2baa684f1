//! Files that a file leads to are opened with its settings.

use std::{
    fs,
    io::{Seek, Write},
    path::Path,
    thread,
    time::Duration,
};

use hyperslab::{File, OpenOptions, Retry};

/// Another process writes the front of the linked file while it is opened.
#[test]
fn a_linked_file_is_read_again_as_the_first_one_is() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("linked-retry");
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).unwrap();
    let linked = folder.join("linked.h5");
    let file = File::create(&linked).unwrap();
    file.root().unwrap().new_dataset::<i32>().shape([3]).write("x", &[1, 2, 3]).unwrap();
    file.close().unwrap();
    let first = File::create(folder.join("first.h5")).unwrap();
    first.root().unwrap().external_link("near", "linked.h5", "/x").unwrap();
    first.close().unwrap();

    let front = fs::read(&linked).unwrap()[..64].to_vec();
    let mut storage = fs::File::options().write(true).open(&linked).unwrap();
    storage.write_all(&[0; 64]).unwrap();
    let near = |options: OpenOptions| options.open(folder.join("first.h5")).unwrap().dataset("near");
    assert!(near(OpenOptions::new()).is_err());
    let options = OpenOptions::new().retry(Retry { attempts: 60_000, pause: Duration::from_millis(1) });
    let read = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(50));
            storage.rewind().unwrap();
            storage.write_all(&front).unwrap();
        });
        near(options).unwrap().read::<i32>().unwrap()
    });
    assert_eq!(read, [1, 2, 3]);
}
