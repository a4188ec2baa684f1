//! Values that are in headers, before or after, and members that refer to others.

use std::sync::Arc;

use hyperslab::{
    Element, File, FillTime, Group, Layout, LibVersion, NewDataset, ObjectReference, RegionReference, Repack, check,
    driver::Memory,
};

use crate::copying::scene::{LOWS, bytes, new_file, path, repacked};

type Wish = fn(NewDataset) -> NewDataset;

/// All ways to store values that do not grow.
const LAYOUTS: [(&str, Wish); 4] = [
    ("compact", NewDataset::compact),
    ("contiguous", NewDataset::contiguous),
    ("chunks", |new| new.chunks([2])),
    ("packed", |new| new.chunks([3]).deflate(1)),
];

/// Numbers of which some, all or none were written.
fn numbers(root: &Group, layout: &str, wish: Wish) {
    let new = || wish(root.new_dataset::<i32>().shape([5]).fill_value(7));
    new().write(format!("{layout} all"), &[1, 2, 3, 4, 5]).unwrap();
    new().create(format!("{layout} some")).unwrap().write_slice(3..4, &[4]).unwrap();
    new().create(format!("{layout} none")).unwrap();
    let texts = || wish(root.new_dataset::<String>().shape([5]));
    texts().write(format!("{layout} texts"), &["a", "", "ccc", "dd", "e"].map(str::to_owned)).unwrap();
    texts().create(format!("{layout} no texts")).unwrap();
}

fn check(file: &File, layout: &str) {
    let dataset = |name: &str| file.dataset(format!("{layout} {name}")).unwrap();
    assert_eq!(dataset("all").read::<i32>().unwrap(), [1, 2, 3, 4, 5], "{layout}");
    assert_eq!(dataset("some").read::<i32>().unwrap(), [7, 7, 7, 4, 7], "{layout}");
    assert_eq!(dataset("none").read::<i32>().unwrap(), [7; 5], "{layout}");
    assert_eq!(dataset("texts").read::<String>().unwrap(), ["a", "", "ccc", "dd", "e"], "{layout}");
    assert_eq!(dataset("no texts").read::<String>().unwrap(), [""; 5], "{layout}");
}

#[test]
fn values_stay_whatever_layout_they_get() {
    for low in LOWS {
        let (file, _storage) = new_file(low);
        let root = file.root().unwrap();
        LAYOUTS.iter().for_each(|(layout, wish)| numbers(&root, layout, *wish));
        for (wanted, wish) in LAYOUTS {
            let repack = Repack::new().libver_min(low).store(move |_, new| Some(wish(new)));
            let new = repacked(&format!("layouts-{wanted}"), &file, &repack);
            LAYOUTS.iter().for_each(|(layout, _)| check(&new, layout));
            let layout = new.dataset("compact all").unwrap().layout().unwrap();
            assert_eq!(layout == Layout::Compact, wanted == "compact");
        }
    }
}

/// What has one element, or none, has values in its header, too.
#[test]
fn small_values_stay() {
    let (file, _storage) = new_file(LibVersion::Earliest);
    let root = file.root().unwrap();
    for (layout, wish) in &LAYOUTS[..2] {
        wish(root.new_dataset::<i32>().scalar()).write_scalar(format!("{layout} scalar"), &9).unwrap();
        wish(root.new_dataset::<String>().scalar()).write_scalar(format!("{layout} text"), &"nine".to_owned()).unwrap();
        wish(root.new_dataset::<i32>().empty()).create(format!("{layout} null")).unwrap();
        wish(root.new_dataset::<String>().empty()).create(format!("{layout} null text")).unwrap();
        wish(root.new_dataset::<i32>().shape([0])).create(format!("{layout} nothing")).unwrap();
    }
    for (wanted, wish) in &LAYOUTS[..2] {
        let wish = *wish;
        let new = repacked(&format!("small-{wanted}"), &file, &Repack::new().store(move |_, new| Some(wish(new))));
        for (layout, _) in &LAYOUTS[..2] {
            let dataset = |name: &str| new.dataset(format!("{layout} {name}")).unwrap();
            assert_eq!(dataset("scalar").read_scalar::<i32>().unwrap(), 9);
            assert_eq!(dataset("text").read_scalar::<String>().unwrap(), "nine");
            assert!(["null", "null text", "nothing"].iter().all(|name| dataset(name).is_empty()));
        }
    }
}

/// A fill value of variable length is in the heap.
#[test]
fn fill_values_in_the_heap_stay() {
    let (file, _storage) = new_file(LibVersion::Earliest);
    let new = file.root().unwrap().new_dataset::<String>().shape([4]).chunks([2]).fill_value("filled".to_owned());
    new.fill_time(FillTime::IfSet).create("texts").unwrap().write_slice(0..1, &["written"]).unwrap();
    for (wanted, wish) in LAYOUTS {
        let new = repacked(&format!("filled-{wanted}"), &file, &Repack::new().store(move |_, new| Some(wish(new))));
        let texts = new.dataset("texts").unwrap().read::<String>().unwrap();
        assert_eq!(texts, ["written", "filled", "filled", "filled"], "{wanted}");
    }
}

/// Values that take more or fewer bytes than a header has are refused, as by libhdf5.
#[test]
fn headers_with_other_sizes_than_the_values() {
    let (file, storage) = new_file(LibVersion::Earliest);
    let values: Vec<u8> = (0..1201u32).map(|nth| (nth % 251) as u8).collect();
    file.root().unwrap().new_dataset::<u8>().compact().write("values", &values).unwrap();
    file.close().unwrap();
    let whole = bytes(&storage);
    for dim in [1200u64, 1202, 1 << 40] {
        let mut changed = whole.clone();
        let places: Vec<_> = (0..whole.len() - 8).filter(|&at| whole[at..at + 8] == 1201u64.to_le_bytes()).collect();
        assert!(!places.is_empty());
        places.iter().for_each(|&at| changed[at..at + 8].copy_from_slice(&dim.to_le_bytes()));
        let changed = Arc::new(Memory::from(changed));
        let file = File::open_driver(changed.clone()).unwrap();
        let dataset = file.dataset("values").unwrap();
        assert!(dataset.read::<u8>().is_err());
        assert!(dataset.read_slice::<u8>(0..1).unwrap_err().to_string().contains("belong in the header"));
        let (new, _storage) = new_file(LibVersion::Earliest);
        let copied = file.root().unwrap().copy("values", &new.root().unwrap(), "values");
        assert!(copied.unwrap_err().to_string().contains("belong in the header"));
        let lost = Repack::new().skip_damaged().run(&file, path("other-size")).unwrap().lost;
        assert_eq!(lost.iter().map(|lost| lost.path.as_str()).collect::<Vec<_>>(), ["/values"]);
        assert_eq!(check::storage(changed).unwrap().problems().count(), 1);
    }
}

/// A structure with references.
#[derive(Element, Clone, Debug, PartialEq)]
struct Row {
    number: i32,
    object: ObjectReference,
    region: RegionReference,
    words: Vec<i32>,
}

/// Their addresses would mean other objects in another file.
#[test]
fn references_of_structures_refer_to_copies_or_nothing() {
    for low in LOWS {
        let (file, _storage) = new_file(low);
        let root = file.root().unwrap();
        let target = root.new_dataset::<i32>().write("target", &[1, 2, 3, 4]).unwrap();
        let region = target.region_reference(target.slice(1..3).unwrap().selection()).unwrap();
        let row = Row { number: 5, object: target.reference(), region, words: vec![] };
        let lost =
            Row { number: 6, object: ObjectReference::new(1 << 40), region: RegionReference::NULL, ..row.clone() };
        root.new_dataset::<Row>().write("rows", &[row.clone(), lost.clone()]).unwrap();
        root.set_attribute("row", row.clone()).unwrap();

        let null = Row { object: ObjectReference::NULL, region: RegionReference::NULL, ..row.clone() };
        let (other, _storage) = new_file(low);
        root.copy("rows", &other.root().unwrap(), "rows").unwrap();
        let copies = other.dataset("rows").unwrap().read::<Row>().unwrap();
        assert_eq!(copies, [null.clone(), Row { number: 6, ..null.clone() }]);

        let new = repacked("structures", &file, &Repack::new().libver_min(low));
        let copies = new.dataset("rows").unwrap().read::<Row>().unwrap();
        assert_eq!(copies[1], Row { number: 6, ..null });
        for copy in [copies[0].clone(), new.root().unwrap().attribute("row").unwrap().read_scalar().unwrap()] {
            let object = copy.object.object(&new).unwrap().unwrap();
            assert_eq!(object.address(), new.get("target").unwrap().address());
            let (dataset, selection) = copy.region.region(&new).unwrap().unwrap();
            assert_eq!(dataset.read_selection::<i32>(&selection).unwrap(), [2, 3]);
        }
    }
}
