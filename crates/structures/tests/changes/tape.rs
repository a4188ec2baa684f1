//! Files in memory of which every state between two writes can be seen.

use std::sync::Arc;

use hyperslab_driver::{Driver, Memory, Transfer};
use hyperslab_file::{CreateOptions, Kind, OpenFile, OpenOptions};
use hyperslab_format::{
    object_header::{Flags, Message, Prefix},
    superblock::Root,
    version::LibVersion,
};

use crate::common::{self, Played, prefixes};

/// A storage, and what it had when the tape began.
pub(crate) struct Tape {
    pub(crate) storage: Arc<hyperslab_driver::Tape>,
    before: Vec<u8>,
}

impl Tape {
    /// Begins anew: what is in the storage now is the state before the first write.
    pub(crate) fn rewind(&mut self) {
        self.before = self.storage.content();
        self.storage.take();
    }

    /// Shows the file as it was before and after each write.
    pub(crate) fn play(&self, mut look: impl FnMut(&OpenFile)) -> usize {
        let steps = self.storage.take();
        prefixes(&self.before, &steps, |_, bytes| look(&read(bytes.to_vec())));
        steps.len()
    }

    /// The file opened again for writing.
    pub(crate) fn again(&self) -> OpenFile {
        OpenFile::open_writable(self.storage.clone(), &OpenOptions::default(), LibVersion::V110).unwrap()
    }
}

/// A file to read, perhaps one that was left in the middle of changes.
pub(crate) fn read(bytes: Vec<u8>) -> OpenFile {
    let mut options = OpenOptions::default();
    options.alone = true;
    OpenFile::open(Arc::new(Memory::from(bytes)), &options).unwrap()
}

/// A new file with an empty root header.
pub(crate) fn new_file() -> (Tape, OpenFile) {
    new_file_with(|_| Vec::new())
}

/// A new file whose root header has messages: pairs of type and body.
pub(crate) fn new_file_with(messages: impl FnOnce(&OpenFile) -> Vec<(u16, Vec<u8>)>) -> (Tape, OpenFile) {
    let memory = Arc::new(Memory::new());
    let mut create = CreateOptions::default();
    create.libver_min = LibVersion::V110;
    let file = OpenFile::create(memory.clone(), &create, &OpenOptions::default()).unwrap();
    let messages = messages(&file);
    let size = messages.iter().map(|(_, body)| body.len() + 4).sum();
    let messages: Vec<Message<'_>> =
        messages.iter().map(|(kind, body)| Message { kind: *kind, flags: Flags::NONE, order: None, body }).collect();
    let header = Prefix::new(size).encode_first(&messages).unwrap();
    let address = file.allocate(Kind::Metadata, header.len() as u64).unwrap();
    file.put(address, header).unwrap();
    file.set_root(Root::Header(Some(address))).unwrap();
    file.close().unwrap();
    let mut bytes = vec![0; memory.len(&Transfer::default()).unwrap() as usize];
    memory.read_at(0, &mut bytes, &Transfer::default()).unwrap();
    let (storage, file) = common::open(bytes);
    let mut tape = Tape { storage, before: Vec::new() };
    tape.rewind();
    (tape, file)
}
