//! How a file, and the files that it leads to, are opened.

mod members;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use hyperslab_driver::{Driver, PageStrategy, Transfer as TransferOptions};
use hyperslab_file::{Durability, FileSpace, Placement, Retry};
use hyperslab_format::{message::Target, version::LibVersion};
use hyperslab_session::{Options, Session};

use crate::{CacheConfig, ExternalAccess, File, Locking, Result, VirtualView};

/// How a file, and the files that it leads to, are opened: for reading, unless more is said.
///
/// ```no_run
/// use hyperslab::{OpenOptions, Target, VirtualView};
/// let file = OpenOptions::new()
///     .virtual_view(VirtualView::FirstMissing)
///     .link_prefix("/data/2024")
///     .user_link(187, |data| Ok(Target::Soft(data.to_vec())))
///     .open("run.h5")?;
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct OpenOptions {
    options: Options,
}

/// Writing.
///
/// ```
/// use hyperslab::{LibVersion, OpenOptions};
/// # let path = std::env::temp_dir().join(format!("hyperslab-options-{}.h5", std::process::id()));
/// let file = OpenOptions::new().create().truncate().libver_min(LibVersion::V110).user_block(512).open(&path)?;
/// assert_eq!(file.superblock_version(), 3);
/// file.close()?;
/// let file = OpenOptions::new().read_write().open(&path)?;
/// file.root()?.create_group("a/b/c")?;
/// # file.close()?;
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), hyperslab::Error>(())
/// ```
impl OpenOptions {
    /// The file may be changed. One that is empty becomes an HDF5 file without objects, as with libhdf5.
    #[must_use]
    pub fn read_write(mut self) -> OpenOptions {
        self.options.access.write = true;
        self
    }

    /// The file may be changed, and is made if it is not there.
    #[must_use]
    pub fn create(mut self) -> OpenOptions {
        self.options.access.create = true;
        self.read_write()
    }

    /// The file is made; an error if it is there.
    #[must_use]
    pub fn create_new(mut self) -> OpenOptions {
        self.options.access.create_new = true;
        self.read_write()
    }

    /// The file begins empty; what it had is lost.
    #[must_use]
    pub fn truncate(mut self) -> OpenOptions {
        self.options.access.truncate = true;
        self.read_write()
    }

    /// Which versions new structures have: those that the given library can read, at least. The newer, the smaller and faster; any
    /// library can read [`LibVersion::Earliest`].
    #[must_use]
    pub fn libver_min(mut self, libver_min: LibVersion) -> OpenOptions {
        self.options.access.libver_min = libver_min;
        self
    }

    /// The newest library whose structures may be written; by default there is no bound. Structured chunks ([`NewDataset::sparse`](crate::NewDataset::sparse),
    /// [`vlen_in_chunks`](crate::NewDataset::vlen_in_chunks)), which no released library reads, need [`LibVersion::NEWEST`]: with an older bound they are refused, also in
    /// copies, and the file stays as it is. Nothing else that is written depends on it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use hyperslab::{LibVersion, OpenOptions, driver::Memory};
    /// let file = OpenOptions::new().create().libver_max(LibVersion::V110).open_on(Arc::new(Memory::new()))?;
    /// let sparse = file.root()?.new_dataset::<u8>().shape([100]).chunks([10]).sparse();
    /// assert!(sparse.create("x").unwrap_err().to_string().contains("newer than 1.10"));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn libver_max(mut self, libver_max: impl Into<Option<LibVersion>>) -> OpenOptions {
        self.options.access.libver_max = libver_max.into();
        self
    }

    /// A new file has so many bytes in front that are the user's: none, 512, or twice, four times … as many.
    #[must_use]
    pub fn user_block(mut self, bytes: u64) -> OpenOptions {
        self.options.access.user_block = bytes;
        self
    }

    /// How the space of a new file is managed: in pages, say, or so that free space is remembered.
    #[must_use]
    pub fn file_space(mut self, space: FileSpace) -> OpenOptions {
        self.options.access.space = space;
        self
    }

    /// Where new pieces of the file go: aligned, say.
    #[must_use]
    pub fn placement(mut self, placement: Placement) -> OpenOptions {
        self.options.access.placement = placement;
        self
    }

    /// What of changes outlives a killed process or a power failure: [`Durability::None`] unless said otherwise.
    ///
    /// ```
    /// use hyperslab::{Durability, OpenOptions};
    /// # let path = std::env::temp_dir().join(format!("hyperslab-durability-{}.h5", std::process::id()));
    /// let file = OpenOptions::new().create().durability(Durability::Full).open(&path)?;
    /// file.root()?.new_dataset::<i32>().write("numbers", &[1, 2, 3])?;
    /// file.flush()?; // from here on, no power failure takes the numbers away
    /// # file.close()?;
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> OpenOptions {
        self.options.access.durability = durability;
        self
    }

    /// Whether the root group of a new file keeps the order in which its links and attributes are made.
    #[must_use]
    pub fn track_order(mut self, track: bool) -> OpenOptions {
        self.options.access.ordered = track;
        self
    }

    /// Whether the file is locked against other processes while it is open, and what if the file system has no locks.
    ///
    /// ```
    /// use hyperslab::{Locking, OpenOptions};
    /// # let path = std::env::temp_dir().join(format!("hyperslab-locking-{}.h5", std::process::id()));
    /// # hyperslab::File::create(&path)?.close()?;
    /// let file = OpenOptions::new().locking(Locking::Disabled).open(&path)?;
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn locking(mut self, locking: Locking) -> OpenOptions {
        self.options.access.locking = locking;
        self
    }

    /// As [`Locking::Disabled`]. Other storage than files cannot be locked: with this, storage that a crash left marked as open is opened.
    #[must_use]
    pub fn unlocked(self) -> OpenOptions {
        self.locking(Locking::Disabled)
    }
}

impl OpenOptions {
    /// How the file itself is opened.
    pub(crate) fn access(&self) -> &hyperslab_session::Access {
        &self.options.access
    }

    /// How the storage of the file is asked.
    pub(crate) fn requests(&self) -> hyperslab_file::OpenOptions {
        let mut requests = hyperslab_file::OpenOptions::default();
        self.options.access.requests(&mut requests);
        requests
    }

    /// What [`File::open`] does.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// The file may be read while a SWMR writer has it open.
    #[must_use]
    pub fn swmr_read(mut self) -> OpenOptions {
        self.options.access.swmr = true;
        self
    }

    /// Also devices are opened. Without this, only regular files are: a path may lead to a pipe, where a read would wait forever.
    #[must_use]
    pub fn special_files(mut self) -> OpenOptions {
        self.options.access.special = true;
        self
    }

    /// The file is one, also if its name has a `%d`, which means a family of files without this.
    #[must_use]
    pub fn one_file(mut self) -> OpenOptions {
        self.options.access.one_file = true;
        self
    }

    /// How far virtual datasets reach that grow with their sources.
    #[must_use]
    pub fn virtual_view(mut self, view: VirtualView) -> OpenOptions {
        self.options.view = view;
        self
    }

    /// How many numbered sources of a virtual dataset may be missing before one that is there. None if it shows what comes before
    /// the first that is missing.
    #[must_use]
    pub fn virtual_gap(mut self, missing: u64) -> OpenOptions {
        self.options.gap = missing;
        self
    }

    /// The directory in which sources of virtual datasets are looked for; `${ORIGIN}` in front stands for that of the file. The
    /// environment's `HDF5_VDS_PREFIX` comes before it.
    #[must_use]
    pub fn virtual_prefix(mut self, directory: impl Into<PathBuf>) -> OpenOptions {
        self.options.virtual_prefix = Some(directory.into());
        self
    }

    /// The directory in which files of external links are looked for. The environment's `HDF5_EXT_PREFIX` comes before it.
    #[must_use]
    pub fn link_prefix(mut self, directory: impl Into<PathBuf>) -> OpenOptions {
        self.options.link_prefix = Some(directory.into());
        self
    }

    /// The directory of external files with raw data; `${ORIGIN}` in front stands for that of the file. The environment's
    /// `HDF5_EXTFILE_PREFIX` comes before it.
    #[must_use]
    pub fn raw_prefix(mut self, directory: impl Into<PathBuf>) -> OpenOptions {
        self.options.raw_prefix = Some(directory.into());
        self
    }

    /// Which other files the file may lead to.
    ///
    /// ```no_run
    /// use hyperslab::{ExternalAccess, OpenOptions};
    /// let file = OpenOptions::new().external_access(ExternalAccess::Inside).open("from-elsewhere.h5")?;
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn external_access(mut self, access: ExternalAccess) -> OpenOptions {
        self.options.external = access;
        self
    }

    /// How large the chunk cache of each file is, and who leaves it first. Without this, the environment's `HYPERSLAB_CACHE_BYTES` says how
    /// large it is.
    ///
    /// ```
    /// use hyperslab::{CacheConfig, CachePolicy, OpenOptions};
    /// # let path = std::env::temp_dir().join(format!("hyperslab-cache-options-{}.h5", std::process::id()));
    /// let cache = CacheConfig::default().bytes(256 << 20).policy(CachePolicy::S3Fifo);
    /// let file = OpenOptions::new().create().cache(cache).open(&path)?;
    /// # file.close()?;
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn cache(mut self, cache: CacheConfig) -> OpenOptions {
        self.options.cache = Some(cache);
        self
    }

    /// How many bytes of metadata the file keeps in memory as pages: 8 MiB if nothing is said. Where storage is slow, more pages save requests; the
    /// smaller the buffer, the less a request for one small piece of metadata brings.
    #[must_use]
    pub fn page_buffer(mut self, bytes: usize) -> OpenOptions {
        self.options.access.page_buffer = Some(bytes);
        self
    }

    /// How values are read by means of the pages of the [page buffer](OpenOptions::page_buffer). If nothing is said they have no pages
    /// ([`PageStrategy::Direct`]): the chunk cache keeps them, and each byte is copied once. Pages of values help where storage is slow and small
    /// pieces that lie near each other are read, such as many small chunks or contiguous datasets. What is written goes to the storage at once, and
    /// pages that are there get the same bytes.
    ///
    /// ```
    /// use hyperslab::{OpenOptions, PageStrategy};
    /// # let path = std::env::temp_dir().join(format!("hyperslab-page-strategy-{}.h5", std::process::id()));
    /// let options = OpenOptions::new().page_buffer(32 << 20).page_strategy(PageStrategy::Fit);
    /// let file = options.create().open(&path)?;
    /// # file.close()?;
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn page_strategy(mut self, strategy: PageStrategy) -> OpenOptions {
        self.options.access.page_strategy = Some(strategy);
        self
    }

    /// How many percent of the page buffer pages of metadata, and pages of values, keep while pages of the other kind come. It has no meaning as long as values
    /// have [no pages](OpenOptions::page_strategy).
    #[must_use]
    pub fn page_reserve(mut self, metadata: u8, values: u8) -> OpenOptions {
        self.options.access.page_reserve = (metadata, values);
        self
    }

    /// What memory has of an object leaves when its last handle is dropped: its chunks, the index of its chunks, its blocks of metadata. What was changed leaves after the next
    /// flush. Of a file that is only read, bytes of metadata are in the pages of the [page buffer](OpenOptions::page_buffer), which belong to no object: these stay until
    /// their memory is needed. Without this, they stay until their memory is needed, so that an object that is opened again is there. It is for programs that look at each of very many objects
    /// once.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("hyperslab-evict-{}.h5", std::process::id()));
    /// # let new = hyperslab::File::create(&path)?;
    /// # new.root()?.new_dataset::<i32>().chunks([500]).deflate(1).write("numbers", &[7; 1000])?;
    /// # new.close()?;
    /// let file = hyperslab::OpenOptions::new().evict_on_close().open(&path)?;
    /// assert_eq!(file.dataset("numbers")?.read_slice::<i32>(hyperslab::s![..10])?, [7; 10]);
    /// file.root()?; // the next look at the file evicts what was closed before
    /// assert_eq!(file.cache_statistics().bytes, 0);
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn evict_on_close(mut self) -> OpenOptions {
        self.options.access.evict_on_close = true;
        self
    }

    /// What goes with each request to the storage: whether the processes of a group make it together, how many parts a vector has at most, where buffers
    /// are. Drivers look at it; those of this library at the limit of a vector. [`Dataset::with_transfer`](crate::Dataset::with_transfer) and
    /// [`File::flush_with`] give other options to single calls.
    ///
    /// ```
    /// use hyperslab::{OpenOptions, TransferOptions};
    /// # let path = std::env::temp_dir().join(format!("hyperslab-transfer-{}.h5", std::process::id()));
    /// let file = OpenOptions::new().create().transfer(TransferOptions::default().with_vector_limit(1024)).open(&path)?;
    /// # file.close()?;
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn transfer(mut self, transfer: TransferOptions) -> OpenOptions {
        self.options.access.transfer = transfer;
        self
    }

    /// How often a block of metadata is read whose signature, length or checksum is wrong, and how long the thread sleeps in between: another process may be writing it.
    /// By default each block is read once.
    ///
    /// ```
    /// use std::{sync::Arc, time::Duration};
    /// use hyperslab::{File, OpenOptions, Retry, driver::{Memory, Missing, Torn}};
    /// let storage = Arc::new(Torn::new(Memory::new()));
    /// File::create_on(storage.clone())?.close()?;
    /// // The next read meets a write of the first bytes.
    /// storage.arm(0, Missing::Front);
    /// assert!(OpenOptions::new().open_on(storage.clone()).is_err());
    /// storage.arm(0, Missing::Front);
    /// let retry = Retry { attempts: 3, pause: Duration::from_millis(1) };
    /// assert!(OpenOptions::new().retry(retry).open_on(storage).is_ok());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> OpenOptions {
        self.options.access.retry = Some(retry);
        self
    }

    /// What user-defined links of a class, 65 to 255, stand for.
    #[must_use]
    pub fn user_link(
        mut self,
        class: u8,
        resolver: impl Fn(&[u8]) -> std::result::Result<Target, String> + Send + Sync + 'static,
    ) -> OpenOptions {
        self.options.resolvers.insert(class, Arc::new(resolver));
        self
    }

    /// Opens the file.
    pub fn open(self, path: impl AsRef<Path>) -> Result<File> {
        Ok(File { session: Session::open(path.as_ref(), self.options)? })
    }

    /// Opens the file on any storage; [`File::create_on`] is short for a new one.
    pub fn open_on(self, storage: Arc<dyn Driver>) -> Result<File> {
        Ok(File { session: Session::open_on(storage, self.options)? })
    }
}

impl std::fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenOptions")
            .field("view", &self.options.view)
            .field("gap", &self.options.gap)
            .finish_non_exhaustive()
    }
}
