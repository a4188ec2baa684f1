//! An open file, below the handles that programs have.

use std::{path::Path, sync::Arc};

use hyperslab_driver::{Driver, Transfer};
use hyperslab_file::{OpenFile, Writing};
use hyperslab_filter::Registry;
use hyperslab_object::{Context, Object};

use crate::{
    CacheStatistics, Error, Heap, Locking, ObjectHandle, OpenObject, Options, Result, engine::Engine,
    linked_files::LinkedFiles, opening::Opening, storage::Storage, virtual_read_budget::VirtualReadBudget,
};

/// An open file: the engine that all openings of the file share, this opening, and the files that it leads to. Cheap to clone.
#[derive(Clone)]
pub struct Session {
    pub(crate) engine: Arc<Engine>,
    pub(crate) opening: Arc<Opening>,
    pub(crate) linked_files: Arc<LinkedFiles>,
    /// Why the file cannot be changed through this handle, which another file led to, though this process has it open for writing.
    pub(crate) refuses: Option<Arc<str>>,
}

impl Session {
    /// Opens the file at a path.
    pub fn open(path: &Path, options: Options) -> Result<Session> {
        LinkedFiles::new(options).open_first(path)
    }

    /// Opens the file on any storage. Other files that it names are looked for where the program runs.
    pub fn open_on(storage: Arc<dyn Driver>, options: Options) -> Result<Session> {
        let access = &options.access;
        let alone = access.locking == Locking::Disabled;
        let storage = Storage { driver: storage, name: "other", size: None, hold: None, alone };
        let engine = match access.write {
            true => Engine::writable(storage, access, options.cache_config())?,
            false => Engine::open(storage, access, options.cache_config())?,
        };
        Ok(Session::of(Opening::of_storage(engine), &LinkedFiles::new(options)))
    }

    /// Of an opening, with the files that it leads to.
    pub(crate) fn of(opening: Arc<Opening>, linked_files: &Arc<LinkedFiles>) -> Session {
        Session { engine: opening.engine().clone(), opening, linked_files: linked_files.clone(), refuses: None }
    }

    /// For the engine itself: it keeps nothing open.
    pub(crate) fn within(engine: &Arc<Engine>) -> Session {
        Session::of(Opening::within(engine), &LinkedFiles::new(Options::default()))
    }

    /// A number that tells open files of this process apart.
    pub fn number(&self) -> usize {
        Arc::as_ptr(&self.engine).addr()
    }

    /// The objects of the file.
    pub fn context(&self) -> &Arc<Context> {
        &self.engine.context
    }

    /// The file that the objects are in.
    pub fn file(&self) -> &OpenFile {
        self.engine.context.file()
    }

    /// The filters that chunks may go through.
    pub fn registry(&self) -> &Registry {
        &self.engine.registry
    }

    /// How the file, and the files that it leads to, were opened.
    pub fn options(&self) -> &Options {
        &self.linked_files.options
    }

    /// Where it was opened, unless on other storage.
    pub fn path(&self) -> Option<&Path> {
        self.opening.path()
    }

    /// Whether the file may be changed through this handle.
    pub fn is_writable(&self) -> bool {
        self.engine.is_writable() && self.refuses.is_none()
    }

    /// Refuses changes through this handle, before anything is done.
    pub fn check_changeable(&self) -> Result<()> {
        self.check_refused()?;
        Ok(self.file().check_writable()?)
    }

    fn check_refused(&self) -> Result<()> {
        self.refuses.as_ref().map_or(Ok(()), |why| Err(Error::Forbidden(why.to_string())))
    }

    /// Writes everything that was changed so far, and deletes what has neither names nor handles. What cannot be deleted is tried again at the next flush.
    pub fn flush(&self) -> Result<()> {
        self.flush_by(|| self.engine.flush())
    }

    /// As [`Session::flush`]; all requests go to the storage with these options.
    pub fn flush_with(&self, transfer: &Transfer) -> Result<()> {
        self.flush_by(|| self.engine.flush_with(transfer))
    }

    fn flush_by(&self, flush: impl FnOnce() -> Result<()>) -> Result<()> {
        let deleted = self.delete_all_abandoned();
        let flushed = flush();
        self.evict_closed_and_flushed();
        flushed.and(deleted).map_err(|why| self.locate(why))
    }

    /// Ends the opening; the last one writes everything and closes the file.
    pub fn close(&self) -> Result<()> {
        self.opening.close().map_err(|why| self.locate(why))
    }

    /// Does one operation that changes the file, alone. Runs under the exclusive operation lock: reads take the same lock and would deadlock.
    pub fn operate<T>(&self, change: impl FnOnce() -> Result<T>) -> Result<T> {
        self.operate_beside(|| {
            hyperslab_object::add_all_waiting(self.context())?;
            self.file().mark_whole();
            change()
        })
    }

    /// As [`Session::operate`], where at most the object at an address and committed datatypes change.
    pub fn operate_on<T>(&self, object: u64, change: impl FnOnce() -> Result<T>) -> Result<T> {
        self.operate_beside(|| {
            hyperslab_object::add_waiting(self.context(), object)?;
            self.file().mark_whole();
            change()
        })
    }

    /// As [`Session::operate`], where groups change by links that may [wait](hyperslab_object::Context::let_links_wait) only.
    pub(crate) fn operate_beside<T>(&self, change: impl FnOnce() -> Result<T>) -> Result<T> {
        self.operate_within(&self.writing()?, change)
    }

    /// As [`Session::operate_beside`], for a request that makes closing wait already.
    pub(crate) fn operate_within<T>(&self, _writing: &Writing<'_>, change: impl FnOnce() -> Result<T>) -> Result<T> {
        self.delete_abandoned();
        self.file().operate(change).map_err(|why| self.locate(why))
    }

    /// A change that closing waits for; an error if there can be none.
    pub(crate) fn writing(&self) -> Result<Writing<'_>> {
        self.check_refused()?;
        Ok(self.file().writing()?)
    }

    /// How many bytes the storage has; those of the member with the superblock, if each kind of content has its own.
    pub fn size(&self) -> u64 {
        let file = self.file();
        let end = if self.engine.size.is_some() { file.own_end() } else { file.end() };
        file.user_block() + end
    }

    /// How the file lies on storage, by libhdf5's name.
    pub fn driver(&self) -> &'static str {
        self.engine.driver
    }

    /// What the chunk cache did so far, and how much memory it has.
    pub fn cache_statistics(&self) -> CacheStatistics {
        self.engine.partitions.cache.statistics()
    }

    /// Counts anew from now on what the chunk cache does, for the file and for each dataset.
    pub fn reset_cache_statistics(&self) {
        self.engine.partitions.cache.reset_statistics();
    }

    /// Where the header of the root group is.
    pub fn root(&self) -> Result<u64> {
        Ok(self.file().root()?)
    }

    /// The root group.
    pub fn root_group(&self) -> Result<ObjectHandle> {
        self.at(self.root()?)?.into_group().map_err(|why| why.of(b"/"))
    }

    /// The object whose header is at an address.
    pub fn at(&self, address: u64) -> Result<OpenObject> {
        self.object(|| Ok(Object::open(self.context(), address)?))
    }

    /// As [`Session::at`], also if the object has messages that must be understood and are not: they can be copied.
    pub fn at_guarded(&self, address: u64) -> Result<OpenObject> {
        self.object(|| Ok(Object::open_guarded(self.context(), address)?))
    }

    fn object(&self, open: impl FnOnce() -> Result<Object>) -> Result<OpenObject> {
        self.evict_closed();
        let held = self.file().reading();
        let object = self.read_current(|| OpenObject::new(self, open()?))?;
        drop(held);
        object.grown(&VirtualReadBudget::default())
    }

    /// The object that a path leads to from the group at an address, through links of all kinds. It may be in another file.
    pub fn get(&self, start: u64, path: &[u8]) -> Result<OpenObject> {
        self.follow(start, path, &VirtualReadBudget::default())?.object()
    }

    /// The values that are kept outside of datasets and attributes: variable-length data and region references.
    pub fn heap(&self) -> Heap<'_> {
        Heap::new(self)
    }
}

/// The same open file, also if it was opened twice.
impl PartialEq for Session {
    fn eq(&self, other: &Session) -> bool {
        Arc::ptr_eq(&self.engine, &other.engine)
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("path", &self.path()).finish()
    }
}
