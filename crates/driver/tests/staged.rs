//! Files that get their names when they are complete.

use std::{fs, io, path::PathBuf};

use hyperslab_driver::{Existing, Staged};

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("staged-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn names(folder: &PathBuf) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_dropped_file_leaves_nothing() {
    let folder = folder("dropped");
    let new = Staged::beside(folder.join("a")).unwrap();
    fs::write(new.path(), "half").unwrap();
    drop(new);
    assert!(names(&folder).is_empty());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_is_there_stays_unless_it_shall_be_replaced() {
    let folder = folder("existing");
    let target = folder.join("a");
    let (first, second) = (Staged::beside(&target).unwrap(), Staged::beside(&target).unwrap());
    fs::write(first.path(), "first").unwrap();
    fs::write(second.path(), "second").unwrap();
    first.publish(Existing::Keep).unwrap();
    assert_eq!(second.publish(Existing::Keep).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&target).unwrap(), b"first");
    assert_eq!(names(&folder), ["a"]);

    let third = Staged::beside(&target).unwrap();
    fs::write(third.path(), "third").unwrap();
    third.publish(Existing::Replace).unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"third");
    fs::remove_dir_all(folder).unwrap();
}

#[cfg(unix)]
#[test]
fn permissions_and_symbolic_links_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder("permissions");
    let (target, link) = (folder.join("a"), folder.join("link"));
    fs::write(&target, "old").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("a", &link).unwrap();
    let new = Staged::beside(&link).unwrap();
    fs::write(new.path(), "new").unwrap();
    new.publish(Existing::Replace).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&target).unwrap(), b"new");
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(names(&folder), ["a", "link"]);
    fs::remove_dir_all(folder).unwrap();
}
