//! How a dataset is stored: for people, and for reads.

use std::{any::Any, sync::Arc};

use hyperslab_chunk::{Chunked, ChunkedParts, DatasetState, OpenedValues, Storage, Values};
use hyperslab_format::message::{self, ChunkIndex, FillTime, FillValue, FillWrite};
use hyperslab_format::virtual_mapping::{self, Mapping};

use super::{ExternalName, OpenDataset, external_rule::ExternalRule, vlen_chunks::vlen_parts};
use crate::{Result, Session};

/// A source of a virtual dataset: its file, `.` for the same one, and its path there. Both may have `%b` for a number.
pub type VirtualName = (Arc<[u8]>, Arc<[u8]>);

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
    /// In other datasets.
    Virtual(Vec<VirtualName>),
}

impl OpenDataset {
    /// How it is stored.
    pub fn layout(&self) -> Result<Layout> {
        use message::Layout as Stored;
        Ok(match &self.now().layout.layout {
            Stored::Compact(_) => Layout::Compact,
            Stored::Contiguous { .. } => match self.external_names()? {
                Some(names) => Layout::External(names),
                None => Layout::Contiguous,
            },
            Stored::Chunked { chunk, index, .. } => Layout::Chunked { chunk: chunk.clone(), index: index_name(index) },
            Stored::Virtual { .. } => Layout::Virtual(
                self.inner.virtual_dataset.iter().flat_map(|virtual_dataset| virtual_dataset.names()).collect(),
            ),
        })
    }

    /// Finds out where the values are.
    pub(super) fn open_values(&self, now: &DatasetState) -> Result<OpenedValues> {
        let (inner, context) = (&self.inner, self.session.context());
        let element = self.stored_datatype().size() as u64;
        let mut found_by: Option<Arc<dyn Any + Send + Sync>> = None;
        let storage = match &now.layout.layout {
            message::Layout::Compact(bytes) => Storage::Compact(bytes.clone()),
            message::Layout::Contiguous { address, .. } => {
                let own = Arc::new(ExternalRule::of(&self.session));
                match self.externals(&own)? {
                    Some(externals) => {
                        found_by = Some(own);
                        Storage::External(externals)
                    }
                    None => Storage::Contiguous(*address),
                }
            }
            layout @ message::Layout::Chunked { .. } => {
                let filters = hyperslab_chunk::filters(&inner.filters)?;
                let registry = self.session.engine.registry.clone();
                let version = now.layout.version;
                let file = context.file().owned_by(self.address());
                let (fill, vlen) = vlen_parts(&self.session, layout, self.datatype(), self.shown_fill())?;
                let (extent, fill) = (&now.extent, fill.as_deref());
                let parts = ChunkedParts { layout, version, extent, element, filters, registry, fill, vlen };
                let chunked = Chunked::open(file, parts)?;
                Storage::Chunked(Box::new(chunked))
            }
            message::Layout::Virtual { .. } => match &inner.virtual_dataset {
                Some(virtual_dataset) => Storage::Virtual(virtual_dataset.clone()),
                None => Storage::Contiguous(None),
            },
        };
        let fill = self.shown_fill().map(<[u8]>::to_vec);
        Ok(OpenedValues { values: Values { extent: now.extent.clone(), element, fill, storage }, found_by })
    }

    /// What elements are that were never written; zeros if `None`.
    pub(super) fn shown_fill(&self) -> Option<&[u8]> {
        match &self.inner.fill {
            // A value that is never written is not read either, except between the parts of a virtual dataset.
            FillWrite { write: FillTime::Never, .. } if self.inner.virtual_dataset.is_none() => None,
            FillWrite { value: FillValue::User(value), .. } if value.len() == self.datatype().size() => Some(value),
            _ => None,
        }
    }

    /// Where the parts of a virtual dataset come from; nothing for others.
    pub fn virtual_mappings(&self) -> Result<Vec<Mapping>> {
        match self.now().layout.layout {
            message::Layout::Virtual { heap, index } => mappings(self.session(), heap, index),
            _ => Ok(Vec::new()),
        }
    }
}

/// The mappings of a virtual dataset.
pub(super) fn mappings(session: &Session, heap: Option<u64>, index: u32) -> Result<Vec<Mapping>> {
    let Some(heap) = heap else { return Ok(Vec::new()) };
    let bytes = session.heap().object(heap, index)?;
    let mappings = virtual_mapping::decode(&bytes, session.file().widths());
    Ok(mappings.map_err(hyperslab_file::Error::at(heap))?)
}

fn index_name(index: &ChunkIndex) -> &'static str {
    match index {
        ChunkIndex::BtreeV1 => "btree1",
        ChunkIndex::Single(_) => "single",
        ChunkIndex::Implicit => "implicit",
        ChunkIndex::FixedArray { .. } => "farray",
        ChunkIndex::ExtensibleArray(_) => "earray",
        ChunkIndex::BtreeV2 { .. } => "btree2",
    }
}
