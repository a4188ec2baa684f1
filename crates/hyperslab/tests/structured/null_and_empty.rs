//! Null and empty values of variable length: chunks tell them apart, the heap of a file does so for text alone.

use std::fmt::Debug;

use hyperslab::{Dataset, Element, File, NewDataset, Storable, s};

use super::file;

/// Ways to keep values in their chunks.
const IN_CHUNKS: [fn(NewDataset) -> NewDataset; 3] =
    [NewDataset::sparse, NewDataset::vlen_in_chunks, |new| new.sparse().shuffle().deflate(1)];

fn create<T: Storable>(file: &File, name: &str, how: fn(NewDataset) -> NewDataset) -> Dataset {
    how(file.root().unwrap().new_dataset::<T>().shape([7]).chunks([4])).create(name).unwrap()
}

/// Writes values and reads them, from the cache and from the file.
#[track_caller]
fn are_kept<T: Storable + Element + Clone + Debug + PartialEq>(values: &[T; 6], undefined: T) {
    for how in IN_CHUNKS {
        let file = file();
        let dataset = create::<T>(&file, "a", how);
        dataset.write_slice(s![0..6], values).unwrap();
        let all = [&values[..], std::slice::from_ref(&undefined)].concat();
        assert_eq!(dataset.read::<T>().unwrap(), all);
        file.flush().unwrap();
        dataset.evict().unwrap();
        assert_eq!(dataset.read::<T>().unwrap(), all);
    }
}

#[test]
fn optional_values_are_kept() {
    let text = |text: &str| Some(text.to_owned());
    are_kept(&[None, text(""), text("a"), text(""), None, text("b")], None);
    are_kept(&[None, Some(vec![]), Some(vec![1u16, 2]), Some(vec![]), None, Some(vec![3])], None);
    let (none, some) = (vec![None], vec![Some(vec![]), None, Some(vec![1.5f64]), Some(vec![])]);
    are_kept(&[vec![], none.clone(), some.clone(), vec![Some(vec![])], none, some], vec![]);
}

#[test]
fn other_types_of_elements_are_told_apart_as_well() {
    for how in IN_CHUNKS {
        let file = file();
        let dataset = create::<Vec<i16>>(&file, "a", how);
        dataset.write_slice(s![0..3], &[Some(vec![]), None, Some(vec![4i64])]).unwrap();
        dataset.evict().unwrap();
        assert_eq!(dataset.read_slice::<Option<Vec<f32>>>(s![0..3]).unwrap(), [Some(vec![]), None, Some(vec![4.0])]);
    }
}

#[test]
fn slots_say_which() {
    let (file, values) = (file(), [vec![], vec![7u8], vec![]]);
    let dataset = create::<Vec<u8>>(&file, "a", NewDataset::sparse);
    dataset.write_slice(s![0..3], &values).unwrap();
    dataset.write_slice(s![3], &[None::<Vec<u8>>]).unwrap();
    let slots = dataset.read_structured_chunk([0]).unwrap().unwrap().sections[1].bytes.clone();
    let slot = |nth: usize| (slots[16 * nth], slots[16 * nth + 8]);
    assert_eq!([slot(0), slot(1), slot(2), slot(3)], [(4, 0), (4, 1), (5, 0), (0, 0)]);
}

#[test]
fn the_heap_has_null_for_both() {
    let file = file();
    let dataset = create::<Vec<u8>>(&file, "a", |new| new);
    let values = [Some(vec![]), None, Some(vec![1u8])];
    let expected = [None, None, Some(vec![1u8])];
    dataset.write_slice(s![0..3], &values).unwrap();
    assert_eq!(dataset.read_slice::<Option<Vec<u8>>>(s![0..3]).unwrap(), expected);
    // Other elements, which are converted on the way to the heap.
    dataset.write_slice(s![0..3], &[Some(vec![]), None, Some(vec![1i32])]).unwrap();
    assert_eq!(dataset.read_slice::<Option<Vec<u8>>>(s![0..3]).unwrap(), expected);
    let texts = create::<String>(&file, "b", |new| new);
    texts.write_slice(s![0..2], &[Some(String::new()), None]).unwrap();
    assert_eq!(texts.read_slice::<Option<String>>(s![0..2]).unwrap(), [Some(String::new()), None]);
}
