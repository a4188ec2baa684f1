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

/// External links one after the other before they are called endless.
const MAX_DEPTH: u8 = 16;

fn lossy(name: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(name)
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

    /// Where it was opened, unless on other storage.
    pub fn path(&self) -> Option<&Path> {
        self.inner.path.as_deref()
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
        self.at(root)?.into_group().map_err(|why| why.of(b"/"))
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

    /// A file that this one names: it lies beside, unless its name says otherwise.
    pub(crate) fn open_beside(&self, name: &[u8]) -> Result<File> {
        let name = lossy(name);
        let beside = self.inner.path.as_ref().and_then(|path| path.parent()).map(|parent| parent.join(&*name));
        File::open(beside.unwrap_or_else(|| name.into_owned().into()))
    }

    /// As [`File::get`], from the group at an address on.
    pub(crate) fn get_from(&self, start: u64, path: &[u8], depth: u8) -> Result<Node> {
        match hyperslab_object::resolve(&self.inner.context, start, path)? {
            Found::Object(object) => Node::new(self, *object, depth),
            Found::Missing { at } => Err(Error::Missing(String::from_utf8_lossy(&at).into_owned())),
            Found::External { file, path } => {
                if depth == MAX_DEPTH {
                    return Err(Error::Missing(format!("end of the external links through {}", lossy(&file))));
                }
                let other =
                    self.open_beside(&file).map_err(|why| Error::Missing(format!("file {}: {why}", lossy(&file))))?;
                other.get_below(&path, depth + 1)
            }
            Found::User(_) => Err(Error::Unsupported("following a user-defined link")),
        }
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
        self.dataset_below(path.as_ref(), 0)
    }

    /// As [`File::dataset`], for the source of a virtual dataset that itself stands below others.
    pub(crate) fn dataset_below(&self, path: &[u8], depth: u8) -> Result<Dataset> {
        self.get_below(path, depth)?.into_dataset().map_err(|why| why.of(path))
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
