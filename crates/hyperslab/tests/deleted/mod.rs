//! What is deleted while handles of it are open can be used until the last of them goes, as in libhdf5; then its space is free.

mod failing;
mod libhdf5;
mod random;
mod scene;

use hyperslab::{
    Error, File, LibVersion, Node, OpenOptions,
    driver::{Driver, Transfer},
};
use scene::{LOWS, new_dataset, new_file, nothing_is_lost, use_dataset, use_group, use_node, use_type, whole};

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
    let (file, _) = new_file(LibVersion::V110);
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
    let (file, _) = new_file(LibVersion::V110);
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

/// An object whose links cannot all be read stays where it is, and stands in the way of no other.
#[test]
fn what_cannot_be_deleted_holds_no_other_off() {
    let (file, storage) = new_file(LibVersion::V110);
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
    // Each flush tries it again, tells why it is still there, and writes everything else.
    for _ in 0..2 {
        assert!(file.flush().unwrap_err().to_string().contains("checksum"));
    }
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
    let (file, _) = new_file(LibVersion::V110);
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
