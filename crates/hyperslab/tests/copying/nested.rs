//! References in the heap that lead back to where they are.

use std::sync::Arc;

use hyperslab::{
    File, LibVersion, Repack,
    driver::{Driver, Memory, Transfer},
};

use crate::copying::scene::{bytes, new_file, path, repacked};

type Deep = Vec<Vec<Vec<Vec<Vec<Vec<i32>>>>>>;

/// How many references a sequence holds.
const COUNT: usize = 200;

/// A file in which each of the references behind the value of a dataset, and of an attribute, is that value.
fn endless() -> Arc<Memory> {
    let (file, storage) = new_file(LibVersion::Earliest);
    let root = file.root().unwrap();
    let value: Deep = vec![Vec::new(); COUNT];
    let dataset = root.new_dataset::<Deep>().write("endless", std::slice::from_ref(&value)).unwrap();
    let good: Deep = vec![vec![vec![vec![vec![vec![1, 2], vec![3]]]]]; 3];
    root.new_dataset::<Deep>().write("good", &[good]).unwrap();
    dataset.set_attribute("endless", value).unwrap();
    let references = [dataset.read_stored().unwrap(), dataset.attribute("endless").unwrap().data.clone()];
    file.close().unwrap();
    for reference in references {
        let collection = usize::try_from(u64::from_le_bytes(reference[4..12].try_into().unwrap())).unwrap();
        let whole = bytes(&storage);
        // Its index, how many use it, and its length come before an object of a collection.
        let front = [&reference[12..14], &[0; 6][..], &(16 * COUNT as u64).to_le_bytes()[..]].concat();
        let is_front = |at: &usize| whole[*at..*at + 2] == front[..2] && whole[*at + 4..*at + 16] == front[4..];
        let at = (collection..whole.len() - 16).find(is_front).unwrap() + 16;
        storage.write_at(at as u64, &reference.repeat(COUNT), &Transfer::default()).unwrap();
    }
    storage
}

#[test]
fn references_that_lead_back_to_where_they_are_end() {
    let file = File::open_driver(endless()).unwrap();
    let root = file.root().unwrap();
    let why = Repack::new().run(&file, path("endless")).unwrap_err().to_string();
    assert!(why.contains("references lead to more bytes than the file has"), "{why}");
    let (new, _storage) = new_file(LibVersion::Earliest);
    let why = root.copy("endless", &new.root().unwrap(), "x").unwrap_err().to_string();
    assert!(why.contains("references lead to more bytes than the file has"), "{why}");
    assert!(new.root().unwrap().is_empty().unwrap());
}

/// What cannot be copied costs nothing else.
#[test]
fn good_values_stay_beside_endless_ones() {
    let file = File::open_driver(endless()).unwrap();
    let target = path("endless-beside");
    let lost = Repack::new().skip_damaged().run(&file, &target).unwrap().lost;
    let lost: Vec<_> = lost.iter().map(|lost| lost.path.as_str()).collect();
    assert_eq!(lost, ["/endless@endless", "/endless"]);
    let good = |file: &File| file.dataset("good").unwrap().read::<Deep>().unwrap();
    assert_eq!(good(&File::open(&target).unwrap()), good(&file));
    std::fs::remove_file(&target).unwrap();
}

/// Sequences of sequences are most of what this file has.
#[test]
fn nested_values_may_be_all_of_a_file() {
    let (file, _storage) = new_file(LibVersion::Earliest);
    let value: Vec<Vec<Vec<i32>>> = (0..20).map(|_| (0..20).map(|_| vec![1]).collect()).collect();
    let new = file.root().unwrap().new_dataset::<Vec<Vec<Vec<i32>>>>();
    new.write("nested", &vec![value.clone(); 30]).unwrap();
    let new = repacked("nested", &file, &Repack::new());
    assert_eq!(new.dataset("nested").unwrap().read::<Vec<Vec<Vec<i32>>>>().unwrap(), vec![value; 30]);
}
