//! Compounds of which some members are read: the others keep what the destination holds.

use std::sync::Arc;

use hyperslab::driver::Memory;
use hyperslab::dtype::{Arena, Datatype};
use hyperslab::space::{Op, Slab, Space};
use hyperslab::{Dataset, File, Mapping};

/// Three values `{a: 1, gone: -1}`, `{a: 2, …}`, `{a: 3, …}`, and a virtual dataset of the same type whose source is missing.
fn datasets() -> [(Dataset, [i32; 3]); 2] {
    let file = File::create_on(Arc::new(Memory::new())).unwrap();
    let root = file.root().unwrap();
    let stored = Datatype::compound([("a", Datatype::of::<i32>()), ("gone", Datatype::of::<i32>())]).unwrap();
    let plain = root.new_dataset_of(stored.clone()).shape([3]).create("plain").unwrap();
    let values = [1, -1, 2, -1, 3, -1];
    let all = Space::simple(&[3]).unwrap();
    plain.write_converted(&all, &stored, &all, bytemuck::cast_slice(&values), &Arena::default()).unwrap();
    let selection = all.selection().clone();
    let mapping = Mapping {
        file: b"missing.h5".to_vec().into(),
        dataset: b"x".to_vec().into(),
        source: selection.clone(),
        target: selection,
    };
    let missing = root.new_dataset_of(stored).shape([3]).virtual_sources([mapping]).create("virtual").unwrap();
    [(plain, [1, 2, 3]), (missing, [0, 0, 0])]
}

/// Reads `a` into every `stride`-th pair `{other, a}` of an array of pairs `[7, 8]`.
fn read(dataset: &Dataset, stride: u64) -> Vec<[i32; 2]> {
    let wanted = Datatype::compound([("other", Datatype::of::<i32>()), ("a", Datatype::of::<i32>())]).unwrap();
    let mut places = Space::simple(&[3 * stride]).unwrap();
    places.select_hyperslab(Op::Set, &[Slab::new(0, stride, 3, 1)]).unwrap();
    let mut pairs = vec![[7, 8]; 3 * stride as usize];
    let buf = bytemuck::cast_slice_mut(&mut pairs);
    dataset.read_converted(&dataset.space(), &wanted, &places, buf, &mut Arena::default()).unwrap();
    pairs
}

#[test]
fn members_that_the_file_lacks_stay_as_they_are() {
    for (dataset, [x, y, z]) in datasets() {
        assert_eq!(read(&dataset, 1), [[7, x], [7, y], [7, z]]);
        assert_eq!(read(&dataset, 2), [[7, x], [7, 8], [7, y], [7, 8], [7, z], [7, 8]]);
    }
}
