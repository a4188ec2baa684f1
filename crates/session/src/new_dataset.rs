//! Making a dataset, after everything was checked.

use std::borrow::Cow;

use hyperslab_chunk::{Chunked, ChunkedParts, Filling, Storage, Values};
use hyperslab_dtype::Datatype;
use hyperslab_format::{
    message::{AllocTime, DataLayout, DatasetFilters, ExternalFiles, ExternalSlot, FillWrite, Layout},
    virtual_mapping::{self, Mapping},
};
use hyperslab_object::{DatasetParts, NewAttribute, NewType, ObjectSettings};
use hyperslab_space::Extent;
use hyperslab_structures::LocalHeap;

use crate::{
    ExternalName, HeapWriter, MadeDataset, NewExternalFiles, Result, Session, dataset::vlen_chunks::vlen_parts,
};

/// What a new dataset will be.
#[derive(Debug)]
pub struct DatasetPlan {
    /// Its size, and how far it may grow.
    pub extent: Extent,
    /// The type of its values.
    pub datatype: Datatype,
    /// Where it is committed, if it is.
    pub committed: Option<u64>,
    /// What elements are that were never written.
    pub fill: FillWrite,
    /// What its chunks go through.
    pub filters: DatasetFilters,
    /// Without addresses: nothing has a place yet.
    pub layout: Layout,
    /// The version of the layout message.
    pub layout_version: u8,
    /// The files that hold its values, if they are outside of this one.
    pub external: Vec<ExternalName>,
    /// Where the parts of a virtual dataset come from.
    pub mappings: Vec<Mapping>,
}

impl DatasetPlan {
    /// The type of its values in the storage.
    pub fn stored_datatype(&self) -> Result<Cow<'_, Datatype>> {
        Ok(match &self.layout {
            Layout::Chunked { structure: Some(structure), .. } if structure.has_vlen() => {
                Cow::Owned(self.datatype.in_chunks()?)
            }
            _ => Cow::Borrowed(&self.datatype),
        })
    }

    /// Makes the files that hold values outside of this one, and grants access to them and to the sources of a virtual dataset: the
    /// program named them. The files that are new stay if the dataset is made, which the caller [says](NewExternalFiles::keep).
    pub fn grant<'a>(&self, session: &'a Session) -> Result<NewExternalFiles<'a>> {
        let files = NewExternalFiles::make(session, self.external.iter().map(|(name, ..)| name))?;
        self.mappings.iter().for_each(|mapping| session.grant_source(&mapping.file));
        Ok(files)
    }
}

/// Makes the dataset, which has no name yet. Only within an operation.
pub fn make_dataset(
    settings: &ObjectSettings,
    session: &Session,
    plan: &DatasetPlan,
    fill: &FillWrite,
    at_once: Option<&[u8]>,
    attributes: &[NewAttribute<'_>],
) -> Result<MadeDataset> {
    let context = session.context();
    let stored = context.file();
    let datatype = plan.committed.map_or(NewType::Own(&plan.datatype), NewType::Committed);
    let attributes = hyperslab_object::initial_attributes(context, settings, &datatype, attributes)?;
    let mut layout = plan.layout.clone();
    if let Layout::Virtual { heap, index } = &mut layout {
        let bytes = virtual_mapping::encode(&plan.mappings, stored.libver_min(), stored.widths());
        let bytes = bytes.map_err(hyperslab_file::Error::from)?;
        let (address, object) = HeapWriter::new(session).attempt(|writer| {
            let place = writer.put(&bytes)?;
            writer.commit().map(|()| place)
        })?;
        (*heap, *index) = (Some(address), object);
    }
    if let (Some(values), Layout::Contiguous { address, .. }) = (at_once, &mut layout) {
        *address = Some(stored.store_raw("contiguous values", values)?);
    }
    if matches!(layout, Layout::Chunked { structure: Some(_), .. }) {
        stored.allow_structured_chunks()?;
    }
    if fill.alloc == AllocTime::Early {
        // Before the header: if there is no space, nothing has changed.
        layout = allocated(session, plan, fill, layout)?;
    }
    let constant_layout = is_constant(plan);
    let layout = DataLayout { version: plan.layout_version, old_sizes: Vec::new(), layout };
    let parts = DatasetParts {
        extent: &plan.extent,
        datatype,
        fill,
        layout: layout.encode(stored.widths()).map_err(hyperslab_file::Error::from)?,
        constant_layout,
        filters: Some(&plan.filters),
        external: external(session, plan)?,
        attributes,
    };
    Ok(MadeDataset { address: hyperslab_object::new_dataset(context, settings, parts)?, layout })
}

/// Takes space for all values of a new dataset with this layout, which has no header yet; the layout with the space. Only within an operation.
fn allocated(session: &Session, plan: &DatasetPlan, fill: &FillWrite, layout: Layout) -> Result<Layout> {
    let stored = session.file();
    let (version, element) = (plan.layout_version, plan.stored_datatype()?.size() as u64);
    let storage = match &layout {
        Layout::Contiguous { address: None, .. } if plan.external.is_empty() => Storage::Contiguous(None),
        Layout::Chunked { .. } => {
            let (filters, registry) = (hyperslab_chunk::filters(&plan.filters)?, session.engine.registry.clone());
            let (layout, extent) = (&layout, &plan.extent);
            let (fill, vlen) = vlen_parts(session, layout, &plan.datatype, None)?;
            let fill = fill.as_deref();
            let parts = ChunkedParts { layout, version, extent, element, filters, registry, fill, vlen };
            let chunked = Chunked::open(stored, parts)?;
            Storage::Chunked(Box::new(chunked))
        }
        _ => return Ok(layout),
    };
    let mut values = Values { extent: plan.extent.clone(), element, fill: None, storage };
    let is_new = values.allocate(stored, &Filling::new(fill))?;
    Ok(values.layout(version).filter(|_| is_new).unwrap_or(layout))
}

/// Whether the layout never changes, as libhdf5 says it: all space is there from the start.
fn is_constant(plan: &DatasetPlan) -> bool {
    let moves = matches!(plan.layout, Layout::Compact(_) | Layout::Chunked { structure: Some(_), .. });
    let is_plain = !moves && plan.filters.is_empty();
    plan.fill.alloc == AllocTime::Early && is_plain && !plan.extent.is_empty()
}

/// The message that names external files.
fn external(session: &Session, plan: &DatasetPlan) -> Result<Option<Vec<u8>>> {
    if plan.external.is_empty() {
        return Ok(None);
    }
    let stored = session.file();
    let sizes = plan.external.iter().map(|(name, ..)| (name.len() as u64 + 1).next_multiple_of(8));
    let mut heap = LocalHeap::create(stored, 8 + sizes.sum::<u64>())?;
    heap.add(stored, b"")?;
    let mut slots = Vec::new();
    for (name, offset, size) in &plan.external {
        slots.push(ExternalSlot { name: heap.add(stored, name)?, offset: *offset, size: *size });
    }
    let files = ExternalFiles { room: slots.len() as u16, heap: Some(heap.address()), slots };
    Ok(Some(files.encode(stored.widths()).map_err(hyperslab_file::Error::from)?))
}
