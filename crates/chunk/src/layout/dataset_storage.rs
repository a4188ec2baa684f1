//! The state of an open dataset: its extent, its layout message, and where its values are.
//!
//! All handles of a dataset share one [`DatasetStorage`], and so does the cache, which may keep it longer than any handle. It knows no handle and
//! no name. What the object header must say is told through [`DatasetHeader`].
//!
//! The lock of the state comes after the operation lock of the file. A reader of the file takes both, shared; a change takes it within an operation. A thread that
//! wants the extent alone takes only the lock of the state.

use std::{
    any::Any,
    fmt,
    ops::{Deref, DerefMut},
    sync::{Arc, OnceLock},
};

use hyperslab_file::{OpenFile, Reading};
use hyperslab_format::message::{DataLayout, Layout};
use hyperslab_space::Extent;
use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::{ChunkCoord, Chunked, Error, Result, Storage, StoredAt, Values};

/// The object header of a dataset, as its storage needs it.
pub trait DatasetHeader: Send + Sync {
    /// The file that the dataset is in.
    fn file(&self) -> &OpenFile;

    /// The address of the header.
    fn address(&self) -> u64;

    /// Refuses a dataset that was deleted.
    fn check_alive(&self) -> hyperslab_file::Result<()>;

    /// Lets the header say where the values are now. Within an operation.
    fn set_layout(&self, layout: &DataLayout) -> hyperslab_file::Result<()>;

    /// Lets the header tell another extent. Within an operation.
    fn set_extent(&self, extent: &Extent) -> hyperslab_file::Result<()>;
}

/// The part of a dataset that changes.
#[derive(Debug)]
pub struct DatasetState {
    /// The size now.
    pub extent: Extent,
    /// What the header says of the layout.
    pub layout: DataLayout,
    /// Where the values are, found out when the first are needed. Boxed, because most datasets that are opened are not read.
    pub values: OnceLock<Box<OpenedValues>>,
}

/// Where the values of a dataset are, as an opening of its file finds them.
pub struct OpenedValues {
    /// The values.
    pub values: Values,
    /// How the layer above found them, if another opening of the file may find others: files with raw data are looked for by a rule.
    pub found_by: Option<Arc<dyn Any + Send + Sync>>,
}

/// What all handles of a dataset and the cache share.
pub struct DatasetStorage {
    header: Box<dyn DatasetHeader>,
    state: Lock,
}

/// The state of a file that is only read needs no lock.
enum Lock {
    ReadOnly(DatasetState),
    Writable(RwLock<DatasetState>),
}

/// The state as it is while this lives, because changes wait. The same thread must not change the file meanwhile.
pub struct StorageView<'a> {
    state: Held<'a>,
    _reading: Reading<'a>,
}

enum Held<'a> {
    ReadOnly(&'a DatasetState),
    Locked(RwLockReadGuard<'a, DatasetState>),
}

/// The state, taken for a change. All handles see what becomes of it.
pub struct StorageChange<'a> {
    header: &'a dyn DatasetHeader,
    state: RwLockWriteGuard<'a, DatasetState>,
}

impl DatasetStorage {
    /// The storage of a dataset whose header says this.
    pub fn new(header: Box<dyn DatasetHeader>, state: DatasetState) -> DatasetStorage {
        let state = match header.file().is_writable() {
            true => Lock::Writable(RwLock::new(state)),
            false => Lock::ReadOnly(state),
        };
        DatasetStorage { header, state }
    }

    /// The file that the dataset is in.
    pub fn file(&self) -> &OpenFile {
        self.header.file()
    }

    /// The address of the object header.
    pub fn address(&self) -> u64 {
        self.header.address()
    }

    /// What messages call the dataset.
    pub(crate) fn name(&self) -> String {
        format!("dataset at address {:#x}", self.address())
    }

    /// Whether the dataset was not deleted.
    pub(crate) fn is_alive(&self) -> bool {
        self.header.check_alive().is_ok()
    }

    /// The state as it is now.
    pub fn view(&self) -> StorageView<'_> {
        // First the file, then the dataset: changes take them in this order, too.
        let reading = self.file().reading();
        let state = match &self.state {
            Lock::ReadOnly(state) => Held::ReadOnly(state),
            Lock::Writable(state) => Held::Locked(state.read_recursive()),
        };
        StorageView { state, _reading: reading }
    }

    /// What `look` sees of the state, without a look at the file: the caller neither waits for operations nor holds them off. Extent and layout message are
    /// those of the moment. `look` must not read the file, nor wait for it.
    pub fn with_state<T>(&self, look: impl FnOnce(&DatasetState) -> T) -> T {
        match &self.state {
            Lock::ReadOnly(state) => look(state),
            Lock::Writable(state) => look(&state.read_recursive()),
        }
    }

    /// As [`DatasetStorage::view`], if the dataset was not deleted.
    pub(crate) fn live_view(&self) -> Result<StorageView<'_>> {
        let view = self.view();
        self.header.check_alive()?;
        Ok(view)
    }

    /// Where the chunks at rising coordinates are; nothing for those that were never written.
    pub(crate) fn locate(&self, coords: &[ChunkCoord]) -> Result<Vec<Option<StoredAt>>> {
        self.live_view()?.values()?.locate(self.file(), coords)
    }

    /// Takes the state for a change. Within an operation.
    pub fn change(&self) -> Result<StorageChange<'_>> {
        match &self.state {
            Lock::Writable(state) => Ok(StorageChange { header: &*self.header, state: state.write() }),
            Lock::ReadOnly(_) => Err(hyperslab_file::Error::ReadOnly.into()),
        }
    }

    /// As [`DatasetStorage::change`], if the dataset was not deleted.
    pub(crate) fn change_alive(&self) -> Result<StorageChange<'_>> {
        self.header.check_alive()?;
        self.change()
    }

    /// Changes the values, within an operation. If the layout message must say something new, as the result of `change` says, it does then.
    pub(crate) fn change_values(&self, change: impl FnOnce(&mut Values) -> Result<bool>) -> Result<()> {
        let mut state = self.change()?;
        if change(state.values_mut()?)? {
            state.save_layout()?;
        }
        Ok(())
    }

    /// The state, for a thread that has the only reference.
    pub fn get_mut(&mut self) -> &mut DatasetState {
        match &mut self.state {
            Lock::ReadOnly(state) => state,
            Lock::Writable(state) => state.get_mut(),
        }
    }
}

impl DatasetState {
    /// What the header says, before anything is known of where the values are.
    pub fn new(extent: Extent, layout: DataLayout) -> DatasetState {
        DatasetState { extent, layout, values: OnceLock::new() }
    }

    /// The shape of a chunk, if the dataset has dense chunks: what large requests are cut along.
    pub fn dense_chunk(&self) -> Option<&[u64]> {
        match &self.layout.layout {
            Layout::Chunked { structure: None, chunk, .. } => Some(chunk),
            _ => None,
        }
    }

    /// The shape of a chunk, if the dataset has chunks.
    pub fn chunk(&self) -> Option<&[u64]> {
        match &self.layout.layout {
            Layout::Chunked { chunk, .. } => Some(chunk),
            _ => None,
        }
    }

    /// The values; an error if nothing has looked for them yet.
    pub fn values(&self) -> Result<&Values> {
        Ok(&self.values.get().ok_or_else(not_opened)?.values)
    }
}

impl StorageChange<'_> {
    /// The values; an error if nothing has looked for them yet.
    pub fn values_mut(&mut self) -> Result<&mut Values> {
        Ok(&mut self.state.values.get_mut().ok_or_else(not_opened)?.values)
    }

    /// The chunks; an error if the values are not in chunks.
    pub(crate) fn chunked_mut(&mut self) -> Result<&mut Chunked> {
        match &mut self.values_mut()?.storage {
            Storage::Chunked(chunked) => Ok(chunked),
            _ => Err(Error::Layout("the values are not in chunks".into())),
        }
    }

    /// Lets the header say where the values are now.
    pub fn save_layout(&mut self) -> hyperslab_file::Result<()> {
        let version = self.state.layout.version;
        if let Some(layout) = self.state.values.get().and_then(|opened| opened.values.layout(version)) {
            self.state.layout.layout = layout;
        }
        self.header.set_layout(&self.state.layout)
    }

    /// Lets the header tell another extent.
    pub fn set_extent(&mut self, extent: &Extent) -> hyperslab_file::Result<()> {
        self.header.set_extent(extent)?;
        self.state.extent = extent.clone();
        Ok(())
    }
}

fn not_opened() -> Error {
    Error::Layout("the storage of the dataset was not opened".into())
}

impl Deref for StorageView<'_> {
    type Target = DatasetState;

    fn deref(&self) -> &DatasetState {
        match &self.state {
            Held::ReadOnly(state) => state,
            Held::Locked(state) => state,
        }
    }
}

impl Deref for StorageChange<'_> {
    type Target = DatasetState;

    fn deref(&self) -> &DatasetState {
        &self.state
    }
}

impl DerefMut for StorageChange<'_> {
    fn deref_mut(&mut self) -> &mut DatasetState {
        &mut self.state
    }
}

impl fmt::Debug for OpenedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values.fmt(f)
    }
}

impl fmt::Debug for DatasetStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatasetStorage").field("address", &self.address()).finish_non_exhaustive()
    }
}
