//! Blocks that are in memory as structures: when they are encoded, and what others see of them.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use hyperslab_driver::Memory;
use hyperslab_file::{
    Block, CreateOptions, Error, Extent, Kind, OpenFile, OpenOptions, Owner, Result, Seal, Structure,
};
use hyperslab_format::{object_header::Prefix, superblock::Root, version::LibVersion};

const SIZE: u64 = 64;

/// A byte that fills a block.
#[derive(Clone)]
struct Fill {
    byte: u8,
    encoded: Arc<AtomicUsize>,
}

impl Structure for Fill {
    fn encode(&self) -> Result<Vec<u8>> {
        self.encoded.fetch_add(1, Ordering::Relaxed);
        Ok(vec![self.byte; SIZE as usize])
    }

    fn footprint(&self) -> usize {
        SIZE as usize
    }
}

struct Filled;

impl Block for Filled {
    type Value = Fill;
    const WHAT: &'static str = "fill";

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::None
    }

    fn extent(&self, _: &OpenFile) -> Extent {
        Extent::Exact(SIZE)
    }

    fn decode(&self, _: &OpenFile, _: u64, bytes: &Arc<Vec<u8>>) -> Result<Fill> {
        match bytes[..] {
            [7, ..] => Err(Error::broken("fill", 7, "no good byte")),
            _ => Ok(Fill { byte: bytes[0], encoded: Arc::default() }),
        }
    }

    fn structure(fill: &Arc<Fill>) -> Option<Arc<dyn Structure>> {
        Some(fill.clone())
    }
}

/// The first byte of a block of `SIZE` bytes.
struct FirstByte;

impl Block for FirstByte {
    type Value = u8;
    const WHAT: &'static str = "first byte";

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::None
    }

    fn extent(&self, _: &OpenFile) -> Extent {
        Extent::Exact(SIZE)
    }

    fn decode(&self, _: &OpenFile, _: u64, bytes: &Arc<Vec<u8>>) -> Result<u8> {
        Ok(bytes[0])
    }
}

fn get(file: &OpenFile, address: u64) -> Result<u8> {
    file.load(&Filled, address).map(|fill| fill.byte)
}

fn set(file: &OpenFile, address: u64, byte: u8) {
    let change = |fill: &mut Fill| {
        fill.byte = byte;
        Ok(())
    };
    file.owned(Owner::FILE).change(&Filled, address, change).unwrap();
}

fn new_file() -> (Arc<Memory>, OpenFile) {
    let storage = Arc::new(Memory::new());
    let mut create = CreateOptions::default();
    create.libver_min = LibVersion::V110;
    let file = OpenFile::create(storage.clone(), &create, &OpenOptions::default()).unwrap();
    let header = Prefix::new(0).encode_first(&[]).unwrap();
    let address = file.allocate(Kind::Metadata, header.len() as u64).unwrap();
    file.put(address, header).unwrap();
    file.set_root(Root::Header(Some(address))).unwrap();
    file.flush().unwrap();
    (storage, file)
}

fn stored(storage: &Arc<Memory>, address: u64) -> Vec<u8> {
    let mut options = OpenOptions::default();
    options.alone = true;
    OpenFile::open(storage.clone(), &options).unwrap().metadata("fill", address, SIZE).unwrap()
}

#[test]
fn a_structure_is_encoded_once_for_many_changes() {
    let (storage, file) = new_file();
    let (address, encoded) = (file.allocate(Kind::Metadata, SIZE).unwrap(), Arc::new(AtomicUsize::new(0)));
    file.owned(Owner::FILE).put_structure(address, Arc::new(Fill { byte: 1, encoded: encoded.clone() })).unwrap();
    for byte in 0..200 {
        set(&file, address, byte);
        assert_eq!(get(&file, address).unwrap(), byte);
    }
    assert_eq!(encoded.load(Ordering::Relaxed), 0);
    file.flush().unwrap();
    assert_eq!(encoded.load(Ordering::Relaxed), 1);
    assert_eq!(stored(&storage, address), [199; SIZE as usize]);
    // It stays, and changes in place as any published block.
    set(&file, address, 3);
    assert_eq!(encoded.load(Ordering::Relaxed), 1);
    assert_eq!(stored(&storage, address), [199; SIZE as usize]);
    file.flush().unwrap();
    assert_eq!(stored(&storage, address), [3; SIZE as usize]);
}

#[test]
fn code_that_wants_bytes_gets_them() {
    let (_, file) = new_file();
    let address = file.allocate(Kind::Metadata, SIZE + 16).unwrap();
    file.put(address + SIZE, vec![9; 16]).unwrap();
    file.owned(Owner::FILE).put_structure(address, Arc::new(Fill { byte: 5, encoded: Arc::default() })).unwrap();
    assert_eq!(file.metadata("fill", address, SIZE).unwrap(), [5; SIZE as usize]);
    let wide = file.metadata("both", address + 60, 10).unwrap();
    assert_eq!(wide, [5, 5, 5, 5, 9, 9, 9, 9, 9, 9]);
    assert_eq!(*file.load(&FirstByte, address).unwrap(), 5);
    // Bytes that are edited are a structure again for those who ask.
    file.owned(Owner::FILE)
        .edit("fill", address, SIZE, |bytes| {
            bytes.fill(6);
            Ok(())
        })
        .unwrap();
    assert_eq!(get(&file, address).unwrap(), 6);
    set(&file, address, 8);
    assert_eq!(file.metadata("fill", address, 1).unwrap(), [8]);
}

#[test]
fn a_reader_keeps_what_it_has() {
    let (_, file) = new_file();
    let address = file.allocate(Kind::Metadata, SIZE).unwrap();
    file.owned(Owner::FILE).put_structure(address, Arc::new(Fill { byte: 1, encoded: Arc::default() })).unwrap();
    let held = file.load(&Filled, address).unwrap();
    set(&file, address, 2);
    assert_eq!((held.byte, get(&file, address).unwrap()), (1, 2));
}

#[test]
fn what_is_read_of_a_file_that_changes_is_decoded_once_and_errors_come_as_they_are() {
    let (storage, file) = new_file();
    let address = file.allocate(Kind::Metadata, 2 * SIZE).unwrap();
    file.put(address, vec![4; SIZE as usize]).unwrap();
    file.put(address + SIZE, vec![7; SIZE as usize]).unwrap();
    file.close().unwrap();
    let file = OpenFile::open_writable(storage, &OpenOptions::default(), LibVersion::V110).unwrap();
    let first = file.load(&Filled, address).unwrap();
    let again = file.load(&Filled, address).unwrap();
    assert!(Arc::ptr_eq(&first, &again));
    let why = get(&file, address + SIZE).unwrap_err();
    assert!(matches!(why, Error::Broken { what: "fill", address: 7, .. }), "{why}");
    assert!(matches!(get(&file, 1 << 40), Err(Error::Outside { .. })));
    // A block that is freed is forgotten.
    file.free(address, SIZE).unwrap();
    file.flush().unwrap();
    let reused = file.allocate(Kind::Metadata, SIZE).unwrap();
    file.put(reused, vec![11; SIZE as usize]).unwrap();
    assert_eq!(get(&file, reused).unwrap(), 11);
}
