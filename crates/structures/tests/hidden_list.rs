//! The list of free bytes of a local heap, which the file must not name where names lie.

use std::sync::Arc;

use hyperslab_driver::{Change, Damage, Driver, Fault, Memory, Tape, Target, Transfer};
use hyperslab_file::{Durability, Error, OpenFile, OpenOptions};
use hyperslab_format::{heap, version::LibVersion};
use hyperslab_structures::LocalHeap;

use crate::common::{Ks, Played, new_file, superblock};

/// More heaps than stay in memory with their lists.
const HEAPS: usize = 300;

#[test]
fn a_flush_that_fails_leaves_no_list_over_which_a_name_comes() {
    let mut bytes = superblock(Ks { leaf: 4, internal: 16, chunks: 32 }).encode().unwrap();
    bytes.resize(2048, 0);
    let disk = Arc::new(Fault::new(Memory::from(bytes)));
    let file = OpenFile::open_writable(disk.clone(), &OpenOptions::default(), LibVersion::Earliest).unwrap();
    let create = || file.operate(|| Ok::<_, Error>(LocalHeap::create(&file, 88)?.address())).unwrap();
    let heaps: Vec<u64> = (0..HEAPS).map(|_| create()).collect();
    let add = |heap: u64, name: &str| {
        file.operate(|| LocalHeap::open(&file, heap)?.add(&file, name.as_bytes())).unwrap();
    };
    for &heap in &heaps {
        (0..12).for_each(|nth| add(heap, &format!("name number {nth}")));
    }
    file.flush().unwrap();
    file.flush().unwrap();
    heaps.iter().for_each(|&heap| add(heap, "again"));
    disk.arm_forever(Target::Writes, 0, Damage::Fail);
    file.flush().unwrap_err();
    disk.disarm();

    add(heaps[0], "the name that comes after");
    file.flush().unwrap();
    let read = |address: u64, length: usize| {
        let mut bytes = vec![0; length];
        disk.read_at(address, &mut bytes, &Transfer::default()).unwrap();
        bytes
    };
    let head = read(heaps[0], heap::LocalHeap::size(file.widths()));
    let head = heap::LocalHeap::decode(&head, file.widths()).unwrap();
    let data = read(head.data.unwrap(), head.size as usize);
    heap::local::decode_free(&data, head.free, file.widths()).unwrap();
}

/// A device may keep what is written later and lose what was written before, up to the next barrier.
#[test]
fn the_list_is_gone_durably_before_a_name_comes_over_it() {
    let (storage, file) = new_file(Ks { leaf: 4, internal: 16, chunks: 32 });
    let create = || file.operate(|| Ok::<_, Error>(LocalHeap::create(&file, 88)?.address())).unwrap();
    // The second one lies in the way of the first, whose data get another place when they grow.
    let [heap, _] = [create(), create()];
    let add = |file: &OpenFile, name: &str| {
        file.operate(|| LocalHeap::open(file, heap)?.add(file, name.as_bytes())).unwrap();
    };
    (0..12).for_each(|nth| add(&file, &format!("name number {nth}")));
    file.close().unwrap();

    let storage = Arc::new(Tape::from(storage.content()));
    let mut options = OpenOptions::default();
    options.durability = Durability::Full;
    let file = OpenFile::open_writable(storage.clone(), &options, LibVersion::Earliest).unwrap();
    storage.take();
    add(&file, "the name that comes after");
    file.flush().unwrap();
    let changes = storage.take();
    let hidden = changes.iter().position(|change| matches!(change, Change::Write { addr, .. } if *addr == heap));
    let holds = |bytes: &[u8]| bytes.windows(9).any(|part| part == b"the name ");
    let name = changes.iter().position(|change| matches!(change, Change::Write { bytes, .. } if holds(bytes)));
    let (hidden, name) = (hidden.unwrap(), name.unwrap());
    assert!(hidden < name && changes[hidden..name].contains(&Change::Sync), "{hidden}, {name}");
}
