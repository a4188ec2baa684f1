//! A file as its storage has it after each single write.

use std::sync::Arc;

use hyperslab_driver::{Memory, Tape};
use hyperslab_file::{OpenFile, OpenOptions};

/// Opens the file after each write since the tape was cut, when the storage had `bytes`; these are then what it has now.
pub(crate) fn after_each_write(tape: &Tape, bytes: &mut Vec<u8>, mut each: impl FnMut(&OpenFile)) {
    let changes = tape.changes();
    tape.cut().unwrap();
    let mut options = OpenOptions::default();
    options.alone = true;
    for change in changes {
        change.apply(bytes);
        each(&OpenFile::open(Arc::new(Memory::from(bytes.clone())), &options).unwrap());
    }
}
