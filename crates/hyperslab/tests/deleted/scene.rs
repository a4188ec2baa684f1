//! Files, objects and what every handle of them can do.

use std::sync::Arc;

use hyperslab::{Dataset, File, FileSpace, Group, LibVersion, NamedDatatype, Node, OpenOptions, check, driver::Memory};

pub(crate) const LOWS: [LibVersion; 3] = [LibVersion::Earliest, LibVersion::V18, LibVersion::V110];

pub(crate) fn new_file(low: LibVersion) -> (File, Arc<Memory>) {
    let storage = Arc::new(Memory::new());
    // Free space is listed, so that none is taken for lost.
    let space = FileSpace { persist: true, ..FileSpace::default() };
    let options = OpenOptions::new().create().truncate().libver_min(low).file_space(space);
    (options.open_on(storage.clone()).unwrap(), storage)
}

#[track_caller]
pub(crate) fn whole(storage: &Arc<Memory>) -> check::Report {
    let report = check::storage(storage.clone()).unwrap();
    assert_eq!(report.problems().map(|found| &found.why).collect::<Vec<_>>(), Vec::<&String>::new());
    report
}

/// Every byte of the file belongs to something that has a name.
#[track_caller]
pub(crate) fn nothing_is_lost(storage: &Arc<Memory>) {
    let report = whole(storage);
    assert_eq!(report.lost, 0, "{:?}", report.findings);
}

pub(crate) fn new_dataset(root: &Group, name: &str) -> Dataset {
    let new = root.new_dataset::<i32>().shape([4]).max_shape([None]).chunks([2]);
    new.write(name, &[1, 2, 3, 4]).unwrap()
}

/// Uses a dataset that has no name, with the values 1, 2, 3, 4.
pub(crate) fn use_dataset(dataset: &Dataset, round: i32) {
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

pub(crate) fn use_group(group: &Group, round: i32) {
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

pub(crate) fn use_node(node: &Node, round: i32) {
    assert!(node.is_alive());
    node.set_attribute("round", round).unwrap();
    let attribute = node.attribute("round").unwrap();
    assert_eq!(attribute.read_scalar::<i32>().unwrap(), round);
    node.set_attribute("text", "of variable length").unwrap();
    node.remove_attribute("text").unwrap();
    node.set_comment(Some("unnamed")).unwrap();
    assert_eq!(node.comment().unwrap().unwrap(), b"unnamed");
}

pub(crate) fn use_type(root: &Group, named: &NamedDatatype, round: i32) {
    assert_eq!(named.datatype().unwrap(), hyperslab::dtype::Datatype::of::<i32>());
    let name = format!("typed {round}");
    let typed = root.new_dataset::<i32>().committed(named).shape([1]).create(&name).unwrap();
    assert!(typed.has_committed_datatype());
    drop(typed);
    root.delete(&name).unwrap();
    use_node(&Node::Datatype(named.clone()), round);
}
