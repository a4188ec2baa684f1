//! Elements that get the fill value again, and what cannot be erased.

use std::sync::Arc;

use hyperslab::{Dataset, File, driver::Memory, s};

fn file() -> File {
    File::create_on(Arc::new(Memory::new())).unwrap()
}

fn fill(dataset: &Dataset, slice: hyperslab::Slice) -> hyperslab::Result<()> {
    dataset.write_fill(dataset.slice(slice).unwrap().selection())
}

#[test]
fn all_layouts_get_the_fill_value() {
    let file = file();
    let new = || file.root().unwrap().new_dataset::<i16>().shape([6, 7]).fill_value(9);
    let datasets = [
        new().contiguous().create("contiguous").unwrap(),
        new().compact().create("compact").unwrap(),
        new().chunks([4, 3]).create("chunked").unwrap(),
        new().chunks([4, 3]).deflate(1).create("filtered").unwrap(),
    ];
    for dataset in &datasets {
        dataset.write(&(0..42).collect::<Vec<i16>>()).unwrap();
        fill(dataset, s![1..3, 2..5]).unwrap();
        let twin = |at: i16| if (1..3).contains(&(at / 7)) && (2..5).contains(&(at % 7)) { 9 } else { at };
        assert_eq!(dataset.read::<i16>().unwrap(), (0..42).map(twin).collect::<Vec<_>>());
    }
    let whole = datasets[0].space();
    let shown = file.root().unwrap().new_dataset::<i16>().shape([6, 7]).virtual_source(&whole, ".", "filtered", &whole);
    let shown = shown.fill_value(5).create("shown").unwrap();
    fill(&shown, s![.., 0]).unwrap();
    assert_eq!(datasets[3].read_slice::<i16>(s![.., 0]).unwrap(), [5; 6]);
}

#[test]
fn large_parts_are_filled_a_part_at_a_time() {
    let file = file();
    let new = file.root().unwrap().new_dataset::<u8>().shape([3000, 4000]).chunks([500, 333]).fill_value(7);
    let dataset = new.create("large").unwrap();
    dataset.write(&vec![1u8; 12_000_000]).unwrap();
    fill(&dataset, s![1.., 1..]).unwrap();
    let values: Vec<u8> = dataset.read().unwrap();
    let is_edge = |at: usize| at < 4000 || at.is_multiple_of(4000);
    assert!(values.iter().enumerate().all(|(at, value)| *value == if is_edge(at) { 1 } else { 7 }));
}

#[test]
fn each_text_is_a_copy_of_the_fill_value() {
    let file = file();
    let new = file.root().unwrap().new_dataset::<String>().shape([5]).chunks([2]).fill_value("none".to_string());
    let dataset = new.create("text").unwrap();
    dataset.write(&["a", "b", "c", "d", "e"].map(String::from)).unwrap();
    fill(&dataset, s![1..4]).unwrap();
    assert_eq!(dataset.read::<String>().unwrap(), ["a", "none", "none", "none", "e"]);
    // Others keep theirs when one goes.
    dataset.write_slice(s![2], &["new".to_string()]).unwrap();
    file.flush().unwrap();
    assert_eq!(dataset.read::<String>().unwrap(), ["a", "none", "new", "none", "e"]);
    dataset.write_slice(s![1], &["x".to_string()]).unwrap();
    assert_eq!(dataset.read::<String>().unwrap(), ["a", "x", "new", "none", "e"]);
}

#[test]
fn nothing_is_erased_and_wrong_selections_are_refused() {
    let file = file();
    let new = file.root().unwrap().new_dataset::<i32>().shape([4]).max_shape([None]).chunks([2]);
    let dataset = new.create("d").unwrap();
    let whole = dataset.space();
    let why = dataset.erase(&whole).unwrap_err().to_string();
    assert!(why.contains("write_fill"), "{why}");
    assert_eq!(dataset.defined(&whole).unwrap(), whole);
    dataset.resize([5]).unwrap();
    assert!(dataset.defined(&whole).is_err() && dataset.write_fill(&whole).is_err() && dataset.erase(&whole).is_err());
}
