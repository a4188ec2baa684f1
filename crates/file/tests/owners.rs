//! Blocks by the object that they belong to.

use std::sync::Arc;

use hyperslab_driver::{Driver, Memory, Transfer};
use hyperslab_file::{CreateOptions, HeaderEdit, Kind, NewHeader, OpenFile, OpenOptions};
use hyperslab_format::object_header::Flags;

/// A file with two objects of two blocks each, in the file and in memory.
fn with_objects() -> (Arc<Memory>, OpenFile, [[u64; 2]; 2]) {
    let storage = Arc::new(Memory::new());
    let file = OpenFile::create(storage.clone(), &CreateOptions::default(), &OpenOptions::default()).unwrap();
    let objects = [(); 2].map(|()| [(); 2].map(|()| file.allocate(Kind::Metadata, 10).unwrap()));
    objects.iter().for_each(|object| change(&file, object, 1));
    file.flush().unwrap();
    (storage, file, objects)
}

fn change(file: &OpenFile, object: &[u64; 2], byte: u8) {
    object.iter().for_each(|&block| file.owned_by(object[0]).put(block, vec![byte; 10]).unwrap());
}

#[test]
fn an_object_that_was_evicted_is_read_again() {
    let (storage, file, [left, right]) = with_objects();
    change(&file, &[left[0], left[1]], 2);
    assert_eq!(file.evict_object(left[0]).unwrap().unwrap(), 2, "changed blocks stay");
    file.flush().unwrap();
    for block in [left[1], right[1]] {
        storage.write_at(file.user_block() + block, &[9; 10], &Transfer::default()).unwrap();
    }
    assert_eq!(file.evict_object(left[0]).unwrap().unwrap(), 0);
    assert_eq!((file.blocks_of(left[0]), file.blocks_of(right[0])), (vec![], right.to_vec()));
    let read = |block| file.metadata("block", block, 10).unwrap()[0];
    assert_eq!((read(left[1]), read(right[1])), (9, 1), "the other one is in memory");
}

#[test]
fn all_blocks_of_a_header_belong_to_it() {
    let file = OpenFile::create(Arc::new(Memory::new()), &CreateOptions::default(), &OpenOptions::default()).unwrap();
    let new = NewHeader { version: 2, times: false, ordered: false, indexed: false, attribute_limits: None, room: 0 };
    let mut header = new.begin(&file);
    header.add(1, Flags::NONE, None, vec![1; 20]).unwrap();
    let address = header.save().unwrap();
    file.flush().unwrap();
    let mut header = HeaderEdit::open(&file, address).unwrap();
    for _ in 0..20 {
        header.add(1, Flags::NONE, None, vec![1; 200]).unwrap();
    }
    header.save().unwrap();
    let blocks = file.blocks_of(address);
    assert!(blocks.contains(&address) && blocks.len() > 1, "{blocks:?}");
    assert_eq!(file.blocks_of(0), []);
}
