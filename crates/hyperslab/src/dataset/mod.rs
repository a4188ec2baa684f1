//! Datasets.

mod batch;
mod layout;
mod read;
mod stored_size;
mod typed;

use std::sync::{Arc, OnceLock};

use hyperslab_chunk::Values;
use hyperslab_dtype::Datatype;
use hyperslab_format::message::{self, FillWrite, FilterPipeline, FilterStep};
use hyperslab_object::Object;
use hyperslab_space::Extent;

use crate::{File, Result};

pub use layout::{ExternalName, Layout};
pub(crate) use read::room;
pub use stored_size::StoredSize;

/// An object that holds an array of values. Cheap to clone; any number of threads may use it at once.
#[derive(Clone, Debug)]
pub struct Dataset {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    file: File,
    object: Object,
    /// How many virtual datasets stand above this one in the read that opened it.
    depth: u8,
    extent: Extent,
    datatype: Datatype,
    /// Where the datatype is committed, if it is.
    committed: Option<u64>,
    layout: message::DataLayout,
    filters: FilterPipeline,
    fill: FillWrite,
    /// Where the values are, found out when the first are read.
    values: OnceLock<Values>,
}

impl Dataset {
    /// A dataset whose header can be understood as a whole, opened below `depth` virtual ones.
    pub(crate) fn open(file: File, object: Object, depth: u8) -> Result<Dataset> {
        let context = &file.inner.context;
        let (datatype, committed) = object.datatype(context)?;
        let (extent, layout) = (object.extent(context)?, object.layout(context)?);
        let (filters, fill) = (object.filters(context)?, object.fill(context)?);
        let values = OnceLock::new();
        let inner = Inner { file, object, depth, extent, datatype, committed, layout, filters, fill, values };
        Ok(Dataset { inner: Arc::new(inner) })
    }

    /// The file that it is in.
    pub fn file(&self) -> &File {
        &self.inner.file
    }

    pub(crate) fn object(&self) -> &Object {
        &self.inner.object
    }

    pub(crate) fn depth(&self) -> u8 {
        self.inner.depth
    }

    /// Its size, and how far it may grow.
    pub fn extent(&self) -> &Extent {
        &self.inner.extent
    }

    /// Its size in each dimension; nothing for a scalar.
    pub fn shape(&self) -> &[u64] {
        self.inner.extent.dims()
    }

    /// The number of its dimensions; none for a scalar.
    pub fn rank(&self) -> usize {
        self.inner.extent.rank()
    }

    /// How many values it has.
    pub fn len(&self) -> u64 {
        self.inner.extent.elements()
    }

    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of its values, as stored.
    pub fn datatype(&self) -> &Datatype {
        &self.inner.datatype
    }

    /// Whether its type is a committed one.
    pub fn has_committed_datatype(&self) -> bool {
        self.inner.committed.is_some()
    }

    /// The filters that its chunks go through, in the order in which they are applied when writing.
    pub fn filters(&self) -> &[FilterStep] {
        &self.inner.filters.steps
    }

    /// What elements are that were never written, and when that is decided.
    pub fn fill(&self) -> &FillWrite {
        &self.inner.fill
    }
}
