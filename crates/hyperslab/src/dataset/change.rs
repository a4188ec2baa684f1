//! A dataset that is being changed, within one operation.

use std::sync::OnceLock;

use hyperslab_chunk::{Chunked, DatasetState, Filling, Resizing, Storage, StorageChange, Values};
use hyperslab_file::OpenFile;
use hyperslab_format::message::{FillWrite, Layout};
use hyperslab_object::{Kind, Object};
use hyperslab_space::{Coords, Extent, Space};

use super::{Dataset, opened_values::is_found_by};
use crate::{Error, File, Result, behind::Behind, heap_writer::HeapWriter, new_dataset::Planned};

/// The state of a dataset, taken for a change. All handles see what becomes of it.
pub(super) struct Change<'a> {
    dataset: &'a Dataset,
    state: StorageChange<'a>,
    /// Whether the header must say something new of the layout.
    pub(super) moved: bool,
}

impl Dataset {
    /// Takes the state for a change. Only within an operation.
    pub(super) fn change(&self) -> Result<Change<'_>> {
        self.file().check_alive(self.life())?;
        Ok(Change { dataset: self, state: self.inner.storage.change()?, moved: false })
    }

    /// Makes it larger or smaller, as far as it may grow. New elements are the fill value.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let log = file.root()?.new_dataset::<i32>().shape([0]).max_shape([None]).fill_value(-1).create("log")?;
    /// log.resize([3])?;
    /// log.write_slice(1.., &[5, 6])?;
    /// assert_eq!(log.read::<i32>()?, [-1, 5, 6]);
    /// assert!(file.dataset("log")?.resize([3, 3]).is_err());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn resize(&self, shape: impl AsRef<[u64]>) -> Result<()> {
        self.resize_to(|_| Ok(shape.as_ref().to_vec()))
    }

    /// As [`Dataset::resize`], of one dimension. The others stay, also beside other threads that resize these.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let table = file.root()?.new_dataset::<i32>().shape([2, 3]).max_shape([None, None]).create("table")?;
    /// table.resize_dimension(0, 5)?;
    /// assert_eq!(table.shape(), [5, 3]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn resize_dimension(&self, dimension: usize, size: u64) -> Result<()> {
        self.resize_to(|now| {
            let (mut shape, rank) = (now.to_vec(), now.len());
            let side = shape.get_mut(dimension);
            *side.ok_or_else(|| Error::Create(format!("dimension {dimension} of {rank}")))? = size;
            Ok(shape)
        })
    }

    fn resize_to(&self, wanted: impl FnOnce(&[u64]) -> Result<Vec<u64>>) -> Result<()> {
        let file = self.file();
        file.check_changeable()?;
        let (shape, _turn) = self.turn_to_resize(wanted)?;
        let shape = shape.as_slice();
        file.operate(|| {
            let mut change = self.change()?;
            let old = change.state.extent.clone();
            let new = resized(change.values()?, &old, shape)?;
            let (filling, stored) = (filling(self), file.inner.context.file());
            if new == old {
                return Ok(());
            }
            let gone = change.behind_outside(shape);
            let resizing = change.values()?.begin_resize(stored, shape, &filling)?;
            let is_published = !stored.is_fresh(self.address());
            let publish = |needed: bool| if needed && is_published { stored.publish() } else { Ok(()) };
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
            HeapWriter::new(file).remove(gone);
            change.moved |= moved;
            change.save()
        })
    }

    /// The stored bytes of the chunk at a place in the grid of chunks, and the filters that were left out, a bit each; nothing if
    /// it was never written.
    pub fn read_chunk(&self, place: impl AsRef<[u64]>) -> Result<Option<(u32, Vec<u8>)>> {
        if let Some(partition) = self.partition()? {
            self.file().inner.partitions.cache.flush_chunk(partition, place.as_ref())?;
        }
        let now = self.now();
        self.file().read_current(|| match &self.values(&now)?.storage {
            Storage::Chunked(chunked) => Ok(chunked.read_chunk(self.stored(), place.as_ref())?),
            _ => Err(Error::Change("the dataset is not stored in chunks".into())),
        })
    }

    /// Stores bytes as the chunk at a place in the grid of chunks. They went through the filters already, but for those whose bit in
    /// `mask` is set.
    pub fn write_chunk(&self, place: impl AsRef<[u64]>, mask: u32, bytes: &[u8]) -> Result<()> {
        let replaced = |other: &Coords| other.as_slice() == place.as_ref();
        self.file().check_changeable()?;
        let no_chunks = || Error::Change("the dataset is not stored in chunks".into());
        let check = || match &self.values(&self.now())?.storage {
            Storage::Chunked(chunked) => Ok(chunked.check_chunk(self.stored(), place.as_ref(), mask, bytes.len())?),
            _ => Err(no_chunks()),
        };
        let file = self.file();
        if let Some(partition) = self.partition_to_write()?.filter(|partition| partition.home().layout().has_chunks()) {
            let _writing = file.writing()?;
            let _turn = self.turn_of_chunk(partition, place.as_ref());
            check()?;
            return Ok(file.inner.partitions.cache.write_chunk(partition, place.as_ref(), mask, bytes)?);
        }
        let _turn = self.turn_alone_but(&replaced, check)?;
        file.operate(|| {
            let (mut change, filling) = (self.change()?, filling(self));
            let Storage::Chunked(chunked) = &mut change.values()?.storage else { return Err(no_chunks()) };
            let moved = chunked.write_chunk(file.inner.context.file(), place.as_ref(), mask, bytes, &filling)?;
            change.moved |= moved;
            change.save()
        })
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

    pub(super) fn dataset(&self) -> &'a Dataset {
        self.dataset
    }

    pub(super) fn values(&mut self) -> Result<&mut Values> {
        if !self.state.values.get().is_some_and(|opened| is_found_by(opened, self.dataset.file())) {
            let opened = self.dataset.open_values(&self.state)?;
            self.state.values = OnceLock::from(opened);
        }
        Ok(self.state.values_mut()?)
    }

    /// Reads stored values.
    pub(super) fn read(&mut self, part: &Space, places: &Space, buf: &mut [u8]) -> Result<()> {
        let file = self.dataset.stored();
        Ok(self.values()?.read(file, part, places, buf)?)
    }

    /// Writes stored values.
    pub(super) fn write(&mut self, part: &Space, places: &Space, buf: &[u8]) -> Result<()> {
        let (file, filling) = (self.dataset.stored(), filling(self.dataset));
        let moved = self.values()?.write(file, part, places, buf, &filling)?;
        self.moved |= moved;
        Ok(())
    }

    /// Writes stored values that name new objects of the heap. If it fails, these are removed again, unless some values may name them already.
    pub(super) fn write_naming(&mut self, heap: &mut HeapWriter<'_>, part: &Space, stored: &[u8]) -> Result<()> {
        let dataset = self.dataset;
        dataset.stored().mark_whole();
        let written = self.write(part, &Space::simple(&[part.npoints()])?, stored);
        if written.is_err() && !self.values()?.is_overwritten() {
            heap.remove(dataset.file().behind(dataset.datatype(), stored));
        }
        written
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
pub(super) fn filling(dataset: &Dataset) -> Filling<'_> {
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

/// Gives back what the values of an object that goes, and of its attributes, take outside of it. Only within an operation.
pub(crate) fn drop_values(file: &File, object: &Object) -> hyperslab_file::Result<()> {
    let failed = |why: Error| match why {
        Error::File(why) => why,
        why => hyperslab_file::Error::Above(why.into()),
    };
    let context = &file.inner.context;
    if !context.shares_attributes()? {
        let attributes = object.attributes(context).unwrap_or_default();
        let named = attributes.iter().flatten().flat_map(|found| file.behind(&found.datatype, &found.data));
        let named: Vec<_> = named.collect();
        HeapWriter::new(file).remove(named);
    }
    if object.kind() != Kind::Dataset {
        return Ok(());
    }
    file.inner.datasets.forget(object.address());
    // The values of a virtual dataset are others'; to open it would be to look for them. The list of them is its own.
    if let Layout::Virtual { heap, index } = object.layout(context)?.layout {
        HeapWriter::new(file).remove(heap.map(|address| Behind { address, index, length: 0 }));
        return Ok(());
    }
    let dataset = Dataset::open(file, object.clone()).map_err(failed)?;
    file.inner.datasets.forget(object.address());
    let mut change = dataset.change().map_err(failed)?;
    let named = change.behind_all();
    HeapWriter::new(file).remove(named);
    change.values().map_err(failed)?;
    file.inner.partitions.forget(object.address());
    let stored = file.inner.context.file();
    match change.state.values.take() {
        Some(found) => found.values.delete(stored).map_err(|why| failed(why.into())),
        None => Ok(()),
    }
}

/// Takes space for all values of a new dataset with this layout, which has no header yet; the layout with the space. Only within an operation.
pub(crate) fn allocated(file: &File, planned: &Planned, fill: &FillWrite, layout: Layout) -> Result<Layout> {
    let stored = file.inner.context.file();
    let (version, element) = (planned.layout_version, planned.datatype.size() as u64);
    let storage = match &layout {
        Layout::Contiguous { address: None, .. } if planned.external.is_empty() => Storage::Contiguous(None),
        Layout::Chunked { .. } => {
            let (pipeline, registry) = (hyperslab_chunk::pipeline(&planned.filters)?, file.inner.registry.clone());
            let chunked = Chunked::open(stored, &layout, version, &planned.extent, element, pipeline, registry)?;
            Storage::Chunked(Box::new(chunked))
        }
        _ => return Ok(layout),
    };
    let mut values = Values { extent: planned.extent.clone(), element, fill: None, storage };
    let is_new = values.allocate(stored, &Filling::new(fill))?;
    Ok(values.layout(version).filter(|_| is_new).unwrap_or(layout))
}

/// Writes all values of a new dataset, as they are stored. Only within an operation.
pub(crate) fn write_stored(file: &File, address: u64, values: &[u8]) -> Result<()> {
    let dataset = Dataset::open(file, Object::open(&file.inner.context, address)?)?;
    let mut change = dataset.change()?;
    let whole = Space::new(change.extent().clone());
    if whole.npoints() > 0 {
        change.write(&whole, &Space::simple(&[whole.npoints()])?, values)?;
    }
    change.save()
}
