//! Errors that pass through many layers: kind and causes are those of what failed first.

use std::{
    error::Error as _,
    fs, io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use hyperslab::{
    CopyOptions, Error, ErrorKind, File, OpenOptions, Repack,
    driver::{self, Driver, Memory, MemoryType, Operation, Transfer},
    filter,
};

/// `EIO`, on each system.
const EIO: i32 = 5;

/// Storage whose values cannot be read any more.
#[derive(Default)]
struct Worn {
    below: Memory,
    is_worn: AtomicBool,
}

impl Driver for Worn {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> driver::Result<()> {
        if transfer.kind == MemoryType::RawData && self.is_worn.load(Ordering::SeqCst) {
            let why = io::Error::from_raw_os_error(EIO);
            return Err(driver::Error::new("worn", Operation::Read, addr, buf.len() as u64, why));
        }
        self.below.read_at(addr, buf, transfer)
    }

    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> driver::Result<()> {
        self.below.write_at(addr, buf, transfer)
    }

    fn len(&self, transfer: &Transfer) -> driver::Result<u64> {
        self.below.len(transfer)
    }

    fn set_len(&self, len: u64, transfer: &Transfer) -> driver::Result<()> {
        self.below.set_len(len, transfer)
    }

    fn sync(&self, transfer: &Transfer) -> driver::Result<()> {
        self.below.sync(transfer)
    }
}

/// A file with a dataset in chunks, on storage.
fn make(storage: Arc<dyn Driver>) -> File {
    let file = OpenOptions::new().create().truncate().open_on(storage).unwrap();
    let new = file.root().unwrap().new_dataset::<i32>().shape([64]).chunks([16]).deflate(1);
    new.create("numbers").unwrap().write(&[7; 64]).unwrap();
    file
}

/// Where no file is.
fn target(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("hyperslab-causes-{name}-{}.h5", std::process::id()));
    fs::remove_file(&path).ok();
    path
}

fn is_caused_by<E: std::error::Error + 'static>(why: &Error) -> bool {
    let mut next = why.source();
    while let Some(cause) = next {
        if cause.is::<E>() {
            return true;
        }
        next = cause.source();
    }
    false
}

#[test]
fn a_copy_tells_what_the_storage_said() {
    let storage = Arc::new(Worn::default());
    make(storage.clone()).close().unwrap();
    storage.is_worn.store(true, Ordering::SeqCst);
    let (file, to) = (File::open_driver(storage).unwrap(), target("worn"));
    let into = File::create_on(Arc::new(Memory::new())).unwrap();
    let copied = CopyOptions::new().copy(&file.get("numbers").unwrap(), &into.root().unwrap(), "copy");
    for why in [Repack::new().run(&file, &to).unwrap_err(), copied.unwrap_err()] {
        assert!(matches!(&why, Error::Damaged(lost) if lost.len() == 1), "{why}");
        assert_eq!((why.kind(), why.raw_os_error()), (ErrorKind::Io, Some(EIO)), "{why}");
        assert!(is_caused_by::<io::Error>(&why));
    }
    assert!(!to.exists());
}

#[test]
fn a_copy_tells_which_filter_failed() {
    let (file, to) = (make(Arc::new(Memory::new())), target("filter"));
    file.dataset("numbers").unwrap().write_chunk([1], 0, b"not what deflate writes").unwrap();
    let other_chunks = Repack::new().store(|_, new| Some(new.chunks([9])));
    let why = other_chunks.run(&file, &to).unwrap_err();
    assert_eq!(why.kind(), ErrorKind::Filter, "{why}");
    assert!(is_caused_by::<filter::Error>(&why) && why.raw_os_error().is_none());
    assert!(!to.exists());
}
