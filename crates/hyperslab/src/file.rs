//! An open file.

use std::{path::Path, sync::Arc};

use hyperslab_driver::Driver;
use hyperslab_dtype::Datatype;
use hyperslab_session::Session;

use crate::{CacheStatistics, Dataset, Group, Heap, Node, OpenOptions, Referent, Result, TransferOptions};

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
#[derive(Clone, PartialEq)]
pub struct File {
    pub(crate) session: Session,
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
        self.session.is_writable()
    }

    /// Writes everything that was changed so far. After this, all of it can be read, whatever happens to this process; and to the power, if
    /// the [durability](OpenOptions::durability) says so. If chunks of datasets cannot be written, everything else is, and the error names one
    /// of them: their values stay in memory, and the next flush tries again.
    pub fn flush(&self) -> Result<()> {
        self.session.flush()
    }

    /// As [`File::flush`]. All requests of it go to the storage with these options in place of those that the file was opened with: what is written, how long
    /// the storage is to be, and that it is to be durable.
    ///
    /// ```
    /// use hyperslab::{TransferOptions, driver::Mode};
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// file.root()?.create_group("run")?;
    /// file.flush_with(&TransferOptions::default().with_mode(Mode::Collective))?;
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn flush_with(&self, options: &TransferOptions) -> Result<()> {
        self.session.flush_with(options)
    }

    /// Writes everything and says what went wrong, if something does. Without this, the last handle that goes closes the file and says nothing.
    ///
    /// If this process opened the file several times, the last opening that ends closes it. Then it waits for other threads that are writing, and
    /// nothing can be changed afterwards through any handle. The file is closed, and other processes may open it, also if this is an error.
    pub fn close(self) -> Result<()> {
        self.session.close()
    }

    /// Where it was opened, unless on other storage.
    pub fn path(&self) -> Option<&Path> {
        self.session.path()
    }

    /// How many bytes the storage has; those of the member with the superblock, if each kind of content has its own.
    pub fn size(&self) -> u64 {
        self.session.size()
    }

    /// How the file lies on storage, as libhdf5 names it: `sec2` for one file, `family` for a row of them, `multi` and `split` for
    /// one of each kind of content.
    pub fn driver(&self) -> &'static str {
        self.session.driver()
    }

    /// The version of the superblock.
    pub fn superblock_version(&self) -> u8 {
        self.session.file().superblock_version()
    }

    /// The bytes before the HDF5 part of the file.
    pub fn user_block(&self) -> u64 {
        self.session.file().user_block()
    }

    /// The root group.
    pub fn root(&self) -> Result<Group> {
        self.session.root_group().map(Group::of)
    }

    /// The object whose header is at an address.
    pub fn at(&self, address: u64) -> Result<Node> {
        self.session.at(address).map(Node::of)
    }

    /// The object that a path leads to, through links of all kinds. It may be in another file.
    pub fn get(&self, path: impl AsRef<[u8]>) -> Result<Node> {
        self.session.get(self.session.root()?, path.as_ref()).map(Node::of)
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
        self.session.heap()
    }

    /// What a reference refers to, given its type and its bytes; nothing if it is null.
    ///
    /// To follow many references of a file, ask one [`File::heap`]: it reads what they share once.
    pub fn dereference(&self, datatype: &Datatype, bytes: &[u8]) -> Result<Option<Referent>> {
        self.heap().dereference(datatype, bytes)
    }

    /// What the chunk cache did so far, and how much memory it has.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let rows = file.root()?.new_dataset::<i32>().shape([64, 64]).chunks([64, 64]).deflate(1).create("rows")?;
    /// for row in 0..64 {
    ///     rows.write_slice(hyperslab::s![row, ..], &[row; 64])?;
    /// }
    /// assert_eq!(rows.read_slice::<i32>(hyperslab::s![7, 5])?, [7]);
    /// let seen = file.cache_statistics();
    /// assert!(seen.bytes == 0 || (seen.hits, seen.misses, seen.written) == (64, 1, 0));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn cache_statistics(&self) -> CacheStatistics {
        self.session.cache_statistics()
    }

    /// Counts anew from now on what the chunk cache does, for the file and for each of its datasets. The size that it has now is the most that it took.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let rows = file.root()?.new_dataset::<i32>().shape([64, 64]).chunks([64, 64]).deflate(1).create("rows")?;
    /// rows.write(&[7; 64 * 64])?;
    /// file.reset_cache_statistics();
    /// rows.read_slice::<i32>(hyperslab::s![7, ..])?;
    /// let seen = file.cache_statistics();
    /// assert_eq!((seen.hits + seen.misses + seen.bypasses, seen.written), (1, 0));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn reset_cache_statistics(&self) {
        self.session.reset_cache_statistics();
    }

    /// The width of an address in this file.
    pub fn address_width(&self) -> usize {
        self.session.file().widths().offsets.bytes()
    }
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("File").field("path", &self.path()).finish()
    }
}
