//! What libhdf5 makes, changed by us and by libhdf5 in turns: heaps with filters, the table of shared messages, virtual datasets, files
//! in a row.
//!
//! Needs a Python with h5py and numpy: `$HYPERSLAB_PYTHON`, or `target/venv`; without one a test says that it is skipped.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use hyperslab::{File, LibVersion, OpenOptions, Target, check};
use hyperslab_driver::{Log, Memory};
use serde_json::json;

fn python(what: &str, path: &Path, more: u64) -> bool {
    let Some(python) = hyperslab_workshop::python() else { return false };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign.py");
    let mut command = Command::new(python);
    command.args(["-W", "ignore"]).arg(script).arg(what).arg(path);
    if more > 0 || what.ends_with("turn") || ["shared_messages", "killed"].contains(&what) {
        command.arg(more.to_string());
    }
    let done = command.output().unwrap();
    assert!(done.status.success(), "{what} {more}: {}", String::from_utf8_lossy(&done.stderr));
    true
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn tell(path: &Path, expected: &serde_json::Value) {
    std::fs::write(path.with_extension("h5.json"), expected.to_string()).unwrap();
}

fn sound(path: &Path) {
    let report = check::file(path, &mut |_| ()).unwrap();
    // libhdf5 forgets to count a block in heaps that it makes.
    let found = report.problems().filter(|found| !found.why.contains("bytes of direct blocks"));
    assert_eq!(found.count(), 0, "{:#?}", report.findings);
}

fn edit(path: &Path) -> File {
    OpenOptions::new().read_write().libver_min(LibVersion::V18).open(path).unwrap()
}

#[test]
fn heaps_with_filters_get_and_lose_objects() {
    let path = path("filtered-links.h5");
    if !python("filtered_links", &path, 0) {
        return;
    }
    for turn in 0..8 {
        let file = edit(&path);
        let group = file.group("links").unwrap();
        let all = || -> BTreeMap<String, String> {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            let links = group.links().unwrap().into_iter().map(|link| match link.target {
                Target::Soft(target) => (text(&link.name), text(&target)),
                other => panic!("{other:?}"),
            });
            links.collect()
        };
        let mut expected = all();
        for nth in 0..9 {
            let target = "/z".repeat(nth * 300 + 1);
            group.soft_link(format!("ours {turn} {nth}"), &target).unwrap();
            expected.insert(format!("ours {turn} {nth}"), target);
            if nth == 4 && turn % 2 == 0 {
                file.flush().unwrap();
            }
        }
        let gone: Vec<_> = expected.keys().enumerate().filter(|(nth, _)| nth % 4 == turn % 4).collect();
        let gone: Vec<_> = gone.into_iter().map(|(_, name)| name.clone()).collect();
        for name in gone {
            group.delete(&name).unwrap();
            expected.remove(&name);
        }
        assert_eq!(all(), expected);
        drop(group);
        file.close().unwrap();
        sound(&path);
        tell(&path, &json!(expected));
        python("filtered_links_turn", &path, turn as u64);
        sound(&path);
    }
}

#[test]
fn a_shared_message_is_released_without_a_walk_over_all() {
    const GROUPS: u64 = 80;
    let path = path("shared-many.h5");
    if !python("shared_many", &path, GROUPS) {
        return;
    }
    let bytes = std::fs::read(&path).unwrap();
    let (size, storage) = (bytes.len() as u64, Arc::new(Log::new(Memory::from(bytes))));
    let file = OpenOptions::new().read_write().libver_min(LibVersion::V18).open_on(storage.clone()).unwrap();
    let group = file.group("7").unwrap();
    assert_eq!(group.attribute("a10").unwrap().read_scalar::<u64>().unwrap(), 710);
    let before = storage.counts().read_bytes;
    group.remove_attribute("a20").unwrap();
    let read = storage.counts().read_bytes - before;
    // Nodes of the tree of 8,000 messages lie in all parts of the file.
    assert!(read < size / 3, "{read} bytes of {size} were read");
    drop((group, file));
    let file = edit(&path);
    for group in 0..GROUPS {
        let group = file.group(group.to_string()).unwrap();
        (0..40).for_each(|nth| group.remove_attribute(format!("a{nth}")).unwrap());
    }
    file.close().unwrap();
    sound(&path);
    python("shared_many_turn", &path, GROUPS);
    sound(&path);
    let group = File::open(&path).unwrap().group("79").unwrap();
    assert_eq!(group.attribute("a0").unwrap().read_scalar::<u64>().unwrap(), 7_900);
}

/// Datasets by name: their size, and their attributes with what is known of them.
type Model = BTreeMap<String, (u64, BTreeMap<String, Vec<i64>>)>;

#[test]
fn shared_messages_are_counted_in_lists_and_trees() {
    for (name, most) in [("shared-list.h5", 60), ("shared-tree.h5", 0)] {
        let path = path(name);
        if !python("shared_messages", &path, most) {
            return;
        }
        for turn in 0..6usize {
            let file = edit(&path);
            let root = file.root().unwrap();
            let mut model = Model::new();
            for name in root.names().unwrap().into_iter().filter(|name| name != "many") {
                let dataset = root.dataset(&name).unwrap();
                let attributes = dataset.attribute_names().unwrap().into_iter();
                let attributes = attributes.map(|attribute| match attribute.as_str() {
                    "same" => (attribute.clone(), dataset.attribute(&attribute).unwrap().read::<i64>().unwrap()),
                    _ => (attribute, Vec::new()),
                });
                model.insert(name.clone(), (dataset.len(), attributes.collect()));
            }
            let names: Vec<String> = model.keys().cloned().collect();
            // The first of all is the one in whose header the table knows messages.
            root.delete(&names[0]).unwrap();
            model.remove(&names[0]);
            root.delete(&names[3]).unwrap();
            model.remove(&names[3]);
            let (size, attributes) = model.get_mut(&names[1]).unwrap();
            root.dataset(&names[1]).unwrap().set_attribute_values("same", &[1i64, 2, 3]).unwrap();
            attributes.insert("same".into(), vec![1, 2, 3]);
            root.dataset(&names[1]).unwrap().resize([*size + 2]).unwrap();
            *size += 2;
            let (_, attributes) = model.get_mut(&names[2]).unwrap();
            for gone in std::mem::take(attributes).into_keys() {
                root.dataset(&names[2]).unwrap().remove_attribute(&gone).unwrap();
            }
            let (_, attributes) = model.get_mut(&names[4]).unwrap();
            if most == 0 && attributes.contains_key("own") {
                root.dataset(&names[4]).unwrap().rename_attribute("own", "renamed").unwrap();
                attributes.remove("own");
                attributes.insert("renamed".into(), Vec::new());
            }
            let many = root.group("many").unwrap();
            many.remove_attribute(format!("a{turn}")).unwrap();
            many.set_attribute_values(format!("a{turn}"), &(0..turn as i64 % 3 + 1).collect::<Vec<_>>()).unwrap();
            drop((root, many));
            file.close().unwrap();
            sound(&path);
            tell(&path, &json!(model));
            python("shared_messages_turn", &path, turn as u64);
            sound(&path);
        }
        let file = edit(&path);
        let root = file.root().unwrap();
        root.names().unwrap().iter().for_each(|name| root.delete(name).unwrap());
        drop(root);
        file.close().unwrap();
        sound(&path);
        // The number of messages, behind what else the table says of its index. Attributes that were renamed stay counted, and
        // messages that libhdf5 moved from a header to the heap do so for that header.
        let bytes = std::fs::read(&path).unwrap();
        let table = bytes.windows(4).position(|window| window == b"SMTB").unwrap();
        let messages = u16::from_le_bytes([bytes[table + 16], bytes[table + 17]]);
        assert!(messages <= if most == 0 { 24 } else { 6 }, "{name}: {messages} messages that no object uses");
    }
}

#[test]
fn writes_go_through_virtual_datasets() {
    let path = path("virtual-writes.h5");
    if !python("virtual_dataset", &path, 0) {
        return;
    }
    let reader = File::open(&path).unwrap().dataset("v").unwrap();
    assert!(reader.write_slice((0, 0..3), &[1, 2, 3]).is_err());
    drop(reader);
    let file = File::edit(&path).unwrap();
    let dataset = file.dataset("v").unwrap();
    for row in 0..4 {
        let values: Vec<i64> = (0..3).map(|column| row * 10 + column).collect();
        dataset.write_slice((row as u64, 0..3), &values).unwrap();
    }
    dataset.write_slice((2, 2..6), &[22.0, 23.0, 24.0, 25.4]).unwrap();
    // What no source holds, and what a source holds only in part.
    assert!(dataset.write_slice((0, 3..4), &[1]).is_err());
    assert!(dataset.write_slice((2, 0..8), &[1; 8]).is_err());
    assert_eq!(dataset.read_slice::<i32>(2).unwrap(), [20, 21, 22, 23, 24, 25, -1, -1]);
    drop(dataset);
    file.close().unwrap();
    python("virtual_dataset_read", &path, 0);
}

#[test]
fn a_virtual_dataset_of_itself_is_not_written_for_ever() {
    let file = File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new())).unwrap();
    let root = file.root().unwrap();
    let all = hyperslab::space::Space::simple(&[4]).unwrap();
    let new = root.new_dataset::<i32>().shape([4]).virtual_source(&all, ".", "/v", &all);
    let dataset = new.create("v").unwrap();
    assert!(dataset.write(&[1, 2, 3, 4]).is_err());
    root.create_group("after").unwrap();
}

#[test]
fn families_of_files_are_changed() {
    let path = path("family-%d.h5");
    for old in std::fs::read_dir(path.parent().unwrap()).unwrap().flatten() {
        if old.file_name().to_string_lossy().starts_with("family-") {
            std::fs::remove_file(old.path()).unwrap();
        }
    }
    if !python("family", &path, 0) {
        return;
    }
    for _ in 0..3 {
        let file = File::edit(&path).unwrap();
        assert!(File::edit(&path).unwrap() == file, "openings of one process share the family");
        let values: Vec<i64> = (0..5000).collect();
        let root = file.root().unwrap();
        root.new_dataset::<i64>().write("ours", &values).unwrap();
        if root.contains("again").unwrap() {
            assert_eq!(root.dataset("again").unwrap().len(), 10);
            root.delete("again").unwrap();
        }
        drop(root);
        file.close().unwrap();
        sound(&path);
        python("family_read", &path, 0);
        sound(&path);
    }
}

#[test]
fn a_family_is_not_made_of_an_empty_file() {
    let directory = path("empty-family");
    std::fs::remove_dir_all(&directory).ok();
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("member-0.h5"), b"").unwrap();
    let why = File::edit(directory.join("member-%d.h5")).unwrap_err();
    assert!(why.to_string().contains("family"), "{why}");
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1);
}

#[test]
fn the_image_of_a_metadata_cache_gives_way_to_changes() {
    let path = path("image.h5");
    if !python("cache_image", &path, 0) {
        return;
    }
    let file = edit(&path);
    let root = file.root().unwrap();
    assert_eq!(file.dataset("s1").unwrap().read::<i64>().unwrap(), [0, 1, 2, 3]);
    root.new_dataset::<i64>().write("new", &[7, 8, 9]).unwrap();
    file.dataset("s0").unwrap().set_attribute("a", 2).unwrap();
    root.delete("s1").unwrap();
    drop(root);
    file.close().unwrap();
    sound(&path);
    python("cache_image_read", &path, 0);
    let again = edit(&path);
    assert_eq!(again.dataset("s2").unwrap().read::<i64>().unwrap(), [5, 1, 2, 3, 4]);
}

/// What libhdf5 flushed of a dataset stays, though the superblock tells of less.
#[test]
fn what_a_killed_process_flushed_is_not_overwritten() {
    for latest in [0, 1] {
        let path = path(&format!("killed-{latest}.h5"));
        if !python("killed", &path, latest) {
            return;
        }
        let told = || check::file(&path, &mut |_| ()).unwrap();
        let behind =
            |found: &check::Finding| found.what == check::END_OF_FILE && found.why.contains("blocks lie there");
        assert!(told().findings.iter().any(behind), "{:?}", told().findings);
        if latest == 1 {
            assert!(File::edit(&path).is_err(), "the mark of the writer is there");
            assert!(check::clear(&path, false).unwrap().swmr);
            sound(&path);
        }
        let file = edit(&path);
        let new = file.root().unwrap().new_dataset::<i32>();
        new.write("new", &[-7; 20_000]).unwrap();
        file.close().unwrap();
        sound(&path);
        python("killed_read", &path, 0);
    }
}
