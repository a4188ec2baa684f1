//! The bytes in front of a file that is written anew.

use std::{fs, sync::Arc};

use hyperslab::{
    File, OpenOptions, Repack,
    driver::{Driver, Memory, Transfer},
};

use crate::copying::scene::{bytes, path};

const SIZE: u64 = 4096;

/// A file with bytes of the user's in front.
fn with_user_block() -> (Vec<u8>, Arc<Memory>) {
    let storage = Arc::new(Memory::new());
    let options = OpenOptions::new().create().truncate().user_block(SIZE);
    let file = options.open_on(storage.clone()).unwrap();
    file.root().unwrap().new_dataset::<i32>().write("numbers", &[1, 2, 3]).unwrap();
    file.close().unwrap();
    let block: Vec<u8> = (0..SIZE).map(|nth| (nth % 251) as u8).collect();
    storage.write_at(0, &block, &Transfer::default()).unwrap();
    (block, storage)
}

#[track_caller]
fn check(block: &[u8], from: &File, name: &str) {
    let target = path(name);
    Repack::new().run(from, &target).unwrap();
    assert_eq!(&fs::read(&target).unwrap()[..block.len()], block);
    assert_eq!(File::open(&target).unwrap().dataset("numbers").unwrap().read::<i32>().unwrap(), [1, 2, 3]);
    fs::remove_file(&target).unwrap();
}

#[test]
fn user_blocks_come_from_any_storage() {
    let (block, storage) = with_user_block();
    check(&block, &File::open_driver(storage).unwrap(), "user-block-memory");
}

#[test]
fn user_blocks_come_from_several_files() {
    let (block, storage) = with_user_block();
    let members = bytes(&storage);
    // The members are smaller than the block.
    for (nth, member) in members.chunks(1500).enumerate() {
        fs::write(path(&format!("user-block-member-{nth}")), member).unwrap();
    }
    check(&block, &File::open(path("user-block-member-%d")).unwrap(), "user-block-family");
}

/// The file that is open is copied, not the one that has its name now.
#[test]
fn user_blocks_come_from_the_file_that_is_open() {
    let (block, storage) = with_user_block();
    let source = path("user-block-replaced");
    fs::write(&source, bytes(&storage)).unwrap();
    let file = File::open(&source).unwrap();
    let other = path("user-block-other");
    fs::write(&other, vec![b'?'; 10_000]).unwrap();
    fs::rename(&other, &source).unwrap();
    check(&block, &file, "user-block-replaced-new");
    fs::remove_file(&source).unwrap();
}

/// A block of zeros takes no space.
#[cfg(target_os = "linux")]
#[test]
fn user_blocks_may_be_large() {
    use std::os::unix::fs::{FileExt, MetadataExt};
    const LARGE: u64 = 1 << 28;
    let (source, target) = (path("user-block-large"), path("user-block-large-new"));
    let file = OpenOptions::new().create().truncate().user_block(LARGE).open(&source).unwrap();
    file.root().unwrap().new_dataset::<i32>().write("numbers", &[1, 2, 3]).unwrap();
    file.close().unwrap();
    fs::File::options().write(true).open(&source).unwrap().write_all_at(b"end", LARGE - 3).unwrap();
    Repack::new().run(&File::open(&source).unwrap(), &target).unwrap();
    let new = fs::File::open(&target).unwrap();
    let mut end = [0; 3];
    new.read_exact_at(&mut end, LARGE - 3).unwrap();
    assert_eq!(&end, b"end");
    assert!(new.metadata().unwrap().blocks() * 512 < LARGE / 16);
    [source, target].iter().for_each(|path| fs::remove_file(path).unwrap());
}
