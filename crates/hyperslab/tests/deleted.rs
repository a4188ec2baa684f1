//! What was deleted cannot be used, whatever came into its place.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::sync::Arc;

use hyperslab::{Dataset, Error, File, Group, Low, Node, OpenOptions, Result, driver::Memory};

fn new_file(low: Low) -> File {
    OpenOptions::new().create().truncate().low(low).open_on(Arc::new(Memory::new())).unwrap()
}

fn refused<T>(what: &str, done: Result<T>) {
    match done {
        Err(Error::Deleted(_)) => {}
        Err(why) => panic!("{what}: {why}"),
        Ok(_) => panic!("{what} is possible"),
    }
}

fn dead_dataset(dataset: &Dataset) {
    refused("read", dataset.read::<i32>());
    refused("read_stored", dataset.read_stored());
    refused("read_values", dataset.read_values(&dataset.space()));
    refused("write", dataset.write(&vec![1; dataset.len() as usize]));
    refused("write_slice", dataset.write_slice(0, &[1]));
    refused("resize", dataset.resize([5]));
    refused("read_chunk", dataset.read_chunk([0]));
    refused("write_chunk", dataset.write_chunk([0], 0, &[0; 8]));
    refused("region", dataset.region_reference(&dataset.space()));
    refused("stored_size", dataset.stored_size());
    dead(&Node::Dataset(dataset.clone()));
}

fn dead_group(group: &Group, other: &Node) {
    refused("names", group.names());
    refused("len", group.len());
    refused("get", group.get("x"));
    refused("get", group.get("."));
    refused("create", group.create_group("new"));
    refused("dataset", group.new_dataset::<i32>().write("new", &[1]));
    refused("link", group.hard_link("new", other));
    refused("soft", group.soft_link("new", "x"));
    refused("delete", group.delete("x"));
    refused("rename", group.rename("x", "y"));
    refused("commit", group.commit_datatype("new", &hyperslab::dtype::Datatype::of::<i32>()));
    dead(&Node::Group(group.clone()));
}

fn dead(node: &Node) {
    assert!(!node.is_alive());
    refused("attribute", node.attribute("a"));
    refused("attributes", node.attribute_names());
    refused("set", node.set_attribute("a", 1));
    refused("remove", node.remove_attribute("a"));
    refused("rename", node.rename_attribute("a", "b"));
    refused("comment", node.set_comment(Some("x")));
}

#[test]
fn handles_of_what_was_deleted_say_so() {
    for low in [Low::Earliest, Low::V110] {
        for flush in [false, true] {
            let file = new_file(low);
            let root = file.root().unwrap();
            let made = |name: &str| {
                let new = root.new_dataset::<i32>().shape([4]).max_shape([None]).chunks([2]);
                new.write(name, &[1, 2, 3, 4]).unwrap()
            };
            let dataset = made("group/x");
            let kept = made("group/kept");
            let group = root.group("group").unwrap();
            let below = group.create_group("below").unwrap();
            let named = group.commit_datatype("type", &hyperslab::dtype::Datatype::of::<i32>()).unwrap();
            dataset.set_attribute("a", "text").unwrap();
            let (again, attribute) = (file.dataset("group/x").unwrap(), dataset.attribute("a").unwrap());
            root.hard_link("kept", &root.get("group/kept").unwrap()).unwrap();
            let view = dataset.slice(1..3).unwrap();
            let reference = dataset.reference();
            let listed = group.members().unwrap();
            if flush {
                file.flush().unwrap();
            }
            root.delete("group").unwrap();
            for round in 0..3 {
                dead_dataset(&dataset);
                dead_dataset(&again);
                dead_group(&group, &root.get("kept").unwrap());
                dead_group(&below, &root.get("kept").unwrap());
                dead(&Node::Datatype(named.clone()));
                refused("named", named.datatype());
                refused("view", view.read::<i32>());
                refused("view", view.write(&[1, 2]));
                refused("attribute of old", attribute.read::<String>());
                refused("link", root.hard_link("again", &Node::Dataset(dataset.clone())));
                refused("committed", root.new_dataset::<i32>().committed(&named).shape([1]).create("typed"));
                assert!(reference.object(&file).is_err() || round > 0);
                assert_eq!(kept.read::<i32>().unwrap(), [1, 2, 3, 4]);
                kept.write_slice(0, &[1]).unwrap();
                // New objects come to the old places.
                file.flush().unwrap();
                made(&format!("new {round}/x"));
                root.create_group(format!("new {round}/y")).unwrap();
            }
            assert!(listed.into_iter().all(|(_, node)| node.is_err()));
            // What came into the place of others is as good as any.
            for round in 0..3 {
                let new = file.dataset(format!("new {round}/x")).unwrap();
                assert_eq!(new.read::<i32>().unwrap(), [1, 2, 3, 4]);
                new.set_attribute("a", 1).unwrap();
                file.group(format!("new {round}/y")).unwrap().create_group("z").unwrap();
            }
        }
    }
}

#[test]
fn text_of_an_attribute_that_was_overwritten_is_not_read() {
    let file = new_file(Low::V110);
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

#[test]
fn refusals_leave_the_file_usable() {
    let file = new_file(Low::V110);
    let root = file.root().unwrap();
    let dataset = root.new_dataset::<String>().write("x", &["a".to_string()]).unwrap();
    root.delete("x").unwrap();
    assert!(dataset.write(&["b".to_string()]).is_err());
    root.new_dataset::<i32>().write("y", &[1]).unwrap();
    file.close().unwrap();
}
