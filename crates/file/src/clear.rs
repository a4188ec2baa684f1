//! Marks in the superblock that say who has the file open, and taking them away.

use std::sync::Arc;

use hyperslab_driver::{Driver, Transfer};

use crate::{OpenFile, OpenOptions, Result, open::flag};

/// What a superblock says of those who have the file open. They are left there by programs that end without closing it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Somebody has it open for writing.
    pub writing: bool,
    /// Whoever writes lets others read meanwhile.
    pub swmr: bool,
    /// Whoever writes keeps it whole at every instant.
    pub whole: bool,
    /// All bits of the field, also those that nobody knows.
    pub bits: u32,
    /// A journal is behind the end of the file: blocks that it holds may be half written. libhdf5 knows nothing of it.
    pub journal: bool,
}

impl OpenFile {
    /// What the superblock says of those who have the file open.
    pub fn marks(&self) -> Marks {
        let superblock = self.superblock();
        let has = |flag| superblock.version >= 3 && superblock.flags & flag != 0;
        let (bits, journal) = (superblock.flags, self.has_journal);
        Marks { writing: has(flag::WRITING), swmr: has(flag::SWMR), whole: has(flag::WHOLE), bits, journal }
    }
}

/// Puts what a journal has in place, and takes the marks out of the superblock of the file on a storage; says which there were. Nobody may have
/// the file open.
pub fn clear(raw: &Arc<dyn Driver>) -> Result<Marks> {
    let mut file = OpenFile::begin(raw.clone(), &OpenOptions::default())?;
    if let Some(journal) = file.journal()? {
        journal.replay(raw)?;
        file = OpenFile::begin(raw.clone(), &OpenOptions::default())?;
        file.has_journal = true;
    }
    let marks = file.marks();
    if marks.bits != 0 {
        let mut superblock = file.superblock.clone();
        superblock.flags = 0;
        raw.write_at(file.base, &superblock.encode()?, &Transfer::default())?;
        raw.sync()?;
    }
    Ok(marks)
}
