//! The list of free bytes of a local heap, which the file must not name where names lie.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use std::sync::Arc;

use common::{Ks, superblock};
use hyperslab_driver::{Damage, Driver, Fault, Memory, Target, Transfer};
use hyperslab_file::{Error, OpenFile, OpenOptions};
use hyperslab_format::{heap, version::Low};
use hyperslab_structures::LocalHeap;

/// More heaps than stay in memory with their lists.
const HEAPS: usize = 300;

#[test]
fn a_flush_that_fails_leaves_no_list_over_which_a_name_comes() {
    let mut bytes = superblock(Ks { leaf: 4, internal: 16, chunks: 32 }).encode().unwrap();
    bytes.resize(2048, 0);
    let disk = Arc::new(Fault::new(Memory::from(bytes)));
    let file = OpenFile::open_writable(disk.clone(), &OpenOptions::default(), Low::Earliest).unwrap();
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
