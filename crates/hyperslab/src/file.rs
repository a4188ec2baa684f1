//! An open file.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use hyperslab_driver::Driver;
use hyperslab_file::{OpenFile, OpenOptions};
use hyperslab_filter::Registry;
use hyperslab_object::{Context, Found, Object};

use crate::{Dataset, Error, Group, Heap, Node, Result, storage};

/// An HDF5 file, open for reading. Cheap to clone; any number of threads may use it at once.
#[derive(Clone)]
pub struct File {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) context: Context,
    pub(crate) registry: Arc<Registry>,
    driver: &'static str,
    size: u64,
    pub(crate) path: Option<PathBuf>,
}

impl File {
    /// Opens a file for reading.
    pub fn open(path: impl AsRef<Path>) -> Result<File> {
        let path = path.as_ref();
        let (storage, driver) = storage::open(path)?;
        Self::on(storage, driver, Some(path.to_path_buf()))
    }

    /// Opens the file on any storage.
    pub fn open_driver(storage: Arc<dyn Driver>) -> Result<File> {
        Self::on(storage, "other", None)
    }

    fn on(storage: Arc<dyn Driver>, driver: &'static str, path: Option<PathBuf>) -> Result<File> {
        let size = storage.len()?;
        let registry = Arc::new(Registry::default());
        let file = OpenFile::open(storage, &OpenOptions::default())?;
        let context = Context::new(file, hyperslab_chunk::unfilter(registry.clone()));
        Ok(File { inner: Arc::new(Inner { context, registry, driver, size, path }) })
    }

    /// How many bytes the storage has.
    pub fn size(&self) -> u64 {
        self.inner.size
    }

    /// How the file lies on storage, as libhdf5 names it: `sec2` for one file, `family` for several.
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
        let root = self.inner.context.file().superblock().root.header();
        let root = root.ok_or_else(|| Error::Missing("root group".into()))?;
        match self.at(root)? {
            Node::Group(group) => Ok(group),
            other => Err(Error::Kind { path: "/".into(), found: other.kind(), wanted: "group" }),
        }
    }

    /// The object whose header is at an address.
    pub fn at(&self, address: u64) -> Result<Node> {
        Node::new(self, Object::open(&self.inner.context, address)?, 0)
    }

    /// The object that a path leads to.
    pub fn get(&self, path: impl AsRef<[u8]>) -> Result<Node> {
        self.get_below(path.as_ref(), 0)
    }

    fn get_below(&self, path: &[u8], depth: u8) -> Result<Node> {
        let root = self.inner.context.file().superblock().root.header().unwrap_or(0);
        self.get_from(root, path, depth)
    }

    /// As [`File::get`], from the group at an address on.
    pub(crate) fn get_from(&self, start: u64, path: &[u8], depth: u8) -> Result<Node> {
        match hyperslab_object::resolve(&self.inner.context, start, path)? {
            Found::Object(object) => Node::new(self, *object, depth),
            Found::Missing { at } => Err(Error::Missing(String::from_utf8_lossy(&at).into_owned())),
            Found::External { .. } => Err(Error::Unsupported("following an external link")),
            Found::User(_) => Err(Error::Unsupported("following a user-defined link")),
        }
    }

    /// The dataset that a path leads to.
    pub fn dataset(&self, path: impl AsRef<[u8]>) -> Result<Dataset> {
        self.dataset_below(path.as_ref(), 0)
    }

    /// As [`File::dataset`], for the source of a virtual dataset that itself stands below others.
    pub(crate) fn dataset_below(&self, path: &[u8], depth: u8) -> Result<Dataset> {
        match self.get_below(path, depth)? {
            Node::Dataset(dataset) => Ok(dataset),
            other => {
                let path = String::from_utf8_lossy(path).into_owned();
                Err(Error::Kind { path, found: other.kind(), wanted: "dataset" })
            }
        }
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

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("File").field("path", &self.inner.path).finish()
    }
}
