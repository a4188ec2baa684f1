//! Datasets.

use hyperslab_chunk::{Chunked, ExternalPart, Externals, Storage, Values};
use hyperslab_dtype::Datatype;
use hyperslab_format::message::{self, ChunkIndex, FillValue, FillWrite, FilterStep};
use hyperslab_format::virtual_mapping::{self, Mapping};
use hyperslab_object::Object;
use hyperslab_space::{Extent, Space};
use hyperslab_structures::LocalHeap;

use crate::{Error, File, Result, storage, virtual_source};

/// An object that holds an array of values.
#[derive(Clone, Debug)]
pub struct Dataset {
    pub(crate) file: File,
    pub(crate) object: Object,
    /// How many virtual datasets stand above this one in the read that opened it.
    pub(crate) depth: u8,
}

/// A part of an external file: its name, the first byte, and how many bytes if that is limited.
pub type ExternalName = (Vec<u8>, u64, Option<u64>);

/// How a dataset is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// In the object header.
    Compact,
    /// In one piece.
    Contiguous,
    /// In other files, one after the other.
    External(Vec<ExternalName>),
    /// In chunks.
    Chunked {
        /// The shape of a chunk.
        chunk: Vec<u64>,
        /// How chunks are found: `btree1`, `single`, `implicit`, `farray`, `earray` or `btree2`.
        index: &'static str,
    },
    /// In other datasets: the file and the path of each.
    Virtual(Vec<(Vec<u8>, Vec<u8>)>),
}

impl Dataset {
    /// A dataset whose header can be understood as a whole.
    pub(crate) fn checked(file: File, object: Object) -> Result<Dataset> {
        let dataset = Dataset { file, object, depth: 0 };
        let context = &dataset.file.inner.context;
        dataset.object.datatype(context)?;
        dataset.object.extent(context)?;
        dataset.object.layout(context)?;
        dataset.object.filters(context)?;
        dataset.object.fill(context)?;
        Ok(dataset)
    }

    /// Its size.
    pub fn extent(&self) -> Result<Extent> {
        Ok(self.object.extent(&self.file.inner.context)?)
    }

    /// The type of its values, as stored.
    pub fn datatype(&self) -> Result<Datatype> {
        Ok(self.object.datatype(&self.file.inner.context)?.0)
    }

    /// Whether its type is a committed one.
    pub fn has_committed_datatype(&self) -> Result<bool> {
        Ok(self.object.datatype(&self.file.inner.context)?.1.is_some())
    }

    /// The filters that its chunks go through, in the order in which they are applied when writing.
    pub fn filters(&self) -> Result<Vec<FilterStep>> {
        Ok(self.object.filters(&self.file.inner.context)?.steps)
    }

    /// What elements are that were never written, and when that is decided.
    pub fn fill(&self) -> Result<FillWrite> {
        Ok(self.object.fill(&self.file.inner.context)?)
    }

    /// How it is stored.
    pub fn layout(&self) -> Result<Layout> {
        use message::Layout as Stored;
        Ok(match self.object.layout(&self.file.inner.context)?.layout {
            Stored::Compact(_) => Layout::Compact,
            Stored::Contiguous { .. } => match self.external_names()? {
                Some(names) => Layout::External(names),
                None => Layout::Contiguous,
            },
            Stored::Chunked { chunk, index, .. } => Layout::Chunked { chunk, index: index_name(index) },
            Stored::Virtual { .. } => {
                let name = |mapping: Mapping| (mapping.file, mapping.dataset);
                Layout::Virtual(self.mappings()?.into_iter().map(name).collect())
            }
        })
    }

    /// All values, as bytes of the stored type; variable-length parts are references into [`File::heap`].
    pub fn read_stored(&self) -> Result<Vec<u8>> {
        let space = Space::new(self.extent()?);
        self.read_stored_selection(&space)
    }

    /// The selected values one after the other, as bytes of the stored type.
    pub fn read_stored_selection(&self, selection: &Space) -> Result<Vec<u8>> {
        let values = self.values()?;
        let count = selection.npoints();
        let too_many = || hyperslab_chunk::Error::Memory(count.saturating_mul(values.element));
        let bytes =
            count.checked_mul(values.element).and_then(|bytes| usize::try_from(bytes).ok()).ok_or_else(too_many)?;
        let mut buf = Vec::new();
        buf.try_reserve_exact(bytes).map_err(|_| too_many())?;
        buf.resize(bytes, 0);
        values.read(self.file.inner.context.file(), selection, &Space::simple(&[count])?, &mut buf)?;
        Ok(buf)
    }

    fn values(&self) -> Result<Values> {
        let context = &self.file.inner.context;
        let (extent, datatype) = (self.extent()?, self.datatype()?);
        let element = datatype.size() as u64;
        let message = self.object.layout(context)?;
        let storage = match &message.layout {
            message::Layout::Compact(bytes) => Storage::Compact(bytes.clone()),
            message::Layout::Contiguous { address, .. } => match self.externals()? {
                Some(externals) => Storage::External(externals),
                None => Storage::Contiguous(*address),
            },
            layout @ message::Layout::Chunked { .. } => {
                let pipeline = hyperslab_chunk::pipeline(&self.object.filters(context)?)?;
                let registry = self.file.inner.registry.clone();
                let chunked =
                    Chunked::open(context.file(), layout, message.version, &extent, element, pipeline, registry)?;
                Storage::Chunked(Box::new(chunked))
            }
            message::Layout::Virtual { .. } => {
                Storage::Virtual(virtual_source::parts(self, self.mappings()?, &datatype)?)
            }
        };
        let fill = match self.fill()?.value {
            FillValue::User(value) if value.len() as u64 == element => Some(value),
            _ => None,
        };
        Ok(Values { extent, element, fill, storage })
    }

    /// The mappings of a virtual dataset.
    fn mappings(&self) -> Result<Vec<Mapping>> {
        let context = &self.file.inner.context;
        let message::Layout::Virtual { heap: Some(heap), index } = self.object.layout(context)?.layout else {
            return Ok(Vec::new());
        };
        let bytes = self.file.heap().object(heap, index)?;
        let mappings = virtual_mapping::decode(&bytes, context.file().widths());
        Ok(mappings.map_err(hyperslab_file::Error::at(heap))?)
    }

    fn external_names(&self) -> Result<Option<Vec<ExternalName>>> {
        let context = &self.file.inner.context;
        let Some(files) = self.object.external(context)? else { return Ok(None) };
        let heap = files.heap.ok_or_else(|| Error::Missing("heap of the external files' names".into()))?;
        let heap = LocalHeap::open(context.file(), heap)?;
        let slot = |slot: &message::ExternalSlot| Ok((heap.string(slot.name)?.to_vec(), slot.offset, slot.size));
        files.slots.iter().map(slot).collect::<Result<_>>().map(Some)
    }

    /// External files lie beside this one, unless their names say otherwise.
    fn externals(&self) -> Result<Option<Externals>> {
        let Some(names) = self.external_names()? else { return Ok(None) };
        let directory = self.file.inner.path.as_ref().and_then(|path| path.parent().map(std::path::Path::to_path_buf));
        let part = |(name, offset, size): ExternalName| {
            let name = String::from_utf8_lossy(&name).into_owned();
            let path = directory.clone().unwrap_or_default().join(&name);
            let storage = storage::open(&path).map(|(storage, _)| storage).map_err(|why| why.to_string());
            ExternalPart { name, storage, offset, size }
        };
        Ok(Some(Externals { parts: names.into_iter().map(part).collect() }))
    }
}

fn index_name(index: ChunkIndex) -> &'static str {
    match index {
        ChunkIndex::BtreeV1 => "btree1",
        ChunkIndex::Single(_) => "single",
        ChunkIndex::Implicit => "implicit",
        ChunkIndex::FixedArray => "farray",
        ChunkIndex::ExtensibleArray => "earray",
        ChunkIndex::BtreeV2 => "btree2",
    }
}
