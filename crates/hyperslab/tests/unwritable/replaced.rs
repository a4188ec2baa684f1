//! Values in the cache that something is to replace, or that are to be cut off: they stay until that has succeeded.

use hyperslab::{
    Dataset, File, NewDataset,
    driver::{Damage, Target},
};

use crate::unwritable::scene::{CACHES, CHUNK, Disk, create, disk, positions, stored};

/// A chunk of so many values is too large to wait in memory on its way to the disk.
const SIDE: u64 = CHUNK as u64;
const CHUNKS: u64 = 4;

type Wish = fn(NewDataset) -> NewDataset;

const WISHES: [Wish; 2] = [|new| new, |new| new.deflate(1)];

/// A dataset of which the last chunk is dirty, and its values.
fn dirty_at_the_end(wish: Wish) -> (Disk, File, Dataset, Vec<i32>) {
    let disk = disk();
    let file = create(&disk, CACHES[2]);
    let new = file.root().unwrap().new_dataset::<i32>().shape([CHUNKS * SIDE]).max_shape([None]).chunks([SIDE]);
    let mut values: Vec<i32> = (0..(CHUNKS * SIDE) as i32).collect();
    let dataset = wish(new).write("x", &values).unwrap();
    file.flush().unwrap();
    let from = (CHUNKS - 1) * SIDE + 5;
    // The values are in the cache now, also those of a chunk without filters that is read in parts again and again.
    for _ in 0..20 {
        dataset.read_slice::<i32>(from..from + 9 * SIDE / 10).unwrap();
    }
    dataset.write_slice(from..from + 3, &[-1, -2, -3]).unwrap();
    values[from as usize..from as usize + 3].copy_from_slice(&[-1, -2, -3]);
    (disk, file, dataset, values)
}

/// The dataset has these values, for this program and for the next one.
fn assert_whole(disk: &Disk, file: &File, dataset: &Dataset, values: &[i32]) {
    assert!(dataset.read::<i32>().unwrap() == values);
    file.flush().unwrap();
    assert!(stored(disk).dataset("x").unwrap().read::<i32>().unwrap() == values);
}

#[test]
fn a_chunk_that_cannot_be_stored_replaces_nothing() {
    for wish in WISHES {
        for position in 0..positions() {
            let (disk, file, dataset, mut values) = dirty_at_the_end(wish);
            // Past the filters, so the bytes are those of the file in any case.
            let new: Vec<u8> = (0..SIDE as i32).flat_map(|value| (value * 3).to_le_bytes()).collect();
            disk.arm_forever(Target::Writes, position, Damage::Fail);
            let replaced = dataset.write_chunk([CHUNKS - 1], 1, &new);
            disk.disarm();
            if replaced.is_ok() {
                let last = values.chunks_mut(SIDE as usize).next_back().unwrap();
                last.iter_mut().zip(0..).for_each(|(value, nth)| *value = nth * 3);
            }
            assert_whole(&disk, &file, &dataset, &values);
            file.close().unwrap();
            if replaced.is_ok() {
                assert!(position > 0, "nothing was written");
                break;
            }
        }
    }
}

#[test]
fn a_size_that_cannot_be_stored_cuts_nothing_off() {
    for wish in WISHES {
        for position in 0..positions() {
            let (disk, file, dataset, mut values) = dirty_at_the_end(wish);
            disk.arm_forever(Target::Writes, position, Damage::Fail);
            let resized = dataset.resize([SIDE + 7]);
            disk.disarm();
            if resized.is_ok() {
                values.truncate(SIDE as usize + 7);
            }
            assert_eq!(dataset.shape(), [values.len() as u64]);
            assert_whole(&disk, &file, &dataset, &values);
            // Nothing of the chunks is left to be written.
            assert!(dataset.evict().is_ok() && file.cache_statistics().bytes == 0);
            file.close().unwrap();
            if resized.is_ok() {
                assert!(position > 0, "nothing was written");
                break;
            }
        }
    }
}
