//! Marks in the superblock that say who has the file open, and taking them away.

use std::sync::Arc;

use hyperslab_driver::Driver;

use hyperslab_format::version::LibVersion;

use crate::{OpenFile, OpenOptions, Result, member_layout::Members, open::flag};

/// What a superblock says of those who have the file open. They are left there by programs that end without closing it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// A program has it open for writing.
    pub writing: bool,
    /// The writer lets other programs read meanwhile.
    pub swmr: bool,
    /// The writer keeps it whole at every instant.
    pub whole: bool,
    /// All bits of the field, also unknown ones.
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

    /// Where the file ends for those who change it, as an address: what lies before is kept. That is all of the storage, though the superblock may
    /// say less: libhdf5 tells the end when it flushes the file, but not when it flushes a dataset. Of a file that was kept whole, what lies behind the
    /// told end never belonged to it; nor does a space trailer.
    pub(crate) fn end_to_keep(&self) -> Result<u64> {
        Ok(match self.told_end() {
            Some(end) if self.marks().is_left_whole() || self.leftovers()?.is_some() => end,
            told => self.own_end().max(told.unwrap_or(0)),
        })
    }
}

impl Marks {
    /// Whether the file was left by a program that kept it whole at every instant.
    pub(crate) fn is_left_whole(self) -> bool {
        self.writing && self.whole && !self.swmr
    }
}

/// Puts what a journal has in place, takes the marks out of the superblock of the file on a storage, and lets it tell of all that the file may hold; says
/// which marks there were. The caller makes sure that no process has the file open.
pub fn clear(raw: &Arc<dyn Driver>) -> Result<Marks> {
    let mut file = OpenFile::begin(raw.clone(), &OpenOptions::default())?;
    if let Some(journal) = file.journal()? {
        journal.replay(raw, &file.transfers)?;
        file = OpenFile::begin(raw.clone(), &OpenOptions::default())?;
        file.unshared()?.has_journal = true;
    }
    let marks = file.marks();
    if Members::of(&file)?.is_some_and(|members| members.values_start().is_some()) {
        // The ends of both members are told when it is closed.
        let as_it_is = OpenOptions { as_it_is: true, ..OpenOptions::default() };
        OpenFile::open_writable(raw.clone(), &as_it_is, LibVersion::Earliest)?.close()?;
        return Ok(marks);
    }
    let (mut superblock, end) = (file.superblock.clone(), file.end_to_keep()?);
    superblock.flags = 0;
    superblock.end_of_file = Some(superblock.base.saturating_add(end));
    if superblock == file.superblock {
        return Ok(marks);
    }
    raw.write_at(file.base, &superblock.encode()?, &file.transfers.superblock)?;
    if end < file.seen_end() {
        // Without the mark, the next writer would keep these bytes, which belong to no block.
        raw.set_len(file.base.saturating_add(end), &file.transfers.metadata)?;
    }
    raw.sync(&file.transfers.any)?;
    Ok(marks)
}
