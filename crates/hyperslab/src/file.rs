//! An open file.

use std::{path::Path, sync::Arc};

use hyperslab_driver::Driver;
use hyperslab_file::Writing;
use hyperslab_object::Object;

use crate::{
    Dataset, Error, Group, Heap, Node, OpenOptions, Result, engine::Inner, opening::Opening, others::Others, trip::Trip,
};

/// An HDF5 file that is open. Cheap to clone; any number of threads may use it at once. One that may be changed is closed with its last
/// handle; [`File::close`] tells what may go wrong then.
///
/// A process that opens a file again, by whatever path, shares what it has of it: each of the two sees at once what the other changes. As in
/// libhdf5, a file that is open for writing can be opened for reading and writing, one that is open for reading only for reading, and none can be made
/// anew while it is open.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("hyperslab-shared-{}.h5", std::process::id()));
/// use hyperslab::File;
/// let writer = File::create(&path)?;
/// writer.root()?.new_dataset::<i32>().write("numbers", &[1, 2, 3])?;
/// let reader = File::open(&path)?;
/// assert_eq!(reader.dataset("numbers")?.read::<i32>()?, [1, 2, 3]); // nothing was flushed
/// assert!(File::create(&path).is_err());
/// # drop((reader, writer));
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone)]
pub struct File {
    pub(crate) inner: Arc<Inner>,
    pub(crate) opening: Arc<Opening>,
    pub(crate) others: Arc<Others>,
    /// Why the file cannot be changed through this handle, which another file led to, though this process has it open for writing.
    pub(crate) refuses: Option<Arc<str>>,
}

impl File {
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
        self.inner.is_writable() && self.refuses.is_none()
    }

    /// Refuses changes through this handle, before anything is done.
    pub(crate) fn check_changeable(&self) -> Result<()> {
        self.check_refused()?;
        Ok(self.inner.context.file().check_writable()?)
    }

    fn check_refused(&self) -> Result<()> {
        self.refuses.as_ref().map_or(Ok(()), |why| Err(Error::Forbidden(why.to_string())))
    }

    /// Writes everything that was changed so far. After this, all of it can be read, whatever happens to this process; and to the power, if
    /// the [durability](OpenOptions::durability) says so. If chunks of datasets cannot be written, everything else is, and the error names one
    /// of them: their values stay in memory, and the next flush tries again.
    pub fn flush(&self) -> Result<()> {
        self.delete_abandoned();
        self.inner.flush().map_err(|why| self.locate(why))
    }

    /// Writes everything and says what went wrong, if something does. Without this, the last handle that goes closes the file and says nothing.
    ///
    /// If this process opened the file several times, the last opening that ends closes it. Then it waits for other threads that are writing, and
    /// nothing can be changed afterwards through any handle. The file is closed, and other processes may open it, also if this is an error.
    pub fn close(self) -> Result<()> {
        self.opening.close().map_err(|why| self.locate(why))
    }

    /// Does one operation that changes the file, alone. Runs under the exclusive operation lock: public read methods take the same lock and
    /// would deadlock.
    pub(crate) fn operate<T>(&self, change: impl FnOnce() -> Result<T>) -> Result<T> {
        let _writing = self.writing()?;
        self.delete_abandoned();
        self.inner.context.file().operate(change).map_err(|why| self.locate(why))
    }

    /// A change that closing waits for; an error if there can be none.
    pub(crate) fn writing(&self) -> Result<Writing<'_>> {
        self.check_refused()?;
        Ok(self.inner.context.file().writing()?)
    }

    /// Where it was opened, unless on other storage.
    pub fn path(&self) -> Option<&Path> {
        self.opening.path()
    }

    /// For the engine itself: it keeps nothing open.
    pub(crate) fn within(inner: &Arc<Inner>) -> File {
        File::of(Opening::within(inner), &Others::new(OpenOptions::new()))
    }

    /// Of an opening, with the files that it leads to.
    pub(crate) fn of(opening: Arc<Opening>, others: &Arc<Others>) -> File {
        File { inner: opening.inner().clone(), opening, others: others.clone(), refuses: None }
    }

    /// How many bytes the storage has; those of the member with the superblock, if each kind of content has its own.
    pub fn size(&self) -> u64 {
        let file = self.inner.context.file();
        let end = if self.inner.size.is_some() { file.own_end() } else { file.end() };
        file.user_block() + end
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
        self.node(|| Ok(Object::open(&self.inner.context, address)?))
    }

    /// As [`File::at`], also if the object has messages that must be understood and are not: for who copies them.
    pub(crate) fn at_guarded(&self, address: u64) -> Result<Node> {
        self.node(|| Ok(Object::open_guarded(&self.inner.context, address)?))
    }

    fn node(&self, open: impl FnOnce() -> Result<Object>) -> Result<Node> {
        let held = self.inner.context.file().reading();
        let node = self.read_current(|| Node::new(self, open()?))?;
        drop(held);
        node.grown(&Trip::default())
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

/// The same open file, also if it was opened twice.
impl PartialEq for File {
    fn eq(&self, other: &File) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("File").field("path", &self.path()).finish()
    }
}
