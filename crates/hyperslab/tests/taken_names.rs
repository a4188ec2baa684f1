//! A link whose name is taken is refused, and costs nothing: the file goes on.

use std::sync::Arc;

use hyperslab::{Error, File, LibVersion, OpenOptions, driver::Memory};

/// Links of a group: in one node or header, and in many nodes or outside of the header.
const SIZES: [usize; 3] = [1, 6, 300];

fn refused(made: hyperslab::Result<()>, path: &str) {
    match made {
        Err(Error::Exists(name)) => assert_eq!(name, path),
        other => panic!("{path}: {other:?}"),
    }
}

fn try_names(file: &File, count: usize, flushes: bool) {
    let root = file.root().unwrap();
    let group = root.create_group("group").unwrap();
    let object = hyperslab::Node::Group(root.create_group("object").unwrap());
    for nth in 0..count {
        match nth % 3 {
            0 => group.soft_link(format!("link{nth}"), "/nowhere").unwrap(),
            1 => group.hard_link(format!("link{nth}"), &object).unwrap(),
            _ => drop(group.create_group(format!("link{nth}")).unwrap()),
        }
    }
    for nth in 0..count {
        if flushes {
            file.flush().unwrap();
        } else if nth > 0 {
            // Something waits to be written.
            group.delete(format!("link{}", nth - 1)).unwrap();
            group.soft_link(format!("link{}", nth - 1), "/elsewhere").unwrap();
        }
        let (near, far) = (format!("link{nth}"), format!("/group/link{nth}"));
        refused(group.soft_link(&near, "/nowhere"), &near);
        refused(group.hard_link(&near, &object), &near);
        refused(root.external_link(&far, "other.h5", "/there"), &far);
        refused(group.create_group(&near).map(drop), &near);
    }
    file.flush().unwrap();
    assert_eq!(group.names().unwrap().len(), count);
    group.soft_link("one more", "/nowhere").unwrap();
}

#[test]
fn a_name_that_is_taken_is_refused_and_the_file_goes_on() {
    for low in [LibVersion::Earliest, LibVersion::V18, LibVersion::V200] {
        for count in SIZES {
            for flushes in [false, true] {
                let storage = Arc::new(Memory::new());
                let file = OpenOptions::new().create().libver_min(low).open_on(storage.clone()).unwrap();
                try_names(&file, count, flushes);
                file.close().unwrap();
                let file = File::open_driver(storage).unwrap();
                assert_eq!(file.group("group").unwrap().names().unwrap().len(), count + 1, "{low:?} {count} {flushes}");
            }
        }
    }
}
