//! Datasets.

mod at_once;
mod cache;
mod change;
mod defined;
mod extent;
mod external;
mod external_rule;
mod header;
mod heap_objects;
mod known;
mod layout;
mod made;
mod named_values;
mod new_external_files;
mod opened_values;
mod partitions;
mod placed_values;
mod portions;
mod range_locks;
mod raw_file;
mod raw_files;
mod read;
mod read_defined;
mod replaced;
mod stored_size;
mod stored_values;
mod strips;
mod structured_chunks;
pub(crate) mod vlen_chunks;
mod whole;
mod write;

use std::sync::{Arc, OnceLock};

use hyperslab_chunk::{ChunkPartition, DatasetState, DatasetStorage, Keep};
use hyperslab_dtype::Datatype;
use hyperslab_file::{Handle, OpenFile};
use hyperslab_format::message::{
    self, ChunkStructure, DataLayout, DatasetFilters, FillWrite, FilterStep, SectionFilters,
};
use hyperslab_object::{Context, Life, Object};
use hyperslab_space::Extent;

use self::header::Header;
use crate::{
    Result, Session, current::Current, unnamed::Opened, virtual_dataset::Virtual,
    virtual_read_budget::VirtualReadBudget,
};

pub use change::too_many_elements;
pub use external::ExternalName;
pub(crate) use known::Known;
pub use layout::{Layout, VirtualName};
pub use made::MadeDataset;
pub use new_external_files::NewExternalFiles;
pub(crate) use partitions::Partitions;
pub use placed_values::PlacedValues;
pub(crate) use raw_files::ExternalFiles;
pub use stored_size::StoredSize;

/// An object that holds an array of values. Cheap to clone; any number of threads may use it at once.
#[derive(Clone, Debug)]
pub struct OpenDataset {
    session: Session,
    inner: Arc<Inner>,
    /// Whether the caller holds the range locks already, of a request for several datasets.
    is_locked: bool,
    /// What requests by this handle leave in the cache.
    keep: Keep,
    /// The file with the options of requests by this handle, if they are not those of the file.
    file: Option<Arc<OpenFile>>,
}

/// What all handles share. It knows no [`Session`], so that it does not keep another opening of the file open.
struct Inner {
    /// As it was when the dataset was opened.
    object: Opened,
    datatype: Datatype,
    /// The type of values in its chunks, if that is another one.
    in_chunks: Option<Datatype>,
    /// Where the datatype is committed, if it is.
    committed: Option<u64>,
    filters: DatasetFilters,
    fill: FillWrite,
    /// What its chunks are, if they have several sections. This never changes.
    structure: Option<ChunkStructure>,
    /// The datasets behind it, if it is virtual.
    virtual_dataset: Option<Arc<Virtual>>,
    storage: Arc<DatasetStorage>,
    /// Its chunks in the cache, found out when the first values are read or written.
    partition: OnceLock<Option<ChunkPartition>>,
}

impl OpenDataset {
    /// A dataset whose header can be understood as a whole. One that grows with its sources has the size that is stored, until it
    /// has [grown](OpenDataset::grown). The caller holds changes off, or is the operation itself.
    pub(crate) fn open(session: &Session, object: Object) -> Result<OpenDataset> {
        let (context, known, address) = (session.context(), &session.engine.datasets, object.address());
        if let Some(inner) = known.get(address) {
            return Ok(OpenDataset::of(session, inner));
        }
        let (datatype, committed) = object.datatype(context)?;
        let (extent, layout) = (object.extent(context)?, object.layout(context)?);
        let (filters, fill) = (object.filters(context)?, object.fill(context)?);
        let virtual_dataset = match layout.layout {
            message::Layout::Virtual { heap, index } => {
                let mappings = layout::mappings(session, heap, index)?;
                Some(Virtual::open(session, mappings, &extent, &datatype, &fill)?)
            }
            _ => None,
        };
        let structure = structure(&layout.layout);
        let in_chunks = in_chunks(structure, &datatype)?;
        let new = || Inner::new_storage(context, object.life(), extent, layout);
        let storage = session.engine.partitions.storage(address).unwrap_or_else(new);
        // The size of a virtual dataset is found out anew whenever it is opened.
        let shared = context.file().is_writable() && virtual_dataset.is_none();
        let (object, virtual_dataset, partition) =
            (Opened::new(session, object), virtual_dataset.map(Arc::new), OnceLock::new());
        let inner = Inner {
            object,
            datatype,
            in_chunks,
            committed,
            filters,
            fill,
            structure,
            virtual_dataset,
            storage,
            partition,
        };
        let inner = Arc::new(inner);
        let inner = if shared { known.insert(address, inner) } else { inner };
        Ok(OpenDataset::of(session, inner))
    }

    /// The dataset, just opened, with the size that its sources give it now. The caller must hold no lock: this opens other files, and may close
    /// them.
    pub(crate) fn grown(mut self, budget: &VirtualReadBudget) -> Result<OpenDataset> {
        // Each opening of a virtual dataset makes its own `Inner`, so this thread has the only reference.
        let Some(inner) = Arc::get_mut(&mut self.inner) else { return Ok(self) };
        let (virtual_dataset, storage) =
            (inner.virtual_dataset.as_mut().and_then(Arc::get_mut), Arc::get_mut(&mut inner.storage));
        if let (Some(virtual_dataset), Some(storage)) = (virtual_dataset, storage) {
            storage.get_mut().extent = virtual_dataset.grow(budget)?.clone();
        }
        Ok(self)
    }

    /// A handle of the dataset as the file has it now, if another process may have changed it; a file that this process may change is always seen as
    /// it is. Other handles stay as they were. The sources of a virtual dataset are read anew, too.
    pub fn refresh(&self) -> Result<OpenDataset> {
        let file = self.session.file();
        self.session.check_alive(self.life())?;
        if file.is_writable() && !self.is_virtual() {
            return Ok(self.clone());
        }
        file.reload()?;
        let fresh = self.reopened()?.grown(&VirtualReadBudget::renewing())?;
        Ok(OpenDataset { keep: self.keep, file: self.file.clone(), ..fresh })
    }

    /// A handle that shares nothing with those that are there, before it has [grown](OpenDataset::grown). The file is one that is only read, or the
    /// dataset is virtual.
    pub(crate) fn reopened(&self) -> Result<OpenDataset> {
        let (context, address) = (self.session.context(), self.address());
        self.session.engine.partitions.renew(address);
        let _held = context.file().reading();
        self.session.check_alive(self.life())?;
        self.session.read_current(|| OpenDataset::open(&self.session, Object::open(context, address)?))
    }

    fn of(session: &Session, inner: Arc<Inner>) -> OpenDataset {
        OpenDataset { session: session.clone(), inner, is_locked: false, keep: Keep::default(), file: None }
    }

    /// The file that it is in.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Whether the file is read as it is now.
    pub(crate) fn is_current(&self) -> bool {
        self.session.check_current().is_ok()
    }

    /// Its header as it is now.
    pub fn object(&self) -> Result<Current<'_>> {
        self.session.current(&self.inner.object)
    }

    /// What keeps it.
    pub fn handle(&self) -> Option<Arc<Handle>> {
        self.inner.object.handle()
    }

    /// Whether it has no name.
    pub(crate) fn is_unnamed(&self) -> bool {
        self.stored().is_unnamed(self.address())
    }

    /// Which object it is, also if another one has its address later.
    pub fn life(&self) -> Life {
        self.inner.object.life()
    }

    /// Where its header is.
    pub fn address(&self) -> u64 {
        self.inner.object.address()
    }

    /// Its size now, and how far it may grow.
    pub fn extent(&self) -> Extent {
        self.inner.storage.with_state(|state| state.extent.clone())
    }

    /// Its size in each dimension now; nothing for a scalar.
    pub fn shape(&self) -> Vec<u64> {
        self.inner.storage.with_state(|state| state.extent.dims().to_vec())
    }

    /// The number of its dimensions; none for a scalar.
    pub fn rank(&self) -> usize {
        self.inner.storage.with_state(|state| state.extent.rank())
    }

    /// How many values it has; `u64::MAX` if 64 bits do not hold the number ([`Extent::elements`] tells).
    pub fn len(&self) -> u64 {
        self.inner.storage.with_state(|state| state.extent.elements().unwrap_or(u64::MAX))
    }

    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of its values, as stored.
    pub fn datatype(&self) -> &Datatype {
        &self.inner.datatype
    }

    /// The type of its values in the storage: the one of the header, but [in chunks](Datatype::in_chunks) where these have what is of variable length.
    pub fn stored_datatype(&self) -> &Datatype {
        self.inner.in_chunks.as_ref().unwrap_or(&self.inner.datatype)
    }

    /// The type that values have in memory if they stay as they are, with what is of variable length in an arena.
    pub fn memory_datatype(&self) -> Result<Datatype> {
        Ok(self.stored_datatype().in_memory()?)
    }

    /// Whether its values are those of other datasets.
    pub fn is_virtual(&self) -> bool {
        self.inner.virtual_dataset.is_some()
    }

    /// Whether its values name objects, of the heap or of the file.
    pub(crate) fn names_objects(&self) -> bool {
        self.names_heap_objects() || self.datatype().has_reference()
    }

    /// Whether its type is a committed one.
    pub fn has_committed_datatype(&self) -> bool {
        self.inner.committed.is_some()
    }

    /// The filters that its chunks go through, in the order in which they are applied when writing.
    pub fn filters(&self) -> &[FilterStep] {
        self.inner.filters.pipeline().map_or(&[], |pipeline| &pipeline.steps)
    }

    /// The filters that each section of its chunks goes through, if chunks have several.
    pub fn section_filters(&self) -> Option<&SectionFilters> {
        match &self.inner.filters {
            DatasetFilters::Sections(filters) => Some(filters),
            DatasetFilters::Chunk(_) => None,
        }
    }

    /// All that its header says of filters.
    pub fn dataset_filters(&self) -> &DatasetFilters {
        &self.inner.filters
    }

    /// Whether only those elements are stored that were written.
    pub fn is_sparse(&self) -> bool {
        self.inner.structure.is_some_and(ChunkStructure::is_sparse)
    }

    /// Whether what is of variable length in its values is in its chunks.
    pub fn has_vlen_chunks(&self) -> bool {
        self.inner.structure.is_some_and(ChunkStructure::has_vlen)
    }

    /// What elements are that were never written, and when that is decided.
    pub fn fill(&self) -> &FillWrite {
        &self.inner.fill
    }
}

/// What the chunks of a layout are, if they have several sections.
fn structure(layout: &message::Layout) -> Option<ChunkStructure> {
    match layout {
        message::Layout::Chunked { structure, .. } => *structure,
        _ => None,
    }
}

/// The type of values in chunks, if that is another one.
fn in_chunks(structure: Option<ChunkStructure>, datatype: &Datatype) -> Result<Option<Datatype>> {
    match structure.is_some_and(ChunkStructure::has_vlen) {
        true => Ok(Some(datatype.in_chunks()?).filter(|in_chunks| in_chunks != datatype)),
        false => Ok(None),
    }
}

impl Inner {
    /// What all handles of a dataset share with the cache, when nothing of it is in memory yet.
    fn new_storage(context: &Arc<Context>, life: Life, extent: Extent, layout: DataLayout) -> Arc<DatasetStorage> {
        let header = Box::new(Header::new(context, life));
        Arc::new(DatasetStorage::new(header, DatasetState::new(extent, layout)))
    }
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner").field("object", &self.object).finish_non_exhaustive()
    }
}
