//! How many links and attributes there are: as libhdf5 counts them in every form, and without a look at all of them.
//!
//! Needs a Python with h5py; without one the comparison says that it is skipped.

use std::{collections::BTreeMap, path::Path, process::Command, sync::Arc};

use hyperslab::{File, LibVersion, OpenOptions};
use hyperslab_driver::{Log, Memory};

/// By group, how many links and attributes it has.
type Counts = BTreeMap<String, (u64, u64)>;

fn counts(file: &File) -> Counts {
    let root = file.root().unwrap();
    let of = |name: String| {
        let group = root.group(&name).unwrap();
        let counted = (group.len().unwrap(), group.attribute_count().unwrap());
        let listed = (group.links().unwrap().len() as u64, group.attribute_names().unwrap().len() as u64);
        assert_eq!((counted, group.is_empty().unwrap()), (listed, listed.0 == 0), "{name}");
        (name, counted)
    };
    root.names().unwrap().into_iter().map(of).collect()
}

fn theirs(python: &Path, path: &Path, change: &str) -> Counts {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/counts.py");
    let output = Command::new(python).arg(script).arg(path).arg(change).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn links_and_attributes_are_as_many_as_libhdf5_counts() {
    let python = hyperslab_workshop::python();
    for (low, track) in [
        (LibVersion::Earliest, false),
        (LibVersion::Earliest, true),
        (LibVersion::V18, false),
        (LibVersion::V114, true),
    ] {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("counts-{low:?}-{track}.h5"));
        let file = OpenOptions::new().create().truncate().libver_min(low).open(&path).unwrap();
        for (nth, count) in [0, 1, 7, 8, 9, 40, 700].into_iter().enumerate() {
            let group = file.root().unwrap().new_group().track_order(track).create(format!("{count}")).unwrap();
            for link in 0..count {
                group.soft_link(format!("link {link}"), "somewhere").unwrap();
            }
            for attribute in 0..count / 2 {
                group.set_attribute(format!("attribute {attribute}"), attribute as u64).unwrap();
            }
            if nth % 2 == 1 {
                group.soft_link("one more", "somewhere").unwrap();
                group.delete("link 0").unwrap();
            }
        }
        let ours = counts(&file);
        assert_eq!((ours["0"], ours["700"].0, ours["9"].1), ((0, 0), 700, 4));
        file.close().unwrap();
        let Some(python) = &python else { continue };
        assert_eq!(theirs(python, &path, "read"), ours, "{low:?} {track}");
        let changed = theirs(python, &path, "change");
        assert_eq!(counts(&File::open(&path).unwrap()), changed, "{low:?} {track}");
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn those_outside_of_the_header_are_not_looked_at() {
    let storage = Arc::new(Log::new(Memory::new()));
    let file = OpenOptions::new().create().libver_min(LibVersion::V18).open_on(storage.clone()).unwrap();
    let group = file.root().unwrap().create_group("g").unwrap();
    for nth in 0..20_000u64 {
        group.soft_link(format!("link {nth}"), "somewhere").unwrap();
        group.set_attribute(format!("attribute {nth}"), nth).unwrap();
    }
    drop(group);
    file.close().unwrap();
    let file = OpenOptions::new().open_on(storage.clone()).unwrap();
    let before = storage.counts().read_bytes;
    let group = file.group("g").unwrap();
    assert_eq!((group.len().unwrap(), group.attribute_count().unwrap()), (20_000, 20_000));
    let read = storage.counts().read_bytes - before;
    assert!(read < 100_000, "{read} bytes were read");
}
