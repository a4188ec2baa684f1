//! A storage that remembers what was written, so that the file can be seen as it was after each write.

use std::sync::{Arc, Mutex};

use hyperslab_driver::{Driver, Memory, Result, Transfer};
use hyperslab_file::{CreateOptions, Kind, OpenFile, OpenOptions};
use hyperslab_format::{object_header::Prefix, superblock::Root, version::Low};

enum Step {
    Write(u64, Vec<u8>),
    Length(u64),
}

#[derive(Default)]
pub(crate) struct Tape {
    memory: Memory,
    /// What the storage was when the tape began, and what happened since.
    since: Mutex<(Vec<u8>, Vec<Step>)>,
}

impl Driver for Tape {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        self.memory.read_at(addr, buf, transfer)
    }

    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
        self.since.lock().unwrap().1.push(Step::Write(addr, buf.to_vec()));
        self.memory.write_at(addr, buf, transfer)
    }

    fn len(&self) -> Result<u64> {
        self.memory.len()
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.since.lock().unwrap().1.push(Step::Length(len));
        self.memory.set_len(len)
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}

impl Tape {
    /// Begins anew: what is in the storage now is the state before the first write.
    pub(crate) fn rewind(&self) {
        let mut bytes = vec![0; self.len().unwrap() as usize];
        self.read_at(0, &mut bytes, &Transfer::default()).unwrap();
        *self.since.lock().unwrap() = (bytes, Vec::new());
    }

    /// Shows the file as it was before and after each write.
    pub(crate) fn play(&self, mut look: impl FnMut(&OpenFile)) -> usize {
        let since = self.since.lock().unwrap();
        let mut bytes = since.0.clone();
        look(&open(bytes.clone()));
        for step in &since.1 {
            match step {
                Step::Write(at, written) => {
                    let (start, end) = (*at as usize, *at as usize + written.len());
                    if bytes.len() < end {
                        bytes.resize(end, 0);
                    }
                    bytes[start..end].copy_from_slice(written);
                }
                Step::Length(len) => bytes.resize(*len as usize, 0),
            }
            look(&open(bytes.clone()));
        }
        since.1.len()
    }
}

fn open(bytes: Vec<u8>) -> OpenFile {
    OpenFile::open(Arc::new(Memory::from(bytes)), &OpenOptions::default()).unwrap()
}

/// A new file with an empty root header.
pub(crate) fn new_file() -> (Arc<Tape>, OpenFile) {
    let storage = Arc::new(Tape::default());
    let mut create = CreateOptions::default();
    create.low = Low::V110;
    let file = OpenFile::create(storage.clone(), &create, &OpenOptions::default()).unwrap();
    let header = Prefix::new(0).encode_first(&[]).unwrap();
    let address = file.allocate(Kind::Metadata, header.len() as u64).unwrap();
    file.put(address, header).unwrap();
    file.set_root(Root::Header(Some(address))).unwrap();
    file.flush().unwrap();
    storage.rewind();
    (storage, file)
}

/// The file opened again for writing.
pub(crate) fn again(storage: &Arc<Tape>) -> OpenFile {
    OpenFile::open_writable(storage.clone(), &OpenOptions::default(), Low::V110).unwrap()
}

/// The file opened again for reading.
pub(crate) fn read(storage: &Arc<Tape>) -> OpenFile {
    OpenFile::open(storage.clone(), &OpenOptions::default()).unwrap()
}
