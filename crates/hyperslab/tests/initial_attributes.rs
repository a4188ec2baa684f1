//! Attributes that datasets have from the start are what attributes are that they get afterwards.

use std::sync::Arc;

use hyperslab::{ErrorKind, File, LibVersion, OpenOptions, driver::Memory};

const LOWS: [LibVersion; 4] = [LibVersion::Earliest, LibVersion::V18, LibVersion::V110, LibVersion::V200];

#[test]
fn they_are_equal_to_those_that_come_later() {
    for low in LOWS {
        for count in [0, 1, 2, 8, 9, 40] {
            for track in [false, true] {
                let storage = Arc::new(Memory::new());
                let file = OpenOptions::new().create().libver_min(low).open_on(storage.clone()).unwrap();
                let root = file.root().unwrap();
                let mut new = root.new_dataset::<i32>().track_order(track);
                let later = root.new_dataset::<i32>().track_order(track).write("later", &[1, 2, 3]).unwrap();
                for nth in (0..count).rev() {
                    let (name, text) = (format!("attribute {nth}"), "text ".repeat(nth));
                    new = match nth % 3 {
                        0 => new.attribute(&name, nth as f64),
                        1 => new.attribute(&name, text.as_str()),
                        _ => new.attribute_values(&name, &vec![nth as u16; nth]),
                    };
                    match nth % 3 {
                        0 => later.set_attribute(&name, nth as f64).unwrap(),
                        1 => later.set_attribute(&name, text.as_str()).unwrap(),
                        _ => later.set_attribute_values(&name, &vec![nth as u16; nth]).unwrap(),
                    }
                }
                new.write("first", &[1, 2, 3]).unwrap();
                file.close().unwrap();
                let file = File::open_driver(storage).unwrap();
                let [first, later] = ["first", "later"].map(|name| file.dataset(name).unwrap());
                let names = |dataset: &hyperslab::Dataset| dataset.attribute_names().unwrap();
                assert_eq!(names(&first), names(&later), "{low:?} {count} {track}");
                assert_eq!(names(&first).len(), count);
                for nth in 0..count {
                    let attribute = first.attribute(format!("attribute {nth}")).unwrap();
                    match nth % 3 {
                        0 => assert_eq!(attribute.read_scalar::<f64>().unwrap(), nth as f64),
                        1 => assert_eq!(attribute.read_scalar::<String>().unwrap(), "text ".repeat(nth)),
                        _ => assert_eq!(attribute.read::<u16>().unwrap(), vec![nth as u16; nth]),
                    }
                }
                assert_eq!(first.read::<i32>().unwrap(), [1, 2, 3]);
            }
        }
    }
}

#[test]
fn the_last_value_of_a_name_counts() {
    let file = File::create_on(Arc::new(Memory::new())).unwrap();
    let new =
        file.root().unwrap().new_dataset::<u8>().attribute("same", 1).attribute("other", 2).attribute("same", "3");
    let made = new.write("data", &[0]).unwrap();
    assert_eq!(made.attribute_names().unwrap().len(), 2);
    assert_eq!(made.attribute("same").unwrap().read_scalar::<String>().unwrap(), "3");
    made.set_attribute("same", 4).unwrap();
    made.remove_attribute("other").unwrap();
    assert_eq!(made.attribute("same").unwrap().read_scalar::<i32>().unwrap(), 4);
}

#[test]
fn what_cannot_be_an_attribute_is_refused_and_the_file_goes_on() {
    let file = OpenOptions::new().create().libver_min(LibVersion::Earliest).open_on(Arc::new(Memory::new())).unwrap();
    let root = file.root().unwrap();
    let large = vec![0u8; 70_000];
    let wrong = [
        root.new_dataset::<u8>().attribute("", 1),
        root.new_dataset::<u8>().attribute("a\0b", 1),
        root.new_dataset::<u8>().attribute_values("large", &large),
    ];
    for new in wrong {
        assert!(new.write("data", &[1]).is_err());
        assert!(!root.contains("data").unwrap());
    }
    let new = root.new_dataset::<u8>().attribute("right", 1);
    new.write("data", &[1]).unwrap();
    let taken = root.new_dataset::<u8>().attribute("right", 2).write("data", &[2]);
    assert_eq!(taken.unwrap_err().kind(), ErrorKind::AlreadyExists);
    file.flush().unwrap();
    assert_eq!(root.dataset("data").unwrap().attribute("right").unwrap().read_scalar::<i32>().unwrap(), 1);
}

/// Also where something of the dataset goes to the file before its header: its values, or what an attribute names in the heap.
#[test]
fn a_refused_attribute_poisons_no_file() {
    for case in 0..3 {
        let storage = Arc::new(Memory::new());
        let file = OpenOptions::new().create().libver_min(LibVersion::Earliest).open_on(storage.clone()).unwrap();
        let root = file.root().unwrap();
        root.new_dataset::<i32>().write("before", &[1]).unwrap();
        let new = root.new_dataset::<i32>();
        let made = match case {
            0 => new.attribute("", 1).write("data", &[1]),
            1 => new.attribute("text", "text").attribute("", "text").shape([1]).create("data"),
            _ => new.attribute_values("large", &vec![0f64; 9000]).write("data", &[1]),
        };
        assert!(made.is_err(), "case {case}");
        root.create_group("after").unwrap();
        file.close().unwrap();
        let names = File::open_driver(storage).unwrap().root().unwrap().names().unwrap();
        assert_eq!(names, ["after", "before"], "case {case}");
    }
}
