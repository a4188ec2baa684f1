//! An open file.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use hyperslab_chunk::ChunkCache;
use hyperslab_driver::{Driver, Local};
use hyperslab_file::OpenFile;
use hyperslab_filter::Registry;
use hyperslab_object::{Context, GroupSettings, Object, ObjectSettings};
use hyperslab_structures::GlobalHeap;
use parking_lot::Mutex;

use crate::{
    CacheConfig, Dataset, Group, Heap, Node, OpenOptions, Result,
    dataset::{Known, Shelves},
    open_options::Access,
    others::Others,
    place::untimed,
    storage::Storage,
    trip::Trip,
    unnamed::Last,
};

/// An HDF5 file that is open. Cheap to clone; any number of threads may use it at once. One that may be changed is closed with its last
/// handle; [`File::close`] tells what may go wrong then.
#[derive(Clone)]
pub struct File {
    pub(crate) inner: Arc<Inner>,
    pub(crate) others: Arc<Others>,
    _last: Arc<Last>,
}

pub(crate) struct Inner {
    pub(crate) context: Arc<Context>,
    pub(crate) registry: Arc<Registry>,
    /// If they may change.
    pub(crate) datasets: Known,
    /// Chunks in memory.
    pub(crate) shelves: Shelves,
    /// Where new values of variable length go.
    pub(crate) heap: Mutex<GlobalHeap>,
    driver: &'static str,
    /// Of the member with the superblock, if each kind of content has its own.
    size: Option<u64>,
    /// Locked against others, if it is.
    locked: Option<Arc<Local>>,
    /// Absolute, if there is one.
    pub(crate) path: Option<PathBuf>,
}

impl File {
    pub(crate) fn new(inner: Arc<Inner>, others: Arc<Others>) -> File {
        let last = Arc::new(Last(inner.clone(), others.clone()));
        File { inner, others, _last: last }
    }

    /// Opens a file for reading. [`OpenOptions`] can say more.
    pub fn open(path: impl AsRef<Path>) -> Result<File> {
        OpenOptions::new().open(path)
    }

    /// Opens the file on any storage. Other files that it names are looked for where the program runs.
    pub fn open_driver(storage: Arc<dyn Driver>) -> Result<File> {
        OpenOptions::new().open_on(storage)
    }

    /// Makes a file, instead of one that may be there. [`OpenOptions`] can say more.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("hyperslab-create-{}.h5", std::process::id()));
    /// let file = hyperslab::File::create(&path)?;
    /// file.root()?.new_dataset::<i32>().write("numbers", &[1, 2, 3])?;
    /// file.close()?;
    /// assert_eq!(hyperslab::File::open(&path)?.dataset("numbers")?.read::<i32>()?, [1, 2, 3]);
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn create(path: impl AsRef<Path>) -> Result<File> {
        OpenOptions::new().create().truncate().open(path)
    }

    /// Makes a file; an error if it is there.
    pub fn create_new(path: impl AsRef<Path>) -> Result<File> {
        OpenOptions::new().create_new().open(path)
    }

    /// Opens a file for reading and writing.
    pub fn edit(path: impl AsRef<Path>) -> Result<File> {
        OpenOptions::new().read_write().open(path)
    }

    /// Makes a file on any storage, whose old content is lost.
    pub fn create_on(storage: Arc<dyn Driver>) -> Result<File> {
        OpenOptions::new().create().truncate().open_on(storage)
    }

    /// Whether the file may be changed.
    pub fn is_writable(&self) -> bool {
        self.inner.context.file().is_writable()
    }

    /// Writes everything that was changed so far. After this, all of it can be read, whatever happens to this process.
    pub fn flush(&self) -> Result<()> {
        self.delete_abandoned();
        self.inner.shelves.cache.flush()?;
        Ok(self.inner.context.file().flush()?)
    }

    /// Writes everything and says what went wrong, if something does; nothing can be changed afterwards through any handle. Without
    /// this, the last handle that goes closes the file and says nothing.
    pub fn close(self) -> Result<()> {
        self.delete_unnamed();
        self.inner.close()
    }

    /// Does one operation that changes the file, alone. Nothing in it may read as users do: whatever holds changes off would wait for
    /// it forever.
    pub(crate) fn operate<T>(&self, change: impl FnOnce() -> Result<T>) -> Result<T> {
        self.delete_abandoned();
        self.inner.context.file().operate(change)
    }

    /// Where it was opened, unless on other storage.
    pub fn path(&self) -> Option<&Path> {
        self.inner.path.as_deref()
    }

    /// How many bytes the storage has; those of the member with the superblock, if each kind of content has its own.
    pub fn size(&self) -> u64 {
        let file = self.inner.context.file();
        self.inner.size.unwrap_or(file.user_block() + file.end())
    }

    /// How the file lies on storage, as libhdf5 names it: `sec2` for one file, `family` for a row of them, `multi` and `split` for
    /// one of each kind of content.
    pub fn driver(&self) -> &'static str {
        self.inner.driver
    }

    /// The version of the superblock.
    pub fn superblock_version(&self) -> u8 {
        self.inner.context.file().superblock().version
    }

    /// The bytes before the HDF5 part of the file.
    pub fn user_block(&self) -> u64 {
        self.inner.context.file().user_block()
    }

    /// The root group.
    pub fn root(&self) -> Result<Group> {
        self.at(self.root_address()?)?.into_group().map_err(|why| why.of(b"/"))
    }

    pub(crate) fn root_address(&self) -> Result<u64> {
        Ok(self.inner.context.file().root()?)
    }

    /// The object whose header is at an address.
    pub fn at(&self, address: u64) -> Result<Node> {
        let _held = self.inner.context.file().reading();
        Node::new(self, Object::open(&self.inner.context, address)?, &Trip::default())
    }

    /// As [`File::at`], also if the object has messages that must be understood and are not: for who copies them.
    pub(crate) fn at_guarded(&self, address: u64) -> Result<Node> {
        let _held = self.inner.context.file().reading();
        Node::new(self, Object::open_guarded(&self.inner.context, address)?, &Trip::default())
    }

    /// The object that a path leads to, through links of all kinds. It may be in another file.
    pub fn get(&self, path: impl AsRef<[u8]>) -> Result<Node> {
        self.get_from(self.root_address()?, path.as_ref())
    }

    /// As [`File::get`], from the group at an address on.
    pub(crate) fn get_from(&self, start: u64, path: &[u8]) -> Result<Node> {
        self.follow(start, path, &Trip::default())?.object()
    }

    /// The group that a path leads to.
    ///
    /// ```
    /// # let file = hyperslab::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5"))?;
    /// assert_eq!(file.group("station")?.len()?, 6);
    /// assert_eq!(file.group("height").unwrap_err().to_string(), "height is a dataset, not a group");
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn group(&self, path: impl AsRef<[u8]>) -> Result<Group> {
        let path = path.as_ref();
        self.get(path)?.into_group().map_err(|why| why.of(path))
    }

    /// The dataset that a path leads to.
    pub fn dataset(&self, path: impl AsRef<[u8]>) -> Result<Dataset> {
        let path = path.as_ref();
        self.get(path)?.into_dataset().map_err(|why| why.of(path))
    }

    /// The values that are kept outside of datasets and attributes: variable-length data and region references.
    pub fn heap(&self) -> Heap<'_> {
        Heap::new(self)
    }

    /// The width of an address in this file.
    pub fn address_width(&self) -> usize {
        self.inner.context.file().widths().offsets.bytes()
    }
}

impl Inner {
    pub(crate) fn open(storage: Storage, path: Option<PathBuf>, cache: CacheConfig) -> Result<Inner> {
        let Storage { driver, name, size, locked, alone } = storage;
        let mut options = hyperslab_file::OpenOptions::default();
        options.alone = alone;
        let file = OpenFile::open(driver, &options)?;
        Ok(Inner::new(file, name, size, locked, path, cache))
    }

    /// A file that may be changed, made if the options say so.
    pub(crate) fn writable(
        storage: Storage,
        path: Option<PathBuf>,
        access: &Access,
        cache: CacheConfig,
    ) -> Result<Inner> {
        let Storage { driver, name, size, locked, alone } = storage;
        let mut options = hyperslab_file::OpenOptions::default();
        (options.alone, options.placement) = (alone, access.placement);
        let is_new = access.truncate || access.create_new || access.create && driver.len()? == 0;
        if !is_new {
            let file = OpenFile::open_writable(driver, &options, access.low)?;
            let inner = Inner::new(file, name, size, locked, path, cache);
            inner.mend();
            return Ok(inner);
        }
        let mut create = hyperslab_file::CreateOptions::default();
        (create.low, create.user_block, create.space) = (access.low, access.user_block, access.space);
        let inner = Inner::new(OpenFile::create(driver, &create, &options)?, name, size, locked, path, cache);
        let file = inner.context.file();
        let track = access.ordered;
        let object = ObjectSettings { ordered: track, indexed: track, ..untimed() };
        let group = GroupSettings { tracked: track, indexed: track, ..Default::default() };
        let (object, group) = access.root.unwrap_or((object, group));
        file.operate(|| hyperslab_object::new_root(&inner.context, &object, &group))?;
        file.flush()?;
        Ok(inner)
    }

    fn new(
        file: OpenFile,
        name: &'static str,
        size: Option<u64>,
        locked: Option<Arc<Local>>,
        path: Option<PathBuf>,
        cache: CacheConfig,
    ) -> Inner {
        let registry = Arc::new(Registry::default());
        let context = Arc::new(Context::new(file, hyperslab_chunk::unfilter(registry.clone())));
        Inner {
            context,
            registry,
            datasets: Known::default(),
            shelves: Shelves::new(ChunkCache::new(cache)),
            heap: Mutex::default(),
            driver: name,
            size,
            locked,
            path,
        }
    }
}

/// More objects than this are not looked at when a file is opened.
const FEW: usize = 100_000;

impl Inner {
    /// Takes away what a program of ours left that was killed, in a file that is not too large for that. In others, `check::clear` does.
    fn mend(&self) {
        let file = self.context.file();
        let marks = file.marks();
        if marks.writing && marks.whole {
            // If something cannot be read, nothing changes; if the storage fails, the next operation says so.
            let _ = file.operate(|| hyperslab_object::mend(&self.context, FEW));
        }
    }

    fn close(&self) -> Result<()> {
        let written = self.shelves.cache.flush();
        let settled = self.settle_heap();
        self.context.file().close()?;
        self.locked.as_ref().map_or(Ok(()), |locked| locked.unlock())?;
        written?;
        settled
    }

    /// Takes back what was removed from the heap, once the file no longer names it.
    fn settle_heap(&self) -> Result<()> {
        let file = self.context.file();
        if !self.heap.lock().has_removed() {
            return Ok(());
        }
        file.flush()?;
        file.operate(|| Ok(self.heap.lock().settle(file)?))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Whoever wants to know what goes wrong closes the file.
        let _ = self.close();
    }
}

/// The same open file; one that was opened twice is not.
impl PartialEq for File {
    fn eq(&self, other: &File) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("File").field("path", &self.inner.path).finish()
    }
}
