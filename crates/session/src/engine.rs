//! The engine of a file: what all openings of it in this process share.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use hyperslab_chunk::ChunkCache;
use hyperslab_driver::{Driver, FileIdentity, Transfer, cores::fork::Process};
use hyperslab_file::OpenFile;
use hyperslab_filter::Registry;
use hyperslab_object::{Context, GroupSettings, ObjectSettings};
use hyperslab_structures::GlobalHeap;
use parking_lot::Mutex;

use crate::{
    CacheConfig, Locking, Result, Session,
    closed_objects::ClosedObjects,
    dataset::{ExternalFiles, Known, Partitions},
    new_location::untimed,
    opening_count::Openings,
    options::Access,
    pending_objects::PendingObjects,
    storage::{Hold, Storage},
};

/// What all openings of a file share.
pub(crate) struct Engine {
    pub(crate) context: Arc<Context>,
    pub(crate) registry: Arc<Registry>,
    /// The datasets that have handles, if they may change.
    pub(crate) datasets: Known,
    /// Chunks in memory.
    pub(crate) partitions: Partitions,
    /// Where new values of variable length go.
    pub(crate) heap: Mutex<GlobalHeap>,
    /// Objects of the heap that wait for chunks to be written.
    pub(crate) pending_objects: PendingObjects,
    pub(crate) driver: &'static str,
    /// Of the member with the superblock, if each kind of content has its own.
    pub(crate) size: Option<u64>,
    /// The file with its lock against other processes, unless it is on other storage.
    hold: Option<Hold>,
    pub(crate) openings: Openings,
    /// The process that made it.
    pub(crate) process: Process,
    /// Whether the file was opened for writing since, and this only reads it as it was.
    replaced: AtomicBool,
    /// Whether its last opening has ended: other processes may change the file.
    ended: AtomicBool,
    swmr: bool,
    /// Other files that hold values of this one.
    pub(crate) external_files: Arc<ExternalFiles>,
    /// Objects that lost their last handle, if they are to leave memory.
    pub(crate) closed_objects: Option<Arc<ClosedObjects>>,
}

impl Engine {
    pub(crate) fn open(storage: Storage, access: &Access, cache: CacheConfig) -> Result<Engine> {
        let mut options = hyperslab_file::OpenOptions::default();
        (options.alone, options.swmr) = (storage.alone, access.swmr);
        access.requests(&mut options);
        let file = OpenFile::open(storage.driver.clone(), &options)?;
        Ok(Engine::new(file, storage, access, cache))
    }

    /// A file that may be changed, made if the options say so or if it is empty.
    pub(crate) fn writable(storage: Storage, access: &Access, cache: CacheConfig) -> Result<Engine> {
        let driver = storage.driver.clone();
        let mut options = hyperslab_file::OpenOptions::default();
        (options.alone, options.placement) = (storage.alone, access.placement);
        (options.durability, options.marks_whole) = (access.durability, storage.marks_whole());
        options.libver_max = access.libver_max;
        access.requests(&mut options);
        let is_new = access.truncate || access.create_new || driver.len(&access.transfer)? == 0;
        if !is_new {
            let file = OpenFile::open_writable(driver, &options, access.libver_min)?;
            let engine = Engine::new(file, storage, access, cache);
            engine.context.let_links_wait()?;
            engine.mend();
            return Ok(engine);
        }
        let file = OpenFile::create(driver, &access.new_file(), &options)?;
        let engine = Engine::new(file, storage, access, cache);
        engine.context.let_links_wait()?;
        let file = engine.context.file();
        let track = access.ordered;
        let object = ObjectSettings { ordered: track, indexed: track, ..untimed() };
        let group = GroupSettings { tracked: track, indexed: track, ..Default::default() };
        let (object, group) = access.root.unwrap_or((object, group));
        file.operate(|| hyperslab_object::new_root(&engine.context, &object, &group))?;
        file.flush()?;
        Ok(engine)
    }

    fn new(file: OpenFile, storage: Storage, access: &Access, cache: CacheConfig) -> Engine {
        let registry = Arc::new(Registry::default());
        let context = Arc::new(Context::new(file, hyperslab_chunk::unfilter(registry.clone())));
        Engine {
            context,
            registry,
            datasets: Known::default(),
            partitions: Partitions::new(ChunkCache::new(cache)),
            heap: Mutex::default(),
            pending_objects: PendingObjects::default(),
            driver: storage.name,
            size: storage.size,
            hold: storage.hold,
            openings: Openings::default(),
            process: Process::this(),
            replaced: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            swmr: access.swmr,
            external_files: Arc::default(),
            closed_objects: access.evict_on_close.then(ClosedObjects::new),
        }
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.context.file().is_writable()
    }

    /// Whether it may be read beside a SWMR writer.
    pub(crate) fn is_swmr(&self) -> bool {
        self.swmr
    }

    /// Which file it is; none on other storage.
    pub(crate) fn identity(&self) -> Option<FileIdentity> {
        self.hold.as_ref().map(Hold::identity)
    }
}

/// More objects than this are not looked at when a file is opened.
const FEW: usize = 100_000;

impl Engine {
    /// Takes away what a program of ours left that was killed, in a file that is not too large for that. In others, `check::clear` does.
    fn mend(&self) {
        let file = self.context.file();
        let marks = file.marks();
        if marks.writing && marks.whole {
            // If something cannot be read, nothing changes; if the storage fails, the next operation says so.
            let _ = file.operate(|| hyperslab_object::mend(&self.context, FEW));
        }
    }
}

/// The end of an engine. Its openings call this, one at a time.
impl Engine {
    pub(crate) fn flush(&self) -> Result<()> {
        self.flush_by(self.context.file())
    }

    /// As [`Engine::flush`]; all requests go to the storage with these options.
    pub(crate) fn flush_with(&self, transfer: &Transfer) -> Result<()> {
        self.flush_by(&self.context.file().with_transfer(transfer))
    }

    fn flush_by(&self, file: &OpenFile) -> Result<()> {
        file.check_process()?;
        let written = self.flush_chunks(file);
        file.flush()?;
        written
    }

    /// Writes everything, and lets other processes open the file, also if that fails. A file that is only read may be [used
    /// again](Self::resume).
    pub(crate) fn end(self: &Arc<Engine>) -> Result<()> {
        let closed = if self.is_writable() { self.close() } else { Ok(()) };
        closed.and(self.release())
    }

    /// How its file was to be locked; none if it is no file.
    pub(crate) fn locking(&self) -> Option<Locking> {
        self.hold.as_ref().map(Hold::locking)
    }

    /// Lets other processes open the file. Handles that are left cannot use it any more.
    pub(crate) fn release(&self) -> Result<()> {
        self.ended.store(true, Ordering::Release);
        self.hold.as_ref().map_or(Ok(()), Hold::release)
    }

    fn close(self: &Arc<Engine>) -> Result<()> {
        let file = self.context.file();
        file.shut();
        Session::within(self).delete_unnamed();
        let written = self.flush_chunks(file);
        if written.is_err() {
            Session::within(self).discard_pending();
        }
        let committed = self.commit_heap();
        file.close()?;
        written?;
        committed
    }

    /// Takes back what was removed from the heap, once the file no longer names it.
    fn commit_heap(&self) -> Result<()> {
        let file = self.context.file();
        if !self.heap.lock().has_removed() {
            return Ok(());
        }
        file.flush()?;
        file.operate(|| Ok(self.heap.lock().commit(file)?))
    }

    /// Whether the file at a path can be read once more by this engine, whose last opening has ended: it only reads, this process made it, and no
    /// process has changed the file since. Then it is locked.
    pub(crate) fn resume(&self, path: &Path) -> Result<bool> {
        match &self.hold {
            Some(hold) if !self.is_writable() && !self.is_replaced() && self.process.is_this() => {
                let resumes = hold.lock_unchanged(path)?;
                self.ended.store(!resumes, Ordering::Release);
                Ok(resumes)
            }
            _ => Ok(false),
        }
    }

    /// Whether its last opening has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Whether the file was opened for writing since: what this engine knows of it may be wrong.
    pub(crate) fn is_replaced(&self) -> bool {
        self.replaced.load(Ordering::Acquire)
    }

    /// Lets another engine take the place of this one.
    pub(crate) fn replaced_by(&self, make: impl FnOnce() -> Result<Arc<Engine>>) -> Result<Arc<Engine>> {
        // The lock of this engine keeps other writers away, the new one too.
        self.hold.as_ref().map_or(Ok(()), Hold::release)?;
        // The new engine changes the file as soon as it is made.
        self.replaced.store(true, Ordering::Release);
        make().inspect_err(|_| {
            self.replaced.store(false, Ordering::Release);
            // If another process was faster, this engine goes on without a lock, as it would with locks turned off.
            let _ = self.hold.as_ref().map_or(Ok(()), Hold::lock);
        })
    }
}
