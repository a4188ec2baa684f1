//! Making a dataset, after everything was checked.

use hyperslab_file::Kind;
use hyperslab_format::{
    message::{AllocTime, DataLayout, ExternalFiles, ExternalSlot, FillValue, FillWrite, Layout},
    virtual_mapping,
};
use hyperslab_object::{DatasetParts, NewType, ObjectSettings};
use hyperslab_structures::LocalHeap;

use super::{Fill, NewDataset, Shape, planned::Planned};
use crate::{
    Dataset, Error, File, Result, Storable, dataset,
    heap_writer::HeapWriter,
    place::{Made, Place},
    storable::Writing,
};

pub(super) fn create(new: NewDataset, place: &Place) -> Result<Dataset> {
    let new = new.right()?;
    let planned = new.plan(&place.file)?;
    make(&new, place, &planned, None)
}

/// Makes the dataset and writes its values; what cannot be written is found out before.
pub(super) fn create_with<T: Storable>(mut new: NewDataset, place: &Place, values: &[T]) -> Result<Dataset> {
    if matches!(new.shape, Shape::Unknown) {
        new.shape = Shape::Simple(vec![values.len() as u64]);
    }
    let new = new.right()?;
    let planned = new.plan(&place.file)?;
    let (count, room) = (values.len() as u64, planned.extent.elements().unwrap_or(u64::MAX));
    if count != room {
        return Err(Error::Length { values: count, room });
    }
    if matches!(planned.layout, Layout::Virtual { .. }) {
        return Err(Error::Create("the values of a virtual dataset are written to its sources".into()));
    }
    let writing = Writing::<T>::new(&planned.datatype)?;
    if let Some(piled) = writing.pile(values, &planned.datatype, place.file.inner.context.file().widths())? {
        let dataset = make(&new, place, &planned, None)?;
        dataset.write_piled(&dataset.space(), piled)?;
        return Ok(dataset);
    }
    let (bytes, sequences) = writing.encode(values)?;
    let at_once = Some(&*bytes).filter(|bytes| writing.plan().is_copy() && goes_at_once(&planned, bytes));
    let dataset = make(&new, place, &planned, at_once)?;
    if at_once.is_none() {
        dataset.write_encoded(&dataset.space(), &writing, &bytes, &sequences)?;
    }
    Ok(dataset)
}

/// Whether these bytes are just what the dataset stores, in one piece: then they are written before its header, which names them at once.
fn goes_at_once(planned: &Planned, bytes: &[u8]) -> bool {
    let one_piece = matches!(planned.layout, Layout::Contiguous { size: Some(size), .. } if size == bytes.len() as u64);
    one_piece && !bytes.is_empty() && planned.external.is_empty() && planned.fill.alloc != AllocTime::Early
}

impl NewDataset {
    /// Nothing was said wrong.
    fn right(mut self) -> Result<NewDataset> {
        match self.wrong.take() {
            Some(why) => Err(why),
            None => Ok(self),
        }
    }
}

fn make(new: &NewDataset, place: &Place, planned: &Planned, at_once: Option<&[u8]>) -> Result<Dataset> {
    let (file, mut address) = (&place.file, 0);
    planned.external.iter().try_for_each(|(name, ..)| dataset::make_external(file, name))?;
    planned.mappings.iter().for_each(|mapping| file.grant_source(&mapping.file));
    let _kept = place.operate(|| {
        let settings = ObjectSettings {
            times: new.track_times,
            ordered: new.track_order,
            indexed: new.track_order,
            ..Default::default()
        };
        let mut fill = planned.fill.clone();
        // First: there may be no memory for so many, and then nothing has changed.
        let count = planned.extent.elements().and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX);
        let values = own_copies(new, file, planned, count)?;
        if let Some(value) = own_copies(new, file, planned, 1)? {
            fill.value = FillValue::User(value);
        }
        address = put(&settings, file, planned, &fill, at_once)?;
        if let Some(values) = values {
            dataset::write_stored(file, address, &values)?;
        }
        Ok(Made::Object(address))
    })?;
    file.at(address)?.into_dataset()
}

/// Makes the dataset, which has no name yet. Only within an operation.
pub(crate) fn put(
    settings: &ObjectSettings,
    file: &File,
    planned: &Planned,
    fill: &FillWrite,
    at_once: Option<&[u8]>,
) -> Result<u64> {
    let context = &file.inner.context;
    let stored = context.file();
    let mut layout = planned.layout.clone();
    if let Layout::Virtual { heap, index } = &mut layout {
        let bytes = virtual_mapping::encode(&planned.mappings, stored.low(), stored.widths());
        let bytes = bytes.map_err(hyperslab_file::Error::from)?;
        let (address, object) = HeapWriter::new(file).attempt(|writer| {
            let place = writer.put(&bytes)?;
            writer.settle().map(|()| place)
        })?;
        (*heap, *index) = (Some(address), object);
    }
    if let (Some(values), Layout::Contiguous { address, .. }) = (at_once, &mut layout) {
        *address = Some(stored.tentative(|| {
            let place = stored.allocate(Kind::Raw, values.len() as u64)?;
            stored.write_raw("contiguous values", &[(place, values)]).map(|()| place)
        })?);
    }
    if fill.alloc == AllocTime::Early {
        // Before the header: if there is no space, nothing has changed.
        layout = dataset::allocated(file, planned, fill, layout)?;
    }
    let constant_layout = is_constant(planned);
    let layout = DataLayout { version: planned.layout_version, old_sizes: Vec::new(), layout };
    let parts = DatasetParts {
        extent: &planned.extent,
        datatype: planned.committed.map_or(NewType::Own(&planned.datatype), NewType::Committed),
        fill,
        layout: layout.encode(stored.widths()).map_err(hyperslab_file::Error::from)?,
        constant_layout,
        filters: Some(&planned.filters),
        external: external(file, planned)?,
    };
    Ok(hyperslab_object::new_dataset(context, settings, parts)?)
}

/// Elements with a fill value of variable length, if there is one: each with a copy of its own, since libhdf5 drops what was there
/// when it writes an element.
fn own_copies(new: &NewDataset, file: &File, planned: &Planned, count: usize) -> Result<Option<Vec<u8>>> {
    let (Fill::Given(encode), true) = (&new.fill, planned.datatype.has_vlen()) else { return Ok(None) };
    HeapWriter::new(file).attempt(|heap| {
        let values = encode(&planned.datatype, count, heap)?;
        heap.settle().map(|()| Some(values))
    })
}

/// Whether the layout never changes, as libhdf5 says it: all space is there from the start.
fn is_constant(planned: &Planned) -> bool {
    let is_compact = matches!(planned.layout, Layout::Compact(_));
    let is_plain = !is_compact && planned.filters.steps.is_empty();
    planned.fill.alloc == AllocTime::Early && is_plain && !planned.extent.is_empty()
}

/// The message that names external files.
fn external(file: &File, planned: &Planned) -> Result<Option<Vec<u8>>> {
    if planned.external.is_empty() {
        return Ok(None);
    }
    let stored = file.inner.context.file();
    let sizes = planned.external.iter().map(|(name, ..)| (name.len() as u64 + 1).next_multiple_of(8));
    let mut heap = LocalHeap::create(stored, 8 + sizes.sum::<u64>())?;
    heap.add(stored, b"")?;
    let mut slots = Vec::new();
    for (name, offset, size) in &planned.external {
        slots.push(ExternalSlot { name: heap.add(stored, name)?, offset: *offset, size: *size });
    }
    let files = ExternalFiles { room: slots.len() as u16, heap: Some(heap.address()), slots };
    Ok(Some(files.encode(stored.widths()).map_err(hyperslab_file::Error::from)?))
}
