//! What is deleted while handles of it are open can be used until the last of them goes, as in libhdf5; then its space is free.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{collections::BTreeMap, ops::ControlFlow, path::Path, process::Command, sync::Arc};

use fastrand::Rng;
use hyperslab::{
    Dataset, Error, File, FileSpace, Group, Low, NamedDatatype, Node, OpenOptions, check,
    driver::{Driver, Memory, Transfer},
};
use serde_json::{Value, json};

const LOWS: [Low; 3] = [Low::Earliest, Low::V18, Low::V110];

fn new_file(low: Low) -> (File, Arc<Memory>) {
    let storage = Arc::new(Memory::new());
    // Free space is listed, so that none is taken for lost.
    let space = FileSpace { persist: true, ..FileSpace::default() };
    let options = OpenOptions::new().create().truncate().low(low).file_space(space);
    (options.open_on(storage.clone()).unwrap(), storage)
}

#[track_caller]
fn whole(storage: &Arc<Memory>) -> check::Report {
    let report = check::storage(storage.clone()).unwrap();
    assert_eq!(report.problems().map(|found| &found.why).collect::<Vec<_>>(), Vec::<&String>::new());
    report
}

/// Every byte of the file belongs to something that has a name.
#[track_caller]
fn nothing_is_lost(storage: &Arc<Memory>) {
    let report = whole(storage);
    assert_eq!(report.lost, 0, "{:?}", report.findings);
}

fn new_dataset(root: &Group, name: &str) -> Dataset {
    let new = root.new_dataset::<i32>().shape([4]).max_shape([None]).chunks([2]);
    new.write(name, &[1, 2, 3, 4]).unwrap()
}

/// Uses a dataset that has no name, with the values 1, 2, 3, 4.
fn use_dataset(dataset: &Dataset, round: i32) {
    assert_eq!(dataset.read::<i32>().unwrap(), [1, 2, 3, 4]);
    dataset.write_slice(1..3, &[round, 7]).unwrap();
    dataset.resize([6]).unwrap();
    assert_eq!(dataset.read::<i32>().unwrap(), [1, round, 7, 4, 0, 0]);
    assert_eq!(dataset.past_cache().read_slice::<f64>(1).unwrap(), [f64::from(round)]);
    dataset.resize([4]).unwrap();
    dataset.write(&[1, 2, 3, 4]).unwrap();
    assert!(dataset.read_chunk([0]).unwrap().is_some());
    assert!(dataset.stored_size().is_ok());
    use_node(&Node::Dataset(dataset.clone()), round);
}

fn use_group(group: &Group, round: i32) {
    assert_eq!(group.names().unwrap(), ["below", "kept", "type", "x"]);
    assert_eq!(group.dataset("x").unwrap().read::<i32>().unwrap().len(), 4);
    group.create_group("new").unwrap();
    group.rename("new", "other").unwrap();
    group.soft_link("soft", "x").unwrap();
    assert_eq!(group.dataset("soft").unwrap().len(), 4);
    group.delete("other").unwrap();
    group.delete("soft").unwrap();
    use_node(&Node::Group(group.clone()), round);
}

fn use_node(node: &Node, round: i32) {
    assert!(node.is_alive());
    node.set_attribute("round", round).unwrap();
    let attribute = node.attribute("round").unwrap();
    assert_eq!(attribute.read_scalar::<i32>().unwrap(), round);
    node.set_attribute("text", "of variable length").unwrap();
    node.remove_attribute("text").unwrap();
    node.set_comment(Some("unnamed")).unwrap();
    assert_eq!(node.comment().unwrap().unwrap(), b"unnamed");
}

fn use_type(root: &Group, named: &NamedDatatype, round: i32) {
    assert_eq!(named.datatype().unwrap(), hyperslab::dtype::Datatype::of::<i32>());
    let name = format!("typed {round}");
    let typed = root.new_dataset::<i32>().committed(named).shape([1]).create(&name).unwrap();
    assert!(typed.has_committed_datatype());
    drop(typed);
    root.delete(&name).unwrap();
    use_node(&Node::Datatype(named.clone()), round);
}

#[test]
fn handles_of_what_was_deleted_can_be_used() {
    for low in LOWS {
        for flush in [false, true] {
            let (file, storage) = new_file(low);
            let root = file.root().unwrap();
            let dataset = new_dataset(&root, "group/x");
            let kept = new_dataset(&root, "group/kept");
            let group = root.group("group").unwrap();
            let below = group.create_group("below").unwrap();
            let named = group.commit_datatype("type", &hyperslab::dtype::Datatype::of::<i32>()).unwrap();
            dataset.set_attribute("a", "text").unwrap();
            let (again, attribute) = (file.dataset("group/x").unwrap(), dataset.attribute("a").unwrap());
            root.hard_link("kept", &root.get("group/kept").unwrap()).unwrap();
            let view = dataset.slice(1..3).unwrap();
            if flush {
                file.flush().unwrap();
            }
            root.delete("group").unwrap();
            assert_eq!(root.names().unwrap(), ["kept"]);
            for round in 0..3 {
                use_dataset(&dataset, round);
                use_dataset(&again, round);
                use_group(&group, round);
                use_node(&Node::Group(below.clone()), round);
                assert_eq!(below.names().unwrap(), Vec::<String>::new());
                use_type(&root, &named, round);
                assert_eq!(view.read::<i32>().unwrap(), [2, 3]);
                assert_eq!(attribute.read_scalar::<String>().unwrap(), "text");
                assert_eq!(kept.read::<i32>().unwrap(), [1, 2, 3, 4]);
                // New objects do not come to the old places.
                file.flush().unwrap();
                new_dataset(&root, &format!("new {round}/x"));
                root.create_group(format!("new {round}/y")).unwrap();
            }
            drop((dataset, again, view, group, below, named, attribute));
            file.flush().unwrap();
            assert_eq!(kept.read::<i32>().unwrap(), [1, 2, 3, 4]);
            for round in 0..3 {
                let new = file.dataset(format!("new {round}/x")).unwrap();
                assert_eq!(new.read::<i32>().unwrap(), [1, 2, 3, 4]);
            }
            drop((root, kept));
            file.close().unwrap();
            nothing_is_lost(&storage);
        }
    }
}

#[test]
fn what_gets_a_name_again_stays() {
    for low in LOWS {
        for flush in 0..8 {
            let (file, storage) = new_file(low);
            let root = file.root().unwrap();
            let part = |bit: u32| {
                if flush >> bit & 1 == 1 {
                    file.flush().unwrap()
                }
            };
            let dataset = Node::Dataset(new_dataset(&root, "a/x"));
            let group = root.get("a").unwrap();
            let named = root.commit_datatype("type", &hyperslab::dtype::Datatype::of::<i32>()).unwrap();
            part(0);
            root.delete("a").unwrap();
            root.delete("type").unwrap();
            part(1);
            dataset.set_attribute("a", 1).unwrap();
            root.hard_link("b", &group).unwrap();
            root.hard_link("y", &dataset).unwrap();
            root.new_dataset::<i32>().committed(&named).write("typed", &[1]).unwrap();
            part(2);
            drop((dataset, group, named));
            root.create_group("next").unwrap();
            root.delete("next").unwrap();
            assert_eq!(file.dataset("b/x").unwrap().read::<i32>().unwrap(), [1, 2, 3, 4]);
            assert!(file.dataset("typed").unwrap().has_committed_datatype());
            root.delete("b").unwrap();
            let dataset = file.dataset("y").unwrap();
            assert_eq!(dataset.attribute("a").unwrap().read_scalar::<i32>().unwrap(), 1);
            drop((root, dataset));
            file.close().unwrap();
            whole(&storage);
        }
    }
}

#[test]
fn space_is_free_with_the_last_handle() {
    for low in LOWS {
        let (file, storage) = new_file(low);
        let root = file.root().unwrap();
        let mut sizes = Vec::new();
        for round in 0..30 {
            let new = root.new_dataset::<u8>().shape([40_000]).chunks([10_000]).deflate(1);
            let noise: Vec<u8> = std::iter::repeat_with(|| fastrand::u8(..)).take(40_000).collect();
            let dataset = new.write("g/x", &noise).unwrap();
            let text = root.new_dataset::<String>().write("g/text", &["a string".repeat(round + 1)]).unwrap();
            let group = root.group("g").unwrap();
            file.flush().unwrap();
            root.delete("g").unwrap();
            assert_eq!(dataset.read::<u8>().unwrap(), noise);
            assert_eq!(text.read_scalar::<String>().unwrap().len(), 8 * (round + 1));
            if round % 3 == 0 {
                file.flush().unwrap();
            }
            let below = group.get("x").unwrap();
            drop((dataset, group));
            drop((text, below));
            file.flush().unwrap();
            sizes.push(file.size());
        }
        assert!(sizes.iter().skip(5).all(|size| *size <= sizes[4] + 4096), "{low:?}: {sizes:?}");
        drop(root);
        file.close().unwrap();
        nothing_is_lost(&storage);
    }
}

/// Whichever handle is the last: the file is closed with it, and nothing is lost.
#[test]
fn what_has_no_name_goes_with_the_file() {
    for low in LOWS {
        for how in 0..4 {
            let (file, storage) = new_file(low);
            let root = file.root().unwrap();
            let dataset = new_dataset(&root, "g/x");
            let group = root.group("g").unwrap();
            let attribute = {
                dataset.set_attribute("a", 5).unwrap();
                dataset.attribute("a").unwrap()
            };
            root.delete("g").unwrap();
            match how {
                0 => {
                    file.close().unwrap();
                    assert!(dataset.write(&[1, 2, 3, 4]).is_err());
                    nothing_is_lost(&storage);
                    drop((root, dataset, group, attribute));
                }
                1 => {
                    drop((file, root, group, attribute));
                    assert_eq!(dataset.read::<i32>().unwrap(), [1, 2, 3, 4]);
                    drop(dataset);
                }
                2 => {
                    drop((file, root, dataset, attribute));
                    assert_eq!(group.dataset("x").unwrap().read::<i32>().unwrap(), [1, 2, 3, 4]);
                    drop(group);
                }
                _ => {
                    drop((file, root, dataset, group));
                    assert_eq!(attribute.read_scalar::<i32>().unwrap(), 5);
                    drop(attribute);
                }
            }
            nothing_is_lost(&storage);
            assert!(File::open_driver(storage).unwrap().root().unwrap().is_empty().unwrap());
        }
    }
}

#[test]
fn an_address_of_what_is_gone_leads_nowhere() {
    let (file, _) = new_file(Low::V110);
    let root = file.root().unwrap();
    let (address, reference) = {
        let dataset = new_dataset(&root, "x");
        (dataset.address(), dataset.reference())
    };
    root.delete("x").unwrap();
    assert!(matches!(file.at(address), Err(Error::File(_) | Error::Deleted(_))));
    assert!(reference.object(&file).is_err());
}

#[test]
fn a_virtual_dataset_reads_the_source_that_has_the_name() {
    let (file, _) = new_file(Low::V110);
    let root = file.root().unwrap();
    let space = hyperslab::space::Space::simple(&[2]).unwrap();
    root.new_dataset::<i32>().write("source", &[1, 2]).unwrap();
    let new = root.new_dataset::<i32>().shape([2]).fill_value(-1);
    let whole = new.virtual_source(&space, ".", "source", &space).create("whole").unwrap();
    assert_eq!(whole.read::<i32>().unwrap(), [1, 2]);
    root.delete("source").unwrap();
    assert_eq!(whole.read::<i32>().unwrap(), [-1, -1]);
    root.new_dataset::<i32>().write("source", &[3, 4]).unwrap();
    assert_eq!(whole.read::<i32>().unwrap(), [3, 4]);
}

/// Names, handles and values of datasets, in random programs, beside a model.
#[test]
fn random_programs() {
    for seed in 0..60 {
        let mut rng = Rng::with_seed(seed);
        let (file, storage) = new_file(LOWS[seed as usize % 3]);
        let root = file.root().unwrap();
        let groups = ["", "g/", "h/"];
        root.create_group("g").unwrap();
        root.create_group("h").unwrap();
        // By number: the values of each dataset; by name: which it is.
        let (mut values, mut names) = (Vec::<Vec<i64>>::new(), BTreeMap::<String, usize>::new());
        let mut handles: Vec<(usize, Dataset)> = Vec::new();
        for step in 0..150 {
            let name = format!("{}{}", groups[rng.usize(..3)], rng.u8(b'p'..b'w') as char);
            let handle = (!handles.is_empty()).then(|| rng.usize(..handles.len()));
            match rng.u8(..15) {
                0..3 if !names.contains_key(&name) => {
                    let new: Vec<i64> = (0..rng.i64(1..200)).map(|nth| nth * step).collect();
                    let made = root.new_dataset::<i64>();
                    let made =
                        if rng.bool() { made.chunks([16]).shape([new.len() as u64]).max_shape([None]) } else { made };
                    if rng.u8(..4) == 0 {
                        handles.push((values.len(), made.write_unnamed(&new).unwrap()));
                    } else {
                        handles.push((values.len(), made.write(&name, &new).unwrap()));
                        names.insert(name, values.len());
                    }
                    values.push(new);
                }
                3..5 if names.contains_key(&name) => {
                    handles.push((names[&name], file.dataset(&name).unwrap()));
                }
                5..7 if names.contains_key(&name) => {
                    root.delete(&name).unwrap();
                    names.remove(&name);
                }
                7 if handle.is_some() && !names.contains_key(&name) => {
                    let (number, dataset) = &handles[handle.unwrap()];
                    root.hard_link(&name, &Node::Dataset(dataset.clone())).unwrap();
                    names.insert(name, *number);
                }
                8 if handle.is_some() => {
                    let (number, dataset) = &handles[handle.unwrap()];
                    let at = rng.usize(..values[*number].len());
                    values[*number][at] = step;
                    dataset.write_slice(at as u64, &[step]).unwrap();
                }
                9 | 10 if handle.is_some() => drop(handles.swap_remove(handle.unwrap())),
                11 if rng.bool() => file.flush().unwrap(),
                12.. if handle.is_some() && names.contains_key(&name) => {
                    let (number, dataset) = &handles[handle.unwrap()];
                    let is_named = names.values().any(|named| named == number);
                    let replaced = root.replace(&name, &Node::Dataset(dataset.clone()));
                    assert_eq!(replaced.is_err(), is_named, "seed {seed}, step {step}");
                    if !is_named {
                        names.insert(name, *number);
                    }
                }
                _ => {}
            }
            for (number, dataset) in &handles {
                assert_eq!(dataset.read::<i64>().unwrap(), values[*number], "seed {seed}, step {step}");
            }
        }
        if rng.bool() {
            handles.clear();
        }
        for (name, number) in &names {
            assert_eq!(file.dataset(name).unwrap().read::<i64>().unwrap(), values[*number]);
        }
        file.close().unwrap();
        drop((handles, root));
        whole(&storage);
        let file = File::open_driver(storage).unwrap();
        for (name, number) in &names {
            assert_eq!(file.dataset(name).unwrap().read::<i64>().unwrap(), values[*number]);
        }
    }
}

/// An object whose links cannot all be read stays where it is, and stands in the way of no other.
#[test]
fn what_cannot_be_deleted_holds_no_other_off() {
    let (file, storage) = new_file(Low::V110);
    let root = file.root().unwrap();
    new_dataset(&root, "before");
    root.create_group("group/damaged").unwrap();
    new_dataset(&root, "behind");
    let damaged = file.get("group/damaged").unwrap().address();
    drop(root);
    file.close().unwrap();
    let mut byte = [0];
    storage.read_at(damaged + 6, &mut byte, &Transfer::default()).unwrap();
    storage.write_at(damaged + 6, &[byte[0] ^ 1], &Transfer::default()).unwrap();
    let file = OpenOptions::new().read_write().open_on(storage.clone()).unwrap();
    let root = file.root().unwrap();
    let opened = ["group", "before", "behind"].map(|name| root.get(name).unwrap());
    ["group", "before", "behind"].iter().for_each(|name| root.delete(name).unwrap());
    drop(opened);
    root.create_group("next").unwrap();
    file.flush().unwrap();
    root.create_group("last").unwrap();
    drop(root);
    file.close().unwrap();
    whole(&storage);
    assert_eq!(File::open_driver(storage).unwrap().root().unwrap().names().unwrap(), ["last", "next"]);
}

#[test]
fn an_object_takes_the_place_of_what_a_link_leads_to() {
    for low in LOWS {
        let (file, storage) = new_file(low);
        let root = file.root().unwrap();
        let new = |value: i32| Node::Dataset(root.new_dataset::<i32>().write_unnamed(&[value; 4]).unwrap());
        let values = |name: &str| root.dataset(name).unwrap().read::<i32>().unwrap();
        // Whatever it was: a group with all it holds, a path, an object with other names.
        root.new_dataset::<i32>().write("group/below", &[1; 4]).unwrap();
        root.replace("group", &new(2)).unwrap();
        root.soft_link("path", "nowhere").unwrap();
        root.replace("path", &new(3)).unwrap();
        root.hard_link("other", &root.get("path").unwrap()).unwrap();
        root.replace("/path", &new(4)).unwrap();
        assert_eq!([values("group"), values("path"), values("other")], [[2; 4], [4; 4], [3; 4]]);
        assert_eq!(root.get("other").unwrap().hard_links().unwrap(), 1);
        // Not without a link, by an object with a name, by one of another file.
        let named = root.get("other").unwrap();
        let (stranger, _) = new_file(low);
        let strange = stranger.root().unwrap().new_dataset::<i32>().write_unnamed(&[5]).unwrap().into();
        assert!(matches!(root.replace("missing", &new(5)), Err(Error::Missing(_))));
        for refused in [&named, &strange] {
            assert!(root.replace("path", refused).is_err());
        }
        assert_eq!(values("path"), [4; 4]);
        drop((named, root.create_group("more").unwrap()));
        file.close().unwrap();
        whole(&storage);
    }
}

#[test]
fn text_of_an_attribute_that_was_overwritten_is_not_read() {
    let (file, _) = new_file(Low::V110);
    let root = file.root().unwrap();
    root.set_attribute("a", "old").unwrap();
    root.set_attribute("number", 1).unwrap();
    let (text, number) = (root.attribute("a").unwrap(), root.attribute("number").unwrap());
    assert_eq!(text.read_scalar::<String>().unwrap(), "old");
    root.set_attribute("a", "new").unwrap();
    root.set_attribute("number", 2).unwrap();
    assert!(text.read_scalar::<String>().unwrap_err().to_string().contains("changed or deleted"));
    assert_eq!(number.read_scalar::<i32>().unwrap(), 1);
    root.remove_attribute("a").unwrap();
    assert!(text.read_values().is_err());
}

/// Threads open, delete and drop the same names.
#[test]
fn threads_delete_what_others_have_open() {
    let (file, storage) = new_file(Low::V110);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let file = &file;
            scope.spawn(move || {
                let (mut rng, root) = (Rng::with_seed(thread), file.root().unwrap());
                for step in 0..200 {
                    let name = format!("{}", rng.u8(..3));
                    match rng.u8(..4) {
                        0 => _ = root.new_dataset::<i32>().shape([9]).chunks([4]).write(&name, &[step; 9]).is_ok(),
                        1 => _ = root.delete(&name).is_ok(),
                        _ => {
                            let Ok(dataset) = file.dataset(&name) else { continue };
                            for _ in 0..3 {
                                let values = dataset.read::<i32>().unwrap();
                                assert!(values.len() == 9 && values.iter().all(|value| *value == values[0]));
                                dataset.write(&[step; 9]).unwrap();
                            }
                        }
                    }
                }
            });
        }
    });
    file.close().unwrap();
    whole(&storage);
}

fn python(arguments: &[&str]) -> Option<Value> {
    let output = Command::new(hyperslab_workshop::python()?)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/deleted.py"))
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// What is in a file: the values of datasets, and the names in groups.
fn listing(file: &File) -> Value {
    let mut found = serde_json::Map::new();
    let done = file.visit(|path, node| {
        let value = match node.unwrap() {
            Node::Dataset(dataset) => json!(dataset.read::<i64>().unwrap()),
            Node::Group(group) => json!(group.names().unwrap()),
            Node::Datatype(_) => json!(null),
        };
        found.insert(String::from_utf8_lossy(path).into_owned(), value);
        ControlFlow::<()>::Continue(())
    });
    done.unwrap();
    Value::Object(found)
}

/// The program of `deleted.py`.
fn program(path: &Path, low: Low) -> Value {
    let mut seen = Vec::new();
    let file = OpenOptions::new().create().truncate().low(low).open(path).unwrap();
    let root = file.root().unwrap();
    for name in ["g/x", "g/kept", "alone"] {
        let new = root.new_dataset::<i64>().shape([4]).chunks([2]).max_shape([None]);
        new.write(name, &[1i64, 2, 3, 4]).unwrap();
    }
    root.hard_link("kept", &root.get("g/kept").unwrap()).unwrap();
    root.create_group("g/below").unwrap();
    let (group, x, alone) = (root.get("g").unwrap(), root.dataset("g/x").unwrap(), root.dataset("alone").unwrap());
    let names = |group: &Node| group.as_group().unwrap().names().unwrap();
    file.flush().unwrap();
    root.delete("g").unwrap();
    root.delete("alone").unwrap();
    seen.push(json!(root.names().unwrap()));
    seen.push(json!(x.read::<i64>().unwrap()));
    x.write_slice(1, &[20]).unwrap();
    x.resize([6]).unwrap();
    x.set_attribute("a", 5).unwrap();
    let attribute = x.attribute("a").unwrap().read_scalar::<i64>().unwrap();
    let alive = Node::Dataset(x.clone()).is_alive();
    seen.push(json!([x.read::<i64>().unwrap(), attribute, alive, names(&group)]));
    group.as_group().unwrap().create_group("new").unwrap();
    seen.push(json!(group.as_group().unwrap().dataset("x").unwrap().read::<i64>().unwrap()));
    root.new_dataset::<i64>().write("other", &[9i64, 9]).unwrap();
    file.flush().unwrap();
    seen.push(json!([alone.read::<i64>().unwrap(), x.read::<i64>().unwrap()]));
    root.hard_link("y", &Node::Dataset(x.clone())).unwrap();
    root.hard_link("h/again", &group).unwrap();
    drop((x, alone));
    root.new_dataset::<i64>().write("g/x", &[7i64]).unwrap();
    drop(group);
    seen.push(listing(&file));
    drop(root);
    file.close().unwrap();
    seen.push(listing(&File::open(path).unwrap()));
    json!(seen)
}

#[test]
fn libhdf5_does_the_same() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("deleted");
    std::fs::create_dir_all(&folder).unwrap();
    for (low, name) in [(Low::Earliest, "earliest"), (Low::V18, "v108"), (Low::V110, "v110"), (Low::V200, "latest")] {
        let (ours, theirs) = (folder.join(format!("ours-{name}.h5")), folder.join(format!("theirs-{name}.h5")));
        let seen = program(&ours, low);
        let Some(expected) = python(&["program", theirs.to_str().unwrap(), name]) else { return };
        assert_eq!(seen, expected, "{name}");
        let went_on = python(&["go on", ours.to_str().unwrap()]).unwrap();
        assert_eq!(went_on, listing(&File::open(&ours).unwrap()), "{name}");
        assert_eq!(went_on["more"][0], 100);
        let report = check::file(&ours, &mut |_| ()).unwrap();
        assert_eq!(report.problems().count(), 0, "{name}: {:?}", report.findings);
    }
}
