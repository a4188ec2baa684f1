//! A read of some members of a compound leaves the other members of its destination as they are, wherever the values go.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use hyperslab::{
    Dataset, Element, File, Storable,
    driver::Memory,
    dtype::{Arena, Datatype, Target},
    space::{Op, Slab, Space},
};

/// Three numbers in memory, of which files have the first and the last.
fn in_memory() -> Datatype {
    let number = || Datatype::of::<i32>();
    Datatype::compound([("a", number()), ("mine", number()), ("b", number())]).unwrap()
}

fn datasets(file: &File) -> Vec<Dataset> {
    let number = || Datatype::of::<i16>();
    let stored = Datatype::compound([("a", number()), ("b", number())]).unwrap();
    let root = file.root().unwrap();
    let new = || root.new_dataset_of(stored.clone()).shape([6]);
    let space = Space::simple(&[6]).unwrap();
    let made = [
        new().create("contiguous").unwrap(),
        new().compact().create("compact").unwrap(),
        new().chunks([4]).create("chunked").unwrap(),
        new().chunks([4]).deflate(1).create("filtered").unwrap(),
    ];
    let bytes: Vec<u8> = (0..6i16).flat_map(|nth| [nth, 100 + nth]).flat_map(i16::to_le_bytes).collect();
    for dataset in &made {
        dataset.write_converted(&space, &stored, &space, &bytes, &Arena::default()).unwrap();
    }
    let text = Datatype::compound([("text", String::datatype().unwrap()), ("a", number()), ("b", number())]).unwrap();
    let new_text = root.new_dataset_of(text).shape([6]).create("text").unwrap();
    new_text.write_converted(&space, &stored, &space, &bytes, &Arena::default()).unwrap();
    let whole = new().virtual_source(&space, ".", "filtered", &space).create("virtual").unwrap();
    made.into_iter().chain([new_text, whole]).collect()
}

fn numbers(bytes: &[u8]) -> Vec<i32> {
    bytes.chunks_exact(4).map(|bytes| i32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

#[test]
fn members_that_the_file_lacks_stay() {
    let file = File::create_on(Arc::new(Memory::new())).unwrap();
    for dataset in datasets(&file) {
        for step in [1, 2] {
            let mut wanted = dataset.space();
            wanted.select_hyperslab(Op::Set, &[Slab::block(1, 3)]).unwrap();
            let mut places = Space::simple(&[6]).unwrap();
            places.select_hyperslab(Op::Set, &[Slab::new(0, step, 3, 1)]).unwrap();
            let mut buf: Vec<u8> = (1000..1018i32).flat_map(i32::to_le_bytes).collect();
            dataset.read_converted(&wanted, &in_memory(), &places, &mut buf, &mut Arena::default()).unwrap();
            let mut expected: Vec<i32> = (1000..1018).collect();
            for (nth, value) in (0..).step_by(step as usize).zip(1..4) {
                (expected[3 * nth], expected[3 * nth + 2]) = (value, 100 + value);
            }
            assert_eq!(numbers(&buf), expected, "{:?}, step {step}", dataset.layout());
        }
    }
}

/// Between the parts of a virtual dataset, the fill value comes to members that the file has, and to no others.
#[test]
fn fill_values_of_virtual_datasets_leave_other_members() {
    let file = File::create_on(Arc::new(Memory::new())).unwrap();
    let stored = Datatype::compound([("b", Datatype::of::<i32>())]).unwrap();
    let space = Space::simple(&[3]).unwrap();
    let new = file.root().unwrap().new_dataset_of(stored.clone()).shape([3]);
    let new = new.fill_converted(stored, 9i32.to_le_bytes().to_vec(), Arena::default());
    let dataset = new.virtual_source(&space, "missing.h5", "x", &space).create("virtual").unwrap();
    let mut places = Space::simple(&[6]).unwrap();
    places.select_hyperslab(Op::Set, &[Slab::new(0, 2, 3, 1)]).unwrap();
    let mut buf: Vec<u8> = (0..18i32).flat_map(i32::to_le_bytes).collect();
    dataset.read_converted(&space, &in_memory(), &places, &mut buf, &mut Arena::default()).unwrap();
    assert_eq!(numbers(&buf), [0, 1, 9, 3, 4, 5, 6, 7, 9, 9, 10, 11, 12, 13, 9, 15, 16, 17]);
}

/// A struct with fewer fields than the values have, which are converted on their way to it.
#[derive(Element, Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
#[hyperslab(pod)]
struct Last {
    b: f64,
}

#[test]
fn some_members_are_converted_on_their_way_to_structs() {
    let file = File::create_on(Arc::new(Memory::new())).unwrap();
    for dataset in datasets(&file) {
        let read = dataset.read::<Last>().unwrap();
        let expected: Vec<_> = (0..6).map(|nth| Last { b: f64::from(100 + nth) }).collect();
        assert_eq!(read, expected, "{:?}", dataset.layout());
    }
}

/// Arrays of arrays are another datatype than arrays of two dimensions.
#[test]
fn arrays_of_a_virtual_dataset_are_converted() {
    let file = File::create_on(Arc::new(Memory::new())).unwrap();
    let (root, space) = (file.root().unwrap(), Space::simple(&[2]).unwrap());
    let stored = Datatype::array(Datatype::of::<i16>(), &[2, 2]).unwrap();
    let new = || root.new_dataset_of(stored.clone()).shape([2]);
    let bytes: Vec<u8> = (0..8i16).flat_map(i16::to_ne_bytes).collect();
    new().create("source").unwrap().write_converted(&space, &stored, &space, &bytes, &Arena::default()).unwrap();
    let whole = new().virtual_source(&space, ".", "source", &space).create("virtual").unwrap();
    assert_eq!(whole.read::<[[f64; 2]; 2]>().unwrap(), [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]]);
}

/// What is of variable length in members that a write does not have is still named by the values, so it stays in the heap.
#[test]
fn members_that_are_not_written_keep_their_sequences() {
    for filtered in [false, true] {
        let file = File::create_on(Arc::new(Memory::new())).unwrap();
        let number = || Datatype::of::<i32>();
        let stored = Datatype::compound([("text", String::datatype().unwrap()), ("a", number())]).unwrap();
        let new = file.root().unwrap().new_dataset_of(stored.clone()).shape([6]).chunks([4]);
        let dataset = if filtered { new.deflate(1) } else { new }.create("text").unwrap();
        let (space, mut arena, mut bytes) = (dataset.space(), Arena::default(), Vec::new());
        let in_memory = stored.in_memory().unwrap();
        let texts: Vec<String> = (0..6).map(|nth| format!("the text of element {nth}")).collect();
        for (nth, text) in (0i32..).zip(&texts) {
            let mut value = vec![0; in_memory.size()];
            arena.store(Some((text.len(), text.as_bytes())), &mut value[..16]).unwrap();
            value[16..20].copy_from_slice(&nth.to_ne_bytes());
            bytes.extend(value);
        }
        dataset.write_converted(&space, &in_memory, &space, &bytes, &arena).unwrap();
        file.flush().unwrap();
        let some = Datatype::compound([("a", number())]).unwrap();
        let others = file.root().unwrap().new_dataset::<String>().shape([200]).create("others").unwrap();
        for round in 0..4i32 {
            let numbers: Vec<u8> = (0..6).flat_map(|nth| (100 * round + nth).to_ne_bytes()).collect();
            dataset.write_converted(&space, &some, &space, &numbers, &Arena::default()).unwrap();
            file.flush().unwrap();
            // Takes whatever is free in the heap.
            others.write(&vec![format!("other text in round {round}"); 200]).unwrap();
            file.flush().unwrap();
        }
        let read = dataset.read::<Text>().unwrap();
        let expected = texts.into_iter().zip(300..).map(|(text, a)| Text { text, a });
        assert_eq!(read, expected.collect::<Vec<_>>());
    }
}

#[derive(Element, Debug, PartialEq)]
struct Text {
    text: String,
    a: i32,
}
