//! An open file.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use hyperslab_driver::Driver;
use hyperslab_file::OpenFile;
use hyperslab_filter::Registry;
use hyperslab_object::{Context, Object};

use crate::{Dataset, Group, Heap, Node, OpenOptions, Result, others::Others, storage::Storage, trip::Trip};

/// An HDF5 file, open for reading. Cheap to clone; any number of threads may use it at once.
#[derive(Clone)]
pub struct File {
    pub(crate) inner: Arc<Inner>,
    pub(crate) others: Arc<Others>,
}

pub(crate) struct Inner {
    pub(crate) context: Context,
    pub(crate) registry: Arc<Registry>,
    driver: &'static str,
    /// Of the member with the superblock, if each kind of content has its own.
    size: Option<u64>,
    /// Absolute, if there is one.
    pub(crate) path: Option<PathBuf>,
}

impl File {
    /// Opens a file for reading. [`OpenOptions`] can say more.
    pub fn open(path: impl AsRef<Path>) -> Result<File> {
        OpenOptions::new().open(path)
    }

    pub(crate) fn with_options(path: &Path, options: OpenOptions) -> Result<File> {
        Others::new(options).open(path)
    }

    /// Opens the file on any storage. Other files that it names are looked for where the program runs.
    pub fn open_driver(storage: Arc<dyn Driver>) -> Result<File> {
        let inner = Inner::open(Storage { driver: storage, name: "other", size: None }, None)?;
        Ok(File { inner: Arc::new(inner), others: Others::new(OpenOptions::new()) })
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
        Node::new(self, Object::open(&self.inner.context, address)?, &Trip::default())
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
    pub(crate) fn open(storage: Storage, path: Option<PathBuf>) -> Result<Inner> {
        let Storage { driver, name, size } = storage;
        let registry = Arc::new(Registry::default());
        let file = OpenFile::open(driver, &hyperslab_file::OpenOptions::default())?;
        let context = Context::new(file, hyperslab_chunk::unfilter(registry.clone()));
        Ok(Inner { context, registry, driver: name, size, path })
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
