//! Opening: where is the superblock, and may the file be read now?

use std::sync::{Arc, OnceLock, atomic::AtomicU64};

use hyperslab_driver::{Driver, PageStrategy, Transfer, VectorLimit};
use hyperslab_format::{Superblock, superblock, version::LibVersion};

use crate::{
    Durability, Error, Marks, OpenFile, Placement, Result, Retry, Seal, cache_image::Image, extension,
    file_state::FileState, journal, speed::Speed, torn, transfers::Transfers,
};

/// How a file is opened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenOptions {
    /// The size of a metadata page: what one request to the storage brings at least. Where none is given, it depends on the storage.
    pub page_size: Option<usize>,
    /// So many bytes of pages are kept, and one page at least.
    pub page_buffer: usize,
    /// How values are read by means of these pages; by default they are not.
    pub page_strategy: PageStrategy,
    /// How many percent of the pages are kept for metadata, and for values, if these have pages.
    pub page_reserve: (u8, u8),
    /// Whether no other process has the file open for writing, as the holder of a lock knows: then one that was left in the middle of changes can
    /// be opened, if it was written by a program that keeps it whole at every instant.
    pub alone: bool,
    /// Whether a writer may mark the file as whole at every instant. A process that can lock such a file takes it for one whose writer is gone, so
    /// a writer that could have a lock and has none must not.
    pub marks_whole: bool,
    /// Whether the file may be read while a SWMR writer has it open.
    pub swmr: bool,
    /// Whether a file is opened though it is marked as open for writing, or lost its end: by a check that looks for what is wrong with it.
    pub as_it_is: bool,
    /// Where new pieces of the file go.
    pub placement: Placement,
    /// What of changes outlives a killed process or a power failure.
    pub durability: Durability,
    /// What goes with each request to the storage: collective or not, the most parts of a vector. The kind of content is the file's to say.
    pub transfer: Transfer,
    /// How often a block of metadata is read that another process may be writing.
    pub retry: Retry,
    /// The newest library whose structures may be written, if there is a bound.
    pub libver_max: Option<LibVersion>,
}

impl Default for OpenOptions {
    fn default() -> OpenOptions {
        OpenOptions {
            page_size: None,
            page_buffer: 8 << 20,
            page_strategy: PageStrategy::Direct,
            page_reserve: (0, 0),
            alone: false,
            marks_whole: true,
            swmr: false,
            as_it_is: false,
            placement: Placement::default(),
            durability: Durability::default(),
            transfer: Transfer::default(),
            retry: Retry::default(),
            libver_max: None,
        }
    }
}

/// Consistency flags of a superblock of version 3.
pub(crate) mod flag {
    /// A process has it open for writing.
    pub(crate) const WRITING: u32 = 1;
    /// It is whole all the same, since this library writes it. libhdf5 knows the bit and never sets it.
    pub(crate) const WHOLE: u32 = 2;
    /// The process that writes lets other processes read meanwhile.
    pub(crate) const SWMR: u32 = 4;
    /// All of them.
    pub(crate) const ALL: u32 = WRITING | WHOLE | SWMR;
}

/// What a file is opened for: libhdf5 looks at the flags with each in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    Read,
    /// Beside a SWMR writer.
    SwmrRead,
    Write,
}

impl OpenFile {
    /// Opens the file on a storage for reading.
    pub fn open(raw: Arc<dyn Driver>, options: &OpenOptions) -> Result<OpenFile> {
        Self::open_for(raw, options, if options.swmr { Intent::SwmrRead } else { Intent::Read })
    }

    /// Opens the file on a storage. A journal that was left there is put in place if the file is to be changed, else read through.
    pub(crate) fn open_for(raw: Arc<dyn Driver>, options: &OpenOptions, intent: Intent) -> Result<OpenFile> {
        let raw: Arc<dyn Driver> = Arc::new(VectorLimit::new(raw));
        let mut file = Self::begin(raw, options)?;
        if !options.as_it_is {
            check_flags(file.marks(), options.alone, intent)?;
        }
        if let Some(journal) = file.journal()? {
            let (raw, writes) = (file.raw.clone(), intent == Intent::Write);
            let raw = if writes { journal.replay(&raw, &file.transfers).map(|()| raw)? } else { journal.overlay(raw) };
            file = Self::begin(raw, options)?;
            file.unshared()?.has_journal = !writes;
        }
        // A SWMR writer may have told of an end that it has not written yet.
        let may_grow = intent == Intent::SwmrRead && file.superblock.version >= 3;
        if !options.as_it_is && !may_grow {
            check_length(&file)?;
        }
        extension::read(&mut file)?;
        Ok(file)
    }

    /// The file as its superblock alone describes it.
    pub(crate) fn begin(raw: Arc<dyn Driver>, options: &OpenOptions) -> Result<OpenFile> {
        let transfers = Arc::new(Transfers::new(&options.transfer));
        let length = raw.len(&transfers.any)?;
        // A page never needs to be larger than the file.
        let most = usize::try_from(length).unwrap_or(usize::MAX);
        let pages = options.pages(raw.clone(), length, most)?;
        let (base, superblock) =
            options.retry.run(0, || read_superblock(&pages, length, &transfers), || pages.forget(0..length))?;
        let root = OnceLock::from(superblock.root.clone());
        let (end, image) = (AtomicU64::new(length - base), Image::new());
        let (shared, has_journal, store, retry) = (None, false, None, options.retry);
        let opened_with = transfers;
        let state = FileState {
            raw,
            pages,
            superblock,
            base,
            end,
            shared,
            image,
            root,
            has_journal,
            retry,
            speed: Speed::default(),
            store,
            opened_with,
        };
        Ok(OpenFile::new(state))
    }
}

impl OpenFile {
    /// The journal that a program left which ended without closing the file, if it left one.
    pub(crate) fn journal(&self) -> Result<Option<journal::Found>> {
        let stored = self.base.saturating_add(self.own_end());
        match self.told_end().map(|end| self.base.saturating_add(end)) {
            Some(end) if journal::trailer_place(end, stored).is_some() => self.retry.find(
                || journal::find(&self.pages, self.base, (end, stored), self.seen_end(), &self.transfers.any),
                || self.pages.forget(end..stored),
            ),
            _ => Ok(None),
        }
    }
}

/// Where the file begins in its storage of so many bytes, and what its superblock says.
fn read_superblock(storage: &impl Driver, length: u64, transfers: &Transfers) -> Result<(u64, Superblock)> {
    let base = find_signature(storage, length, &transfers.superblock)?;
    let mut head = vec![0; superblock::MAX_SIZE.min((length - base) as usize)];
    storage.read_at(base, &mut head, &transfers.superblock)?;
    let has_checksum = head.get(superblock::SIGNATURE.len()).is_some_and(|&version| version >= 2);
    let is_torn = torn::tear(if has_checksum { Seal::Checksum } else { Seal::Signature }, &mut head);
    let superblock = Superblock::decode(&head).map_err(Error::at(0))?;
    torn::check_noticed(is_torn, "superblock", 0)?;
    Ok((base, superblock))
}

/// The signature stands at the front, or behind a user block of 512 bytes or twice, four times … as many.
fn find_signature(storage: &impl Driver, length: u64, transfer: &Transfer) -> Result<u64> {
    let mut place = 0u64;
    while place.checked_add(superblock::SIGNATURE.len() as u64).is_some_and(|end| end <= length) {
        let mut found = [0; superblock::SIGNATURE.len()];
        storage.read_at(place, &mut found, transfer)?;
        if found == superblock::SIGNATURE {
            return Ok(place);
        }
        place = (place * 2).max(512);
    }
    Err(Error::NotHdf5)
}

/// Refuses a file whose flags say that a process writes it, as libhdf5 does. A file that this library was writing is whole, so it is enough that
/// its writer is gone.
fn check_flags(marks: Marks, alone: bool, intent: Intent) -> Result<()> {
    let Marks { writing, swmr, .. } = marks;
    let refused = match intent {
        Intent::Read | Intent::Write => writing || swmr,
        Intent::SwmrRead => writing != swmr,
    };
    if !refused || marks.is_left_whole() && alone {
        return Ok(());
    }
    let why = match (swmr, intent) {
        (true, Intent::Read) => {
            "the file is marked as open for SWMR writing: open it as a SWMR reader to follow its writer. If no process has it open, \
             clear the mark with `hyperslab clear` or `h5clear -s`"
        }
        (true, _) => {
            "the file is marked as open for SWMR writing: another process writes it, or one that did ended without closing it. If \
             no process has it open, clear the mark with `hyperslab clear` or `h5clear -s`"
        }
        (false, _) => {
            "the file is marked as open for writing: another process has it open, or one that had it ended without closing it. If \
             no process has it open, clear the mark with `hyperslab clear` or `h5clear -s`"
        }
    };
    Err(Error::Marked(why))
}

/// A file that lost its end must not be read as if it were whole.
fn check_length(file: &OpenFile) -> Result<()> {
    let length = file.base + file.seen_end();
    match file.told_end().map(|end| end.saturating_add(file.base)) {
        Some(end) if end > length => Err(Error::Truncated { length, end }),
        _ => Ok(()),
    }
}
