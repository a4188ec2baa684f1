//! References to regions that name what others name, too.

use std::sync::Arc;

use hyperslab::{File, RegionReference, driver::Memory, space::Space};

use crate::counting::{alone, peak};

/// A file of few bytes may have any number of references to one object of the heap.
#[test]
fn what_many_references_say_is_in_memory_once() {
    let _alone = alone();
    let file = File::create_on(Arc::new(Memory::new())).unwrap();
    let root = file.root().unwrap();
    let target = root.new_dataset::<u8>().shape([1000, 1000]).create("target").unwrap();
    let regions: Vec<RegionReference> = (0..2)
        .map(|first| {
            let mut points = Space::simple(&[1000, 1000]).unwrap();
            let coords: Vec<u64> = (0..20_000).flat_map(|nth| [nth * 7 % 1000, (first + nth) % 1000]).collect();
            points.select_points(&coords).unwrap();
            target.region_reference(&points).unwrap()
        })
        .collect();
    let many: Vec<RegionReference> = (0..4000).map(|nth| regions[nth % 2].clone()).collect();
    let dataset = root.new_dataset::<RegionReference>().write("many", &many).unwrap();
    file.flush().unwrap();
    let (read, taken) = peak(|| dataset.read::<RegionReference>().unwrap());
    assert!(read == many);
    // Each says tens of thousands of numbers.
    assert!(taken < 16 << 20, "{taken} bytes");
}
