//! New files, files opened for writing, and their end.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering},
};

use hyperslab_base::Widths;
use hyperslab_driver::{Capabilities, Driver, VectorLimit};
use hyperslab_format::{
    MemberFiles, Superblock,
    superblock::Root,
    symbol_table::{Cache, Entry},
    version::{self, FileNeeds, LibVersion},
};

use crate::{
    Error, FileSpace, OpenFile, OpenOptions, Result,
    cache_image::{self, Image},
    file_state::FileState,
    free_space,
    member_layout::Members,
    open::{Intent, flag},
    speed::Speed,
    store::Store,
    transfers::Transfers,
};

/// What a new file is like.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CreateOptions {
    /// The versions that new structures have.
    pub libver_min: LibVersion,
    /// How many bytes before the HDF5 part are the user's: none, 512, or twice, four times … as many.
    pub user_block: u64,
    /// How wide addresses and lengths are.
    pub widths: Widths,
    /// How space is managed.
    pub space: FileSpace,
    /// How the file is spread over several, if it is: the storage must be so, too.
    pub members: Option<MemberFiles>,
}

impl Default for CreateOptions {
    fn default() -> CreateOptions {
        let (libver_min, widths, space) = (LibVersion::Earliest, Widths::EIGHT, FileSpace::default());
        CreateOptions { libver_min, user_block: 0, widths, space, members: None }
    }
}

impl CreateOptions {
    /// Refuses what no file can be like. To be asked before a file is made, which would be left empty.
    pub fn check(&self) -> Result<()> {
        let base = self.user_block;
        if base != 0 && (base < 512 || !base.is_power_of_two()) {
            let why = format!("a user block of {base} bytes: it must have 512, 1024, 2048, … bytes, or none");
            return Err(Error::Refused(why));
        }
        let info = self.space.info()?;
        self.members()?.map_or(Ok(()), |members| members.check_space(info.is_some()))
    }

    /// Refuses storage that is not spread as the file is to say that it is: other programs would look for members that there are not.
    fn check_storage(&self, raw: &dyn Driver) -> Result<()> {
        let (needed, what) = match &self.members {
            None => return Ok(()),
            Some(MemberFiles::Family { .. }) => (Capabilities::IN_A_ROW, "a family of files"),
            Some(MemberFiles::Multi(_)) => (Capabilities::KINDS_APART, "a file for each kind of content"),
        };
        match raw.capabilities().contains(needed) {
            true => Ok(()),
            false => {
                Err(Error::Refused(format!("the new file is to be {what}, and its storage, {}, is not", raw.name())))
            }
        }
    }

    fn members(&self) -> Result<Option<Members>> {
        self.members.as_ref().map(|files| Members::new(files, self.user_block)).transpose()
    }
}

impl OpenFile {
    /// A new file on a storage, whose old content is lost. It needs a root group, then it can be flushed.
    pub fn create(raw: Arc<dyn Driver>, create: &CreateOptions, options: &OpenOptions) -> Result<OpenFile> {
        create.check()?;
        create.check_storage(&*raw)?;
        let raw: Arc<dyn Driver> = Arc::new(VectorLimit::new(raw));
        let (base, info, members) = (create.user_block, create.space.info()?, create.members()?);
        // A file that was shortened to nothing is written to the disk when it is closed (by ext4, for one); a new one need not be.
        let transfers = Arc::new(Transfers::new(&options.transfer));
        if raw.len(&transfers.any)? != 0 {
            raw.set_len(0, &transfers.any)?;
        }
        if base != 0 {
            raw.set_len(base, &transfers.any)?;
        }
        let mut superblock = first_superblock(create, info.is_some(), options.marks_whole);
        members.iter().try_for_each(|members| members.announce(&mut superblock))?;
        let size = Members::head(members.as_ref(), &superblock)?.len() as u64;
        let pages = options.pages(raw.clone(), base, usize::MAX)?.writing_through();
        let strategy = options.placement.strategy(info.as_ref());
        let mut store = Store::new(superblock.clone(), Vec::new(), base, size, strategy);
        store = store.with_members(members.clone(), 0);
        store.info.clone_from(&info);
        (store.libver_min, store.durability, store.is_new) = (create.libver_min, options.durability, true);
        store.libver_max = options.libver_max;
        store.marks_whole = options.marks_whole;
        let (root, image, store) = (OnceLock::new(), Image::new(), Some(Box::new(store)));
        let (end, shared, has_journal, retry) = (AtomicU64::new(0), None, false, options.retry);
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
        let file = OpenFile::new(state);
        members.map_or(Ok(()), |members| members.begin(&file, file.store()?))?;
        info.map_or(Ok(()), |info| free_space::begin(&file, file.store()?, info))?;
        Ok(file)
    }

    /// Opens the file on a storage for reading and writing. New structures have versions of `low` at least.
    pub fn open_writable(raw: Arc<dyn Driver>, options: &OpenOptions, libver_min: LibVersion) -> Result<OpenFile> {
        let mut file = OpenFile::open_for(raw, options, Intent::Write)?;
        let members = Members::of(&file)?;
        let stored = Members::head(members.as_ref(), &file.superblock)?;
        members.iter().try_for_each(|members| members.check_head(file.base, stored.len()))?;
        let info = free_space::info(&file)?;
        info.iter().try_for_each(|info| free_space::check(info, file.superblock.extension.unwrap_or(0)))?;
        members.iter().try_for_each(|members| members.check_space(info.is_some()))?;
        let strategy = options.placement.strategy(info.as_ref());
        let (leftovers, end) = (file.leftovers()?, file.end_to_keep()?);
        let values_end = file.values_to_keep(members.as_ref())?;
        let store = Store::new(file.superblock.clone(), stored, file.base, end, strategy);
        let mut store = store.with_members(members, values_end);
        store.info.clone_from(&info);
        (store.libver_min, store.durability) = (libver_min, options.durability);
        store.libver_max = options.libver_max;
        store.marks_whole = options.marks_whole;
        let state = file.unshared()?;
        state.pages.write_through();
        state.store = Some(Box::new(store));
        let image = std::mem::take(&mut state.image);
        let (store, has_lists, has_image) = (file.store()?, info.is_some(), !image.is_empty());
        // Nothing is written before all lists of free space, and the image of a cache, are known to be good.
        cache_image::put(&file, image)?;
        info.map_or(Ok(()), |info| free_space::take_over(&file, store, info))?;
        leftovers.map_or(Ok(()), |leftovers| file.take_over_leftovers(store, leftovers))?;
        mark(&mut store.superblock.lock().0, options.marks_whole);
        if let Err(why) = file.begin_changes(store, has_lists, has_image) {
            // Whatever was written, the file is whole; a mark would keep others from reading it.
            unmark(&mut store.superblock.lock().0);
            let _ = file.write_superblock(store);
            return Err(why);
        }
        Ok(file)
    }

    /// Writes the mark, and what was taken over. An image is given up when all that it holds is in place.
    fn begin_changes(&self, store: &Store, has_lists: bool, has_image: bool) -> Result<()> {
        self.write_superblock(store)?;
        if has_lists || has_image {
            self.flush()?;
        }
        if has_image {
            cache_image::free_image(self, store)?;
            self.flush()?;
        }
        Ok(())
    }

    /// Writes everything, gives up what is unused at the end, and leaves the file to other processes. Nothing happens if it is only read. A file
    /// that cannot be written stays as it was at the last flush, mark included. Nothing can be changed after this, also if it fails.
    pub fn close(&self) -> Result<()> {
        let Some(store) = &self.store else { return Ok(()) };
        self.check_process()?;
        store.gate.shut();
        let _alone = store.lock_at_rest();
        if store.closed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let closed = self.write_and_trim(store);
        store.closed.store(true, Ordering::Relaxed);
        closed
    }

    fn write_and_trim(&self, store: &Store) -> Result<()> {
        self.check_poison()?;
        self.flush_now()?;
        // What the first flush let others take back, and what leaves structures when that is published.
        store.closing.store(true, Ordering::Relaxed);
        self.flush_now()?;
        let lists = free_space::save(self, store)?;
        let end = store.space.lock().allocator.trim();
        unmark(&mut store.superblock.lock().0);
        self.write_superblock(store)?;
        let end = self.base.saturating_add(end);
        if self.pages.len(&self.transfers.superblock)? != end {
            // A file that is shorter than its superblock says would be refused.
            self.barrier(store)?;
            self.pages.set_len(end, &self.transfers.superblock)?;
            self.wrote(store);
        }
        self.trim_values(store)?;
        self.leave(store, end, lists)?;
        // Also if nothing was changed: perhaps a journal was cut off.
        self.wrote(store);
        self.hand_over(store)?;
        Ok(())
    }
}

fn first_superblock(create: &CreateOptions, extension: bool, whole: bool) -> Superblock {
    let version = version::superblock(create.libver_min, FileNeeds { extension, ..FileNeeds::default() });
    let entry = Entry { name: 0, header: None, cache: Cache::Nothing };
    let root = if version < 2 { Root::Entry(entry) } else { Root::Header(None) };
    let mut superblock = Superblock {
        version,
        widths: create.widths,
        flags: 0,
        base: create.user_block,
        free_space: None,
        end_of_file: Some(0),
        extension: None,
        driver_info: None,
        root,
        group_leaf_k: 4,
        group_internal_k: 16,
        chunk_internal_k: 32,
    };
    mark(&mut superblock, whole);
    superblock
}

/// Says in the superblock that the file is open for writing, where there is a place for that; and that it is whole at every instant, if it may.
pub(crate) fn mark(superblock: &mut Superblock, whole: bool) {
    unmark(superblock);
    if superblock.version >= 3 {
        superblock.flags |= if whole { flag::WRITING | flag::WHOLE } else { flag::WRITING };
    }
}

fn unmark(superblock: &mut Superblock) {
    if superblock.version >= 3 {
        superblock.flags &= !flag::ALL;
    }
}
