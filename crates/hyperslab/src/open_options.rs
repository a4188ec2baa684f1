//! How a file, and the files that it leads to, are opened.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use hyperslab_format::{message::Target, version::Low};

use hyperslab_base::ErrorKind;
use hyperslab_driver::{Driver, Transfer as TransferOptions};
use hyperslab_file::{CreateOptions, Durability, FileSpace, Placement};
use hyperslab_object::{GroupSettings, ObjectSettings};

use crate::{
    CacheConfig, Error, ExternalAccess, File, Locking, Result,
    engine::Inner,
    opening::Opening,
    others::Others,
    storage::{Members, Storage},
};

/// Says what a user-defined link stands for, from what its class keeps in it. The answer is a link of another kind.
pub type LinkResolver = dyn Fn(&[u8]) -> std::result::Result<Target, String> + Send + Sync;

/// Pages of metadata are not smaller.
const SMALLEST_PAGE: usize = 512;

/// How far a virtual dataset reaches that grows with its sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VirtualView {
    /// To the last value that any source has; what others lack before it is the fill value.
    #[default]
    LastAvailable,
    /// To where the first source ends.
    FirstMissing,
}

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
    pub(crate) view: VirtualView,
    pub(crate) gap: u64,
    pub(crate) virtual_prefix: Option<PathBuf>,
    pub(crate) link_prefix: Option<PathBuf>,
    pub(crate) raw_prefix: Option<PathBuf>,
    pub(crate) external: ExternalAccess,
    resolvers: HashMap<u8, Arc<LinkResolver>>,
    cache: Option<CacheConfig>,
    pub(crate) access: Access,
}

/// How the file itself is opened; those that it leads to are only read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Access {
    pub(crate) write: bool,
    pub(crate) create: bool,
    pub(crate) create_new: bool,
    pub(crate) truncate: bool,
    pub(crate) locking: Locking,
    pub(crate) swmr: bool,
    pub(crate) special: bool,
    pub(crate) one_file: bool,
    /// How a new file is spread over several.
    pub(crate) members: Option<Members>,
    pub(crate) low: Low,
    pub(crate) user_block: u64,
    pub(crate) ordered: bool,
    pub(crate) space: FileSpace,
    pub(crate) placement: Placement,
    pub(crate) durability: Durability,
    /// Bytes of metadata pages in memory, if they are not as many as usual.
    pub(crate) page_buffer: Option<usize>,
    /// What goes with each request to the storage.
    pub(crate) transfer: TransferOptions,
    /// What the root group of a new file is like, if it is not as usual.
    pub(crate) root: Option<(ObjectSettings, GroupSettings)>,
}

impl Access {
    /// What a new file is like.
    pub(crate) fn new_file(&self) -> CreateOptions {
        let mut create = CreateOptions::default();
        (create.low, create.user_block, create.space) = (self.low, self.user_block, self.space);
        create.members = self.members.as_ref().map(Members::files);
        create
    }

    /// Sets how large pages of metadata are, how many are kept, and what goes with each request to the storage.
    pub(crate) fn requests(&self, options: &mut hyperslab_file::OpenOptions) {
        options.transfer.clone_from(&self.transfer);
        if let Some(bytes) = self.page_buffer {
            options.page_size = options.page_size.min(bytes).max(SMALLEST_PAGE);
            options.pages = (bytes / options.page_size).max(1);
        }
    }

    /// Refuses options that no new file can have, if one may be made.
    pub(crate) fn check(&self) -> Result<()> {
        if self.create || self.create_new || self.truncate { Ok(self.new_file().check()?) } else { Ok(()) }
    }
}

/// Writing.
///
/// ```
/// use hyperslab::{Low, OpenOptions};
/// # let path = std::env::temp_dir().join(format!("hyperslab-options-{}.h5", std::process::id()));
/// let file = OpenOptions::new().create().truncate().low(Low::V110).user_block(512).open(&path)?;
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
        self.access.write = true;
        self
    }

    /// The file may be changed, and is made if it is not there.
    #[must_use]
    pub fn create(mut self) -> OpenOptions {
        self.access.create = true;
        self.read_write()
    }

    /// The file is made; an error if it is there.
    #[must_use]
    pub fn create_new(mut self) -> OpenOptions {
        self.access.create_new = true;
        self.read_write()
    }

    /// The file begins empty; what it had is lost.
    #[must_use]
    pub fn truncate(mut self) -> OpenOptions {
        self.access.truncate = true;
        self.read_write()
    }

    /// Which versions new structures have: those that the given library can read, at least. The newer, the smaller and faster; any
    /// library can read [`Low::Earliest`].
    #[must_use]
    pub fn low(mut self, low: Low) -> OpenOptions {
        self.access.low = low;
        self
    }

    /// A new file has so many bytes in front that are the user's: none, 512, or twice, four times … as many.
    #[must_use]
    pub fn user_block(mut self, bytes: u64) -> OpenOptions {
        self.access.user_block = bytes;
        self
    }

    /// How the space of a new file is managed: in pages, say, or so that free space is remembered.
    #[must_use]
    pub fn file_space(mut self, space: FileSpace) -> OpenOptions {
        self.access.space = space;
        self
    }

    /// Where new pieces of the file go: aligned, say.
    #[must_use]
    pub fn placement(mut self, placement: Placement) -> OpenOptions {
        self.access.placement = placement;
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
        self.access.durability = durability;
        self
    }

    /// Whether the root group of a new file keeps the order in which its links and attributes are made.
    #[must_use]
    pub fn track_order(mut self, track: bool) -> OpenOptions {
        self.access.ordered = track;
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
        self.access.locking = locking;
        self
    }

    /// As [`Locking::Disabled`]. Other storage than files cannot be locked: with this, storage that a crash left marked as open is opened.
    #[must_use]
    pub fn unlocked(self) -> OpenOptions {
        self.locking(Locking::Disabled)
    }
}

impl OpenOptions {
    /// What [`File::open`] does.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// The file may be read while a SWMR writer has it open.
    #[must_use]
    pub fn swmr_read(mut self) -> OpenOptions {
        self.access.swmr = true;
        self
    }

    /// Also devices are opened. Without this, only regular files are: a path may lead to a pipe, where a read would wait forever.
    #[must_use]
    pub fn special_files(mut self) -> OpenOptions {
        self.access.special = true;
        self
    }

    /// The file is one, also if its name has a `%d`, which means a family of files without this.
    #[must_use]
    pub fn one_file(mut self) -> OpenOptions {
        self.access.one_file = true;
        self
    }

    /// How far virtual datasets reach that grow with their sources.
    #[must_use]
    pub fn virtual_view(mut self, view: VirtualView) -> OpenOptions {
        self.view = view;
        self
    }

    /// How many numbered sources of a virtual dataset may be missing before one that is there. None if it shows what comes before
    /// the first that is missing.
    #[must_use]
    pub fn virtual_gap(mut self, missing: u64) -> OpenOptions {
        self.gap = missing;
        self
    }

    /// The directory in which sources of virtual datasets are looked for; `${ORIGIN}` in front stands for that of the file. The
    /// environment's `HDF5_VDS_PREFIX` comes before it.
    #[must_use]
    pub fn virtual_prefix(mut self, directory: impl Into<PathBuf>) -> OpenOptions {
        self.virtual_prefix = Some(directory.into());
        self
    }

    /// The directory in which files of external links are looked for. The environment's `HDF5_EXT_PREFIX` comes before it.
    #[must_use]
    pub fn link_prefix(mut self, directory: impl Into<PathBuf>) -> OpenOptions {
        self.link_prefix = Some(directory.into());
        self
    }

    /// The directory of external files with raw data; `${ORIGIN}` in front stands for that of the file. The environment's
    /// `HDF5_EXTFILE_PREFIX` comes before it.
    #[must_use]
    pub fn raw_prefix(mut self, directory: impl Into<PathBuf>) -> OpenOptions {
        self.raw_prefix = Some(directory.into());
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
        self.external = access;
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
        self.cache = Some(cache);
        self
    }

    /// How many bytes of metadata the file keeps in memory as pages: 16 MiB if nothing is said. Where storage is slow, more pages save requests; the
    /// smaller the buffer, the less a request for one small piece of metadata brings.
    #[must_use]
    pub fn page_buffer(mut self, bytes: usize) -> OpenOptions {
        self.access.page_buffer = Some(bytes);
        self
    }

    /// What goes with each request to the storage: whether the processes of a group make it together, how many parts a vector has at most, where buffers
    /// are. Drivers look at it; those of this library at the limit of a vector.
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
        self.access.transfer = transfer;
        self
    }

    /// How the chunk caches of files are made.
    pub(crate) fn cache_config(&self) -> CacheConfig {
        self.cache.unwrap_or_else(CacheConfig::from_environment)
    }

    /// What user-defined links of a class, 65 to 255, stand for.
    #[must_use]
    pub fn user_link(
        mut self,
        class: u8,
        resolver: impl Fn(&[u8]) -> std::result::Result<Target, String> + Send + Sync + 'static,
    ) -> OpenOptions {
        self.resolvers.insert(class, Arc::new(resolver));
        self
    }

    /// Opens the file.
    pub fn open(self, path: impl AsRef<Path>) -> Result<File> {
        Others::new(self).open_first(path.as_ref())
    }

    /// Opens the file on any storage; [`File::create_on`] is short for a new one.
    pub fn open_on(self, storage: Arc<dyn Driver>) -> Result<File> {
        let access = &self.access;
        let alone = access.locking == Locking::Disabled;
        let storage = Storage { driver: storage, name: "other", size: None, hold: None, alone };
        let inner = match access.write {
            true => Inner::writable(storage, access, self.cache_config())?,
            false => Inner::open(storage, access, self.cache_config())?,
        };
        Ok(File::of(Opening::of_storage(inner), &Others::new(self)))
    }

    /// A link as one of a kind that is not the user's.
    pub(crate) fn stands_for(&self, target: Target, link: &[u8]) -> Result<Target> {
        let Target::User { class, data } = target else { return Ok(target) };
        let fail = |why: String| {
            let link = String::from_utf8_lossy(link).into_owned();
            Error::Link { link, why, kind: ErrorKind::Unsupported }
        };
        let resolver = self.resolvers.get(&class);
        let resolver =
            resolver.ok_or_else(|| fail(format!("the program does not say what links of class {class} stand for")))?;
        match resolver(&data).map_err(fail)? {
            Target::User { .. } => Err(fail(format!("class {class} stands for another user-defined link"))),
            target => Ok(target),
        }
    }
}

impl std::fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenOptions").field("view", &self.view).field("gap", &self.gap).finish_non_exhaustive()
    }
}
