//! A dataset that is being changed, within one operation.

use std::sync::OnceLock;

use hyperslab_chunk::{ChunkPartition, DatasetState, Filling, Resizing, Storage, StorageChange, Values};
use hyperslab_file::{OpenFile, Plan};
use hyperslab_space::{Coords, Extent, Kind, Space};

use super::{OpenDataset, named_values::retain_others, opened_values::is_found_by, replaced::Emptied};
use crate::{
    Error, Result,
    heap_objects::{HeapObjectId, each_once},
    heap_writer::HeapWriter,
};

/// The state of a dataset, taken for a change. All handles see what becomes of it.
pub(super) struct Change<'a> {
    dataset: &'a OpenDataset,
    state: StorageChange<'a>,
    /// Whether the header must say something new of the layout.
    pub(super) moved: bool,
}

/// Why a sparse dataset cannot have a shape: its elements have no numbers.
pub fn too_many_elements(shape: &[u64]) -> String {
    format!("a sparse dataset of shape {shape:?} has 2^64 elements or more, which 64 bits cannot number")
}

impl OpenDataset {
    /// Takes the state for a change. Only within an operation.
    pub(super) fn change(&self) -> Result<Change<'_>> {
        self.session().check_alive(self.life())?;
        Ok(Change { dataset: self, state: self.inner.storage.change()?, moved: false })
    }

    /// Makes it larger or smaller, as far as it may grow. New elements are the fill value.
    pub fn resize(&self, shape: impl AsRef<[u64]>) -> Result<()> {
        self.resize_to(|_| Ok(shape.as_ref().to_vec()))
    }

    /// As [`OpenDataset::resize`], of one dimension. The others stay, also beside other threads that resize these.
    pub fn resize_dimension(&self, dimension: usize, size: u64) -> Result<()> {
        self.resize_to(|now| {
            let (mut shape, rank) = (now.to_vec(), now.len());
            let side = shape.get_mut(dimension);
            *side.ok_or_else(|| Error::Create(format!("dimension {dimension} of {rank}")))? = size;
            Ok(shape)
        })
    }

    fn resize_to(&self, wanted: impl FnOnce(&[u64]) -> Result<Vec<u64>>) -> Result<()> {
        self.session().check_changeable()?;
        let (shape, _guard, mut cut_off) = self.lock_to_resize(wanted)?;
        let resized = self.resize_now(&shape, &mut cut_off);
        // After an error, too, the size tells whether the chunks outside are part of the dataset.
        if self.shape() == shape {
            cut_off.commit();
        }
        resized
    }

    /// One operation: gives it another size. The caller is alone with it.
    fn resize_now(&self, shape: &[u64], cut_off: &mut Emptied<'_>) -> Result<()> {
        let session = self.session();
        session.operate_on(self.address(), || {
            let mut change = self.change()?;
            let old = change.state.extent.clone();
            let new = resized(change.values()?, &old, shape)?;
            let (filling, stored) = (filling(self), session.file());
            if new == old {
                return Ok(());
            }
            if self.is_sparse() && new.elements().is_none() {
                return Err(Error::Change(too_many_elements(shape)));
            }
            let gone = change.heap_objects_outside(shape);
            let resizing = change.values()?.begin_resize(stored, shape, &filling)?;
            let is_published = !stored.is_fresh(self.address());
            let publish = |needed: bool| Plan::flushing_if(stored, needed && is_published).begin().map(drop);
            change.moved |= resizing.moved;
            change.save()?;
            if let Err(why) = publish(resizing.stored) {
                return Err(keep_size(stored, resizing, why)?);
            }
            change.set_extent(&new)?;
            if let Err(why) = publish(resizing.loses) {
                change.set_extent(&old)?;
                return Err(keep_size(stored, resizing, why)?);
            }
            let moved = change.values()?.end_resize(stored, resizing, &filling)?;
            HeapWriter::new(session).remove(gone);
            cut_off.remove_unnamed();
            change.moved |= moved;
            change.save()
        })
    }

    /// The stored bytes of the chunk at a place in the grid of chunks, and the filters that were left out, a bit each; nothing if
    /// it was never written.
    pub fn read_chunk(&self, place: impl AsRef<[u64]>) -> Result<Option<(u32, Vec<u8>)>> {
        let _guard = self.lock_chunk_to_read(place.as_ref())?;
        if let Some(partition) = self.partition()? {
            self.session().engine.partitions.cache.flush_chunk(partition, place.as_ref())?;
        }
        let now = self.now();
        let read = self.session().read_current(|| match &self.values(&now)?.storage {
            Storage::Chunked(chunked) => Ok(chunked.read_chunk(self.stored(), place.as_ref())?),
            _ => Err(Error::Change("the dataset is not stored in chunks".into())),
        })?;
        self.count_bypass(read.as_ref().map_or(0, |(_, bytes)| bytes.len() as u64))?;
        Ok(read)
    }

    /// Stores bytes as the chunk at a place in the grid of chunks. They went through the filters already, but for those whose bit in
    /// `mask` is set.
    pub fn write_chunk(&self, place: impl AsRef<[u64]>, mask: u32, bytes: &[u8]) -> Result<()> {
        let replaced = |other: &Coords| other.as_slice() == place.as_ref();
        self.session().check_changeable()?;
        let no_chunks = || Error::Change("the dataset is not stored in chunks".into());
        let check = || match &self.values(&self.now())?.storage {
            Storage::Chunked(chunked) => Ok(chunked.check_chunk(self.stored(), place.as_ref(), mask, bytes.len())?),
            _ => Err(no_chunks()),
        };
        let session = self.session();
        let is_alone = |partition: &ChunkPartition| self.names_objects() || !partition.source().layout().has_chunks();
        if let Some(partition) = self.partition_to_write()?.filter(|partition| !is_alone(partition)) {
            let _writing = session.writing()?;
            let _guard = self.lock_chunk(partition, place.as_ref());
            check()?;
            return Ok(session.engine.partitions.cache.write_chunk(
                self.stored(),
                partition,
                place.as_ref(),
                mask,
                bytes,
            )?);
        }
        let (_guard, emptied) = self.lock_all_but(&replaced, check)?;
        self.count_bypass(bytes.len() as u64)?;
        session.operate_on(self.address(), || {
            let (mut change, filling) = (self.change()?, filling(self));
            let Storage::Chunked(chunked) = &mut change.values()?.storage else { return Err(no_chunks()) };
            let moved = chunked.write_chunk(self.stored(), place.as_ref(), mask, bytes, &filling)?;
            change.moved |= moved;
            change.save()
        })?;
        emptied.commit();
        Ok(())
    }
}

impl<'a> Change<'a> {
    pub(super) fn extent(&self) -> &Extent {
        &self.state.extent
    }

    /// Lets the header tell another size.
    fn set_extent(&mut self, extent: &Extent) -> Result<()> {
        Ok(self.state.set_extent(extent)?)
    }

    pub(super) fn state(&self) -> &DatasetState {
        &self.state
    }

    /// Takes the values out, before they are deleted.
    pub(super) fn take_values(&mut self) -> Option<Values> {
        self.state.values.take().map(|opened| opened.values)
    }

    pub(super) fn dataset(&self) -> &'a OpenDataset {
        self.dataset
    }

    pub(super) fn values(&mut self) -> Result<&mut Values> {
        if !self.state.values.get().is_some_and(|opened| is_found_by(opened, self.dataset.session())) {
            let opened = self.dataset.open_values(&self.state)?;
            self.state.values = OnceLock::from(Box::new(opened));
        }
        Ok(self.state.values_mut()?)
    }

    /// Reads stored values.
    pub(super) fn read(&mut self, part: &Space, mem_selection: &Space, buf: &mut [u8]) -> Result<()> {
        let file = self.dataset.stored();
        Ok(self.values()?.read(file, part, mem_selection, buf)?)
    }

    /// Writes stored values.
    pub(super) fn write(&mut self, part: &Space, mem_selection: &Space, buf: &[u8]) -> Result<()> {
        let (file, filling) = (self.dataset.stored(), filling(self.dataset));
        let moved = self.values()?.write(file, part, mem_selection, buf, &filling)?;
        self.moved |= moved;
        Ok(())
    }

    /// Writes stored values that name new objects of the heap. If it fails, these are removed again, unless some values may name them already.
    pub(super) fn write_naming(&mut self, heap: &mut HeapWriter<'_>, part: &Space, stored: &[u8]) -> Result<()> {
        let dataset = self.dataset;
        dataset.stored().mark_whole();
        let written = self.write(part, &Space::simple(&[part.npoints()])?, stored);
        if written.is_err() && !self.values()?.is_overwritten() {
            heap.remove(self.unnamed_of(part, stored));
        }
        written
    }

    /// As [`Change::write_naming`]; removes what the values named before.
    pub(super) fn replace_naming(&mut self, heap: &mut HeapWriter<'_>, part: &Space, stored: &[u8]) -> Result<()> {
        let mut old = self.heap_objects(part);
        self.write_naming(heap, part, stored)?;
        if !old.is_empty() {
            // Members that were not written name what they did.
            retain_others(&mut old, &self.dataset.session().heap_objects(self.dataset.datatype(), stored));
        }
        // Of values that are written to one place, the last counts.
        if part.kind() == Kind::Points && part.npoints() > 1 {
            old.extend(self.unnamed_of(part, stored));
        }
        each_once(&mut old);
        heap.remove(old);
        Ok(())
    }

    /// The objects that stored values name, and the values of a part do not.
    fn unnamed_of(&mut self, part: &Space, stored: &[u8]) -> Vec<HeapObjectId> {
        let named = self.heap_objects(part);
        let mut objects = self.dataset.session().heap_objects(self.dataset.datatype(), stored);
        retain_others(&mut objects, &named);
        objects
    }

    /// Lets the header say what changed.
    pub(super) fn save(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.moved) {
            return Ok(());
        }
        Ok(self.state.save_layout()?)
    }
}

/// A dataset keeps its size, and the file is whole: what was to be in the file before the size changes could not be written.
fn keep_size(file: &OpenFile, resizing: Resizing, why: hyperslab_file::Error) -> Result<Error> {
    resizing.abandon(file)?;
    file.mark_whole();
    Ok(why.into())
}

/// What new space holds.
pub(super) fn filling(dataset: &OpenDataset) -> Filling<'_> {
    Filling::new(&dataset.inner.fill)
}

/// An extent with other sizes; an error if it, or the dataset with these values, may not have them.
pub(super) fn resized(values: &Values, old: &Extent, shape: &[u64]) -> Result<Extent> {
    if shape.len() != old.rank() || old.rank() == 0 {
        let why = format!("{shape:?} for a shape of {:?}: the number of dimensions stays", old.dims());
        return Err(Error::Create(why));
    }
    let sides = shape.iter().zip(old.dims().iter().zip(old.max()));
    if let Some(dim) = sides.clone().position(|(new, (_, max))| new > max) {
        let max = old.max().get(dim).copied().unwrap_or(0);
        return Err(Error::Create(format!("dimension {dim} never has more than {max}")));
    }
    if !matches!(values.storage, Storage::Chunked(_) | Storage::External(_)) {
        return Err(Error::Create("only what is stored in chunks or other files changes its size".into()));
    }
    Ok(values.resized(shape)?)
}
