//! External files with raw data. Another program may replace them, remove them and bring them back: each request finds them as they are.

use std::{fs, path::PathBuf};

use hyperslab::{Durability, ExternalAccess, File, OpenOptions};

use crate::kept::scene::{Folder, read};

const ONE: [i32; 4] = [1, 2, 3, 4];
const TWO: [i32; 4] = [5, 6, 7, 8];

/// `main.h5`, whose dataset `x` has the first half of its values in `one.bin`, the other in `two.bin`.
fn scene(test: &str) -> Folder {
    let folder = Folder::new(test);
    let main = folder.make("main.h5");
    let external = [("one.bin", 0, Some(8)), ("two.bin", 0, Some(8))];
    let dataset = main.root().unwrap().new_dataset::<i32>().shape([4]).external(external).create("x").unwrap();
    dataset.write(&ONE).unwrap();
    main.close().unwrap();
    folder
}

fn bytes(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Puts another file in the place of one.
fn replace(folder: &Folder, name: &str, values: &[i32]) {
    fs::write(folder.join("new"), bytes(values)).unwrap();
    fs::rename(folder.join("new"), folder.join(name)).unwrap();
}

#[test]
fn values_are_read_from_and_written_to_the_file_that_is_there_now() {
    let folder = scene("replaced");
    for writable in [false, true] {
        let options = OpenOptions::new();
        let main = if writable { options.read_write() } else { options }.open(folder.join("main.h5")).unwrap();
        replace(&folder, "one.bin", &ONE[..2]);
        replace(&folder, "two.bin", &ONE[2..]);
        let held = main.dataset("x").unwrap();
        assert_eq!(read(&held), ONE);
        replace(&folder, "two.bin", &TWO[2..]);
        assert_eq!(read(&held), [1, 2, 7, 8]);
        replace(&folder, "one.bin", &TWO[..2]);
        assert_eq!(read(&main.dataset("x").unwrap()), TWO);
        if writable {
            held.write_slice(1..3, &[60, 70]).unwrap();
            assert_eq!(fs::read(folder.join("one.bin")).unwrap(), bytes(&[5, 60]));
            replace(&folder, "one.bin", &ONE[..2]);
            held.write_slice(0.., &[9i32; 4]).unwrap();
            assert_eq!(fs::read(folder.join("one.bin")).unwrap(), bytes(&[9, 9]));
            assert_eq!(read(&held), [9; 4]);
        }
        main.close().unwrap();
    }
}

#[test]
fn a_file_may_come_later() {
    let folder = scene("raw-later");
    let main = File::open(folder.join("main.h5")).unwrap();
    fs::rename(folder.join("two.bin"), folder.join("away")).unwrap();
    let held = main.dataset("x").unwrap();
    assert_eq!(held.read_slice::<i32>(..2).unwrap(), [1, 2], "the other file is not needed");
    assert!(held.read::<i32>().unwrap_err().to_string().contains("two.bin"));
    fs::rename(folder.join("away"), folder.join("two.bin")).unwrap();
    assert_eq!(read(&held), ONE);
}

#[test]
fn a_write_makes_a_file_that_is_missing() {
    let folder = scene("raw-made");
    let main = File::edit(folder.join("main.h5")).unwrap();
    let held = main.dataset("x").unwrap();
    read(&held);
    fs::remove_file(folder.join("two.bin")).unwrap();
    held.write_slice(3.., &[9]).unwrap();
    assert_eq!(fs::read(folder.join("two.bin")).unwrap(), bytes(&[0, 9]));
    assert_eq!(read(&held), [1, 2, 0, 9]);
}

/// It would be made where the file may not write.
#[test]
fn a_link_to_a_file_that_is_missing_is_not_followed() {
    let folder = scene("raw-link");
    fs::create_dir(folder.join("home")).unwrap();
    for name in ["main.h5", "one.bin"] {
        fs::rename(folder.join(name), folder.join("home").join(name)).unwrap();
    }
    std::os::unix::fs::symlink("../outside.bin", folder.join("home/two.bin")).unwrap();
    let main = File::edit(folder.join("home/main.h5")).unwrap();
    let why = main.dataset("x").unwrap().write(&TWO).unwrap_err().to_string();
    assert!(why.contains("two.bin"), "{why}");
    assert!(!folder.join("outside.bin").exists());
    assert_eq!(fs::read(folder.join("home/one.bin")).unwrap(), bytes(&ONE[..2]), "nothing is written of it");
}

/// A flush makes each file durable that values went to, and keeps it open till then: once, however many openings and requests there were.
#[cfg(target_os = "linux")]
#[test]
fn each_file_is_open_once() {
    let folder = scene("raw-once");
    let files = [ExternalAccess::Anywhere, ExternalAccess::Inside].map(|access| {
        let options = OpenOptions::new().read_write().durability(Durability::Flush).external_access(access);
        options.open(folder.join("main.h5")).unwrap()
    });
    let held = files.each_ref().map(|file| file.dataset("x").unwrap());
    for turn in 0..100 {
        held[turn % 2].write(&[turn as i32; 4]).unwrap();
        assert_eq!(read(&held[1 - turn % 2]), [turn as i32; 4]);
    }
    let open = |name: &str| {
        let path = folder.join(name).canonicalize().unwrap();
        let all = fs::read_dir("/proc/self/fd").unwrap().map(|entry| fs::read_link(entry.unwrap().path()));
        all.filter(|target| target.as_ref().is_ok_and(|target: &PathBuf| *target == path)).count()
    };
    assert!(open("one.bin") <= 2 && open("two.bin") <= 2, "{} and {}", open("one.bin"), open("two.bin"));
    for file in files {
        file.close().unwrap();
    }
}
