//! A copy that fails leaves nothing.

use hyperslab::{
    CopyOptions, File, LibVersion, ObjectReference, OpenOptions,
    driver::{Driver, Transfer},
};

use crate::copying::scene::{LOWS, bytes, damage, new_file, nothing_is_lost};

/// The names that a file has in its root group.
fn names(file: &File) -> Vec<String> {
    file.root().unwrap().names().unwrap()
}

/// A group with an object whose header is damaged, and one of each kind that is not.
fn damaged(low: LibVersion) -> File {
    let (file, storage) = new_file(low);
    let root = file.root().unwrap();
    let named = root.commit_datatype("type", &hyperslab::dtype::Datatype::of::<i32>()).unwrap();
    root.new_dataset::<i32>().committed(&named).write("g/a", &[1, 2, 3]).unwrap();
    root.new_dataset::<String>().compact().write("g/b", &["x", "yy"].map(str::to_owned)).unwrap();
    root.group("g/").unwrap().set_attribute("text", "of the group").unwrap();
    let bad = root.new_dataset::<i32>().write("g/deep/z", &[4]).unwrap().address();
    file.close().unwrap();
    damage(&storage, bad);
    File::open_driver(storage).unwrap()
}

#[test]
fn groups_on_the_way_are_made_with_the_copy() {
    for low in LOWS {
        let (source, (file, storage)) = (damaged(low), new_file(low));
        let root = file.root().unwrap();
        root.create_group("old").unwrap();
        for path in ["n1/n2/g", "old/n/g", "g"] {
            assert!(source.root().unwrap().copy("g", &root, path).is_err());
            assert_eq!(names(&file), ["old"]);
            assert!(root.group("old").unwrap().is_empty().unwrap());
        }
        file.close().unwrap();
        nothing_is_lost(&storage);
    }
}

/// The copy must not take the heap objects of what it is a copy of with it.
#[test]
fn a_source_in_the_same_file_keeps_its_values() {
    for low in LOWS {
        let (file, storage) = new_file(low);
        let root = file.root().unwrap();
        let texts = ["of variable length", "another"].map(str::to_owned);
        root.new_dataset::<String>().compact().write("g/a", &texts).unwrap();
        root.new_dataset::<String>().write("g/b", &texts).unwrap();
        let bad = root.new_dataset::<i32>().write("g/z", &[4]).unwrap().address();
        file.close().unwrap();
        damage(&storage, bad);
        let file = OpenOptions::new().read_write().open_on(storage.clone()).unwrap();
        let root = file.root().unwrap();
        assert!(root.copy("g", &root, "copy").is_err());
        // New values go where there is space in the heap.
        root.new_dataset::<String>().write("new", &["other texts", "and so on"].map(str::to_owned)).unwrap();
        file.close().unwrap();
        let file = File::open_driver(storage).unwrap();
        assert_eq!(names(&file), ["g", "new"]);
        for path in ["g/a", "g/b"] {
            assert_eq!(file.dataset(path).unwrap().read::<String>().unwrap(), texts);
        }
    }
}

/// What references refer to gets its names when all is copied.
#[test]
fn what_is_referred_to_has_no_name_before_the_copy() {
    for low in LOWS {
        let (file, source) = new_file(low);
        let root = file.root().unwrap();
        let good = root.new_dataset::<i32>().write("good", &[1]).unwrap();
        let bad = root.new_dataset::<i32>().write("group/bad", &[1]).unwrap().address();
        let group = root.group("group").unwrap();
        root.new_dataset::<ObjectReference>().write("one", &[good.reference()]).unwrap();
        root.new_dataset::<ObjectReference>().write("both", &[good.reference(), group.reference()]).unwrap();
        file.close().unwrap();
        damage(&source, bad);
        let from = File::open_driver(source).unwrap();
        let (file, storage) = new_file(low);
        let options = CopyOptions::new().expand_references();
        assert!(options.copy(&from.get("both").unwrap(), &file.root().unwrap(), "n/both").is_err());
        assert_eq!(names(&file), Vec::<String>::new());
        file.close().unwrap();
        nothing_is_lost(&storage);
        let (file, _storage) = new_file(low);
        options.copy(&from.get("one").unwrap(), &file.root().unwrap(), "n/one").unwrap();
        let names = names(&file);
        assert!(
            matches!(&names[..], [n, referred] if n == "n" && referred.starts_with("~obj_pointed_by_")),
            "{names:?}"
        );
        assert_eq!(file.dataset(&names[1]).unwrap().read::<i32>().unwrap(), [1]);
        let one = file.dataset("n/one").unwrap().read::<ObjectReference>().unwrap();
        assert_eq!(one[0].object(&file).unwrap().unwrap().address(), file.get(&names[1]).unwrap().address());
    }
}

/// A name that was taken while values were copied.
#[test]
fn a_copy_whose_name_is_taken_meanwhile_goes() {
    let (file, storage) = new_file(LibVersion::Earliest);
    let root = file.root().unwrap();
    root.new_dataset::<i32>().write("g/a", &[1, 2, 3]).unwrap();
    let take = &mut |_| drop(root.require_group("copy").unwrap());
    assert!(CopyOptions::new().copy_showing(&root.get("g").unwrap(), &root, "copy", take).is_err());
    assert!(root.group("copy").unwrap().is_empty().unwrap());
    drop(root);
    file.close().unwrap();
    nothing_is_lost(&storage);
}

/// The fill value of a dataset refers to the dataset.
#[test]
fn a_dataset_that_refers_to_itself_before_it_has_values() {
    let (file, storage) = new_file(LibVersion::Earliest);
    let root = file.root().unwrap();
    let other = root.new_dataset::<i32>().write("other", &[1]).unwrap();
    let new = root.new_dataset::<ObjectReference>().shape([2]).fill_value(other.reference());
    let itself = new.create("itself").unwrap().address();
    let other = other.address();
    file.close().unwrap();
    let whole = bytes(&storage);
    let places = (0..whole.len() - 8).filter(|&at| whole[at..at + 8] == other.to_le_bytes());
    // Wherever the header of the dataset has the address of the other one, it is the fill value.
    for at in places.filter(|&at| (itself as usize..itself as usize + 300).contains(&at)) {
        storage.write_at(at as u64, &itself.to_le_bytes(), &Transfer::default()).unwrap();
    }
    let from = File::open_driver(storage).unwrap();
    for options in [CopyOptions::new(), CopyOptions::new().expand_references()] {
        let (file, _storage) = new_file(LibVersion::Earliest);
        options.copy(&from.get("itself").unwrap(), &file.root().unwrap(), "copy").unwrap();
        assert_eq!(names(&file), ["copy"]);
    }
}
