//! Making a dataset, after everything was checked.

use hyperslab_format::message::{AllocTime, FillValue, Layout};
use hyperslab_object::ObjectSettings;
use hyperslab_session::{DatasetPlan, HeapWriter, NewLocation, NewObject, Session, make_dataset};

use super::{Fill, NewDataset, Shape, attributes};
use hyperslab_element::Writing;

use crate::{Dataset, Error, Result, Storable};

pub(super) fn create(new: &NewDataset, place: &NewLocation<'_>) -> Result<Dataset> {
    let planned = new.plan(place.session())?;
    make(new, place, &planned, None)
}

/// Makes the dataset and writes its values; what cannot be written is found out before.
pub(super) fn create_with<T: Storable>(new: &NewDataset, place: &NewLocation<'_>, values: &[T]) -> Result<Dataset> {
    let planned = new.plan(place.session())?;
    let (count, room) = (values.len() as u64, planned.extent.elements().unwrap_or(u64::MAX));
    if count != room {
        return Err(Error::Length { values: count, room });
    }
    if matches!(planned.layout, Layout::Virtual { .. }) {
        return Err(Error::Create("the values of a virtual dataset are written to its sources".into()));
    }
    let writing = Writing::<T>::new(planned.stored_datatype()?.as_ref())?;
    if !is_structured(&planned.layout)
        && let Some(piled) = writing.pile(values, &planned.datatype, place.session().file().widths())?
    {
        let dataset = make(new, place, &planned, None)?;
        let written = dataset.open.write_piled(&dataset.space(), piled);
        return with_values(place, dataset, written);
    }
    let (bytes, sequences) = writing.encode(values)?;
    let at_once = Some(&*bytes).filter(|bytes| writing.plan().is_copy() && goes_at_once(&planned, bytes));
    let dataset = make(new, place, &planned, at_once)?;
    if at_once.is_some() {
        return Ok(dataset);
    }
    let parts = (writing.plan(), writing.memory());
    let written = dataset.open.write_encoded(&dataset.space(), parts, &bytes, &sequences);
    with_values(place, dataset, written)
}

/// A new dataset whose values were written; one whose values were refused is not left behind.
fn with_values(place: &NewLocation<'_>, dataset: Dataset, written: Result<()>) -> Result<Dataset> {
    match written {
        Ok(()) => Ok(dataset),
        Err(why) => {
            // The first error tells what to do, not that its dataset is still there.
            let _ = place.take_back(dataset.address());
            Err(why)
        }
    }
}

fn is_structured(layout: &Layout) -> bool {
    matches!(layout, Layout::Chunked { structure: Some(_), .. })
}

/// So many bytes may be written with the dataset itself. More are written when it is there, because other threads wait for the operation that makes it.
const WITH_HEADER: usize = 64 << 10;

/// Whether these bytes are just what the dataset stores, in one piece and few: then they are written before its header, which names them at once.
fn goes_at_once(planned: &DatasetPlan, bytes: &[u8]) -> bool {
    let one_piece = matches!(planned.layout, Layout::Contiguous { size: Some(size), .. } if size == bytes.len() as u64);
    let few = (1..=WITH_HEADER).contains(&bytes.len());
    one_piece && few && planned.external.is_empty() && planned.fill.alloc != AllocTime::Early
}

impl NewDataset {
    /// Has the shape of the first values, if nothing else was said.
    pub(super) fn shape_of<T>(&mut self, values: &[T]) {
        if matches!(self.shape, Shape::Unknown) {
            self.shape = Shape::Simple(vec![values.len() as u64]);
        }
    }

    /// An error if something was said wrong.
    pub(super) fn right(&mut self) -> Result<()> {
        let wrong = [&mut self.wrong, &mut self.wrong_filter, &mut self.wrong_attribute];
        wrong.into_iter().find_map(Option::take).map_or(Ok(()), Err)
    }
}

fn make(new: &NewDataset, place: &NewLocation<'_>, planned: &DatasetPlan, at_once: Option<&[u8]>) -> Result<Dataset> {
    let session = place.session();
    let external = planned.grant(session)?;
    let NewObject { address, kept: (_kept, open), .. } = place.make_kept(|| {
        let settings = ObjectSettings {
            times: new.track_times,
            ordered: new.track_order,
            indexed: new.track_order,
            ..Default::default()
        };
        attributes::check(new, session, (&settings, planned))?;
        let mut fill = planned.fill.clone();
        // First: there may be no memory for so many, and then nothing has changed.
        let count = planned.extent.elements().and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX);
        // In structured chunks, elements that were not written have no values.
        let values = if is_structured(&planned.layout) { None } else { own_copies(new, session, planned, count)? };
        if let Some(value) = own_copies(new, session, planned, 1)? {
            fill.value = FillValue::User(value);
        }
        let data = attributes::store(session, &new.attributes)?;
        let attributes: Vec<_> = new.attributes.iter().zip(&data).map(|(one, data)| one.with(data)).collect();
        let made = make_dataset(&settings, session, planned, &fill, at_once, &attributes)?;
        let (address, committed) = (made.address, planned.committed);
        let open = match values {
            Some(values) => session.write_stored(address, &values).map(|()| None)?,
            None => made.open(session, planned, &fill)?,
        };
        let handle = if open.is_none() { session.file().handle(address) } else { None };
        Ok(NewObject { address, committed, kept: (handle, open) })
    })?;
    external.keep();
    open.map_or_else(|| session.at(address)?.into_dataset(), Ok).map(Dataset::of)
}

/// Elements with a fill value of variable length, if there is one: each with a copy of its own, since libhdf5 drops what was there
/// when it writes an element.
fn own_copies(new: &NewDataset, session: &Session, planned: &DatasetPlan, count: usize) -> Result<Option<Vec<u8>>> {
    let (Fill::Given(encode), true) = (&new.fill, planned.datatype.has_vlen()) else { return Ok(None) };
    HeapWriter::new(session).attempt(|heap| {
        let values = encode(&planned.datatype, count, heap)?;
        heap.commit().map(|()| Some(values))
    })
}
