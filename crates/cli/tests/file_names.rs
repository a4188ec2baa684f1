//! Names of files that are long, have signs with a meaning or mean one file, and folders that cannot be read.
#![cfg(target_os = "linux")]

use hyperslab::File;
use std::{
    fs::{self, Permissions},
    io::ErrorKind,
    os::unix::{
        fs::{MetadataExt, PermissionsExt},
        process::CommandExt,
    },
};

use crate::common::{Folder, command, run, sample, text};

fn done(folder: &Folder, words: &str) {
    let output = run(folder, words);
    assert_eq!(output.status.code(), Some(0), "{words}: {}", text(&output.stderr));
}

#[test]
fn a_percent_sign_is_a_sign_as_any_other() {
    let folder = Folder::new("percent");
    for words in
        ["put 50%.h5 /x --type u8 300", "put a%20b.h5 /x --shape 2 1", "put %d.h5 /x 1", "copy 7%.h5:/x 8%.h5:/x"]
    {
        let output = run(&folder, words);
        assert_eq!(output.status.code(), Some(1), "{words}: {}", text(&output.stderr));
        assert!(folder.names().is_empty(), "{words}: {:?}", folder.names());
    }
    done(&folder, "put 50%.h5 /x 3");
    done(&folder, "put 50%.h5 /y 4");
    done(&folder, "copy 50%.h5:/y a%20b.h5:/z");
    assert_eq!(folder.names(), ["50%.h5", "a%20b.h5"]);
}

/// The name has the most bytes that one can have.
#[test]
fn a_long_name_has_room_for_the_file_before_it() {
    let folder = Folder::new("long");
    let (name, other) = (format!("{}.h5", "é".repeat(126)), "n".repeat(255));
    done(&folder, &format!("put {name} /x 3"));
    done(&folder, &format!("repack {name} {other}"));
    assert_eq!(folder.names(), [other, name]);
}

#[test]
fn two_names_of_one_file() {
    let folder = Folder::new("hard-link");
    sample(&folder.path("a.h5"));
    fs::hard_link(folder.path("a.h5"), folder.path("b.h5")).unwrap();
    done(&folder, "copy a.h5:/mask b.h5:/again");
    assert_eq!(File::open(folder.path("a.h5")).unwrap().dataset("again").unwrap().read::<u8>().unwrap(), [1, 2, 3]);
}

/// Files can be made in such a folder, but it cannot be opened for a sync: the exit code says that they are there.
#[test]
fn a_folder_that_cannot_be_read() {
    let folder = Folder::new("unreadable");
    sample(&folder.path("a.h5"));
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    fs::set_permissions(&folder.0, Permissions::from_mode(0o333)).unwrap();
    for (words, made) in [
        ("new b.h5", "b.h5"),
        ("put c.h5 /x 1 --durability full", "c.h5"),
        ("copy a.h5:/mask d.h5:/x", "d.h5"),
        ("repack a.h5 e.h5", "e.h5"),
        ("demo --images 1 --keep f.h5", "f.h5"),
    ] {
        let mut command = command(&folder, words);
        if is_root {
            command.uid(65_534).gid(65_534);
        }
        match command.output() {
            Err(why) if is_root && why.kind() == ErrorKind::PermissionDenied => eprintln!("skipped {words}: {why}"),
            output => {
                let output = output.unwrap();
                assert_eq!(output.status.code(), Some(0), "{words}: {}", text(&output.stderr));
                assert!(folder.path(made).exists(), "{words}");
            }
        }
    }
    fs::set_permissions(&folder.0, Permissions::from_mode(0o755)).unwrap();
}
