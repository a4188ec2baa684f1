//! Reading values as Rust values.

use std::borrow::Cow;

use hyperslab_dtype::{Arena, Datatype};
use hyperslab_space::Space;

use super::Dataset;
use hyperslab_session::room;

use hyperslab_element::Reading;

use crate::{Element, Error, Result, Slice, View};

impl Dataset {
    /// All values, the last dimension fastest. Values are converted as libhdf5 converts them: numbers that do not fit
    /// become the nearest that does.
    ///
    /// ```
    /// # let file = hyperslab::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5"))?;
    /// let dataset = file.dataset("temperature")?;
    /// let values = dataset.read::<f32>()?;
    /// assert_eq!(dataset.shape(), [3, 4]);
    /// assert_eq!(values[..4], [11.5, 12.0, 12.5, 13.0]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn read<T: Element>(&self) -> Result<Vec<T>> {
        self.open.with_extent(|| self.read_selection(&self.space()))
    }

    /// The only value.
    ///
    /// ```
    /// # let file = hyperslab::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5"))?;
    /// assert_eq!(file.dataset("height")?.read_scalar::<f64>()?, 408.0);
    /// assert!(file.dataset("temperature")?.read_scalar::<f64>().is_err());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn read_scalar<T: Element>(&self) -> Result<T> {
        let values = self.len();
        if values != 1 {
            return Err(Error::Length { values, room: 1 });
        }
        self.read()?.pop().ok_or(Error::Length { values: 0, room: 1 })
    }

    /// The values of a slice, the last dimension fastest. [`Dataset::slice`] also tells the shape.
    ///
    /// ```
    /// use hyperslab::s;
    /// # let file = hyperslab::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5"))?;
    /// let dataset = file.dataset("temperature")?; // 3 × 4
    /// assert_eq!(dataset.read_slice::<f32>(s![1, ..;2])?, [21.5, 22.5]);
    /// assert_eq!(dataset.read_slice::<f32>(s![.., -1])?, [13.0, 23.0, 33.0]);
    /// assert_eq!(dataset.read_slice::<f32>((0..2, 0))?, [11.5, 21.5]); // tuples and ranges do as well
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn read_slice<T: Element>(&self, slice: impl Into<Slice>) -> Result<Vec<T>> {
        let slice = slice.into();
        self.open.with_extent(|| self.read_selection(&slice.select(&self.extent())?.0))
    }

    /// The selected values, in the order of the selection: any hyperslabs, or points. The selection must be one of the extent that the
    /// dataset has now ([`Dataset::space`]); if it is not, the result is [`Error::Extent`].
    ///
    /// ```
    /// # let file = hyperslab::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5"))?;
    /// let dataset = file.dataset("temperature")?;
    /// let mut points = dataset.space();
    /// points.select_points(&[2, 3, 0, 0])?;
    /// assert_eq!(dataset.read_selection::<f32>(&points)?, [33.0, 11.5]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn read_selection<T: Element>(&self, selection: &Space) -> Result<Vec<T>> {
        let reading = Reading::<T>::new(self.readable()?.as_ref())?;
        let count = selection.npoints();
        let size = size_of::<T>() as u64;
        // Memory is taken before the request has its range lock: a selection that the dataset never had may want any amount.
        let room = || self.open.check_extent(selection).err().unwrap_or(Error::Memory { values: count, size });
        let length = usize::try_from(count).map_err(|_| room())?;
        if Reading::<T>::is_plain() {
            let mut values = T::zeros(length).ok_or_else(room)?;
            self.read_plain(&reading, selection, &mut values)?;
            return Ok(values);
        }
        let mut values = Vec::new();
        values.try_reserve_exact(length).map_err(|_| room())?;
        self.read_decoded(&reading, selection, &mut |part| {
            values.extend(part);
            Ok(())
        })?;
        Ok(values)
    }

    /// Reads all values to `to`, which has room for exactly so many.
    ///
    /// ```
    /// # let file = hyperslab::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5"))?;
    /// let mut values = [0i16; 12];
    /// file.dataset("temperature")?.read_into(&mut values)?;
    /// assert_eq!(values[..4], [11, 12, 12, 13]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn read_into<T: Element>(&self, to: &mut [T]) -> Result<()> {
        self.open.with_extent(|| self.read_selection_into(&self.space(), to))
    }

    /// Reads the values of a slice to `to`, which has room for exactly so many.
    pub fn read_slice_into<T: Element>(&self, slice: impl Into<Slice>, to: &mut [T]) -> Result<()> {
        let slice = slice.into();
        self.open.with_extent(|| self.read_selection_into(&slice.select(&self.extent())?.0, to))
    }

    /// Reads the selected values to `to`, which has room for exactly so many.
    pub fn read_selection_into<T: Element>(&self, selection: &Space, to: &mut [T]) -> Result<()> {
        let reading = Reading::<T>::new(self.readable()?.as_ref())?;
        let (values, room) = (selection.npoints(), to.len() as u64);
        if values != room {
            return Err(Error::Length { values, room });
        }
        if Reading::<T>::is_plain() {
            return self.read_plain(&reading, selection, to);
        }
        let mut places = to.iter_mut();
        self.read_decoded(&reading, selection, &mut |part| {
            places.by_ref().zip(part).for_each(|(place, value)| *place = value);
            Ok(())
        })
    }

    /// A part of the dataset: its shape, and reads of its values.
    ///
    /// ```
    /// use hyperslab::s;
    /// # let file = hyperslab::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5"))?;
    /// let part = file.dataset("temperature")?.slice(s![1.., 0..2])?;
    /// assert_eq!(part.shape(), [2, 2]);
    /// assert_eq!(part.read::<f32>()?, [21.5, 22.0, 31.5, 32.0]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn slice(&self, slice: impl Into<Slice>) -> Result<View> {
        View::new(self.clone(), &slice.into())
    }

    /// Values that are bytes, straight to their places.
    fn read_plain<T: Element>(&self, reading: &Reading<T>, selection: &Space, values: &mut [T]) -> Result<()> {
        let mem_selection = Space::simple(&[values.len() as u64])?;
        let Some(bytes) = T::as_bytes(values) else { return Ok(()) };
        // The sources of a virtual dataset may know more than its own type holds.
        if let (true, Some(memory)) = (self.open.is_virtual(), reading.memory()) {
            return self.read_converted(selection, memory, &mem_selection, bytes, &mut Arena::default());
        }
        self.open.read_planned(selection, reading.plan(), &mem_selection, bytes)
    }

    /// The type of values as they are decoded: the stored one, or what is gathered from several files.
    pub(super) fn readable(&self) -> Result<Cow<'_, Datatype>> {
        Ok(if self.has_many_heaps() { Cow::Owned(self.memory_datatype()?) } else { Cow::Borrowed(self.datatype()) })
    }

    /// Whether variable-length values come from elsewhere than the heap of the file: from those of other files, as those of a virtual dataset do, or from chunks.
    pub(super) fn has_many_heaps(&self) -> bool {
        self.open.is_virtual() && self.datatype().has_vlen() || self.open.has_vlen_chunks()
    }

    fn read_decoded<T: Element>(
        &self,
        reading: &Reading<T>,
        selection: &Space,
        take: &mut dyn FnMut(Vec<T>) -> Result<()>,
    ) -> Result<()> {
        if self.has_many_heaps() {
            let (datatype, count) = (self.readable()?, selection.npoints());
            let (mut arena, mut gathered) = (Arena::default(), room(count, datatype.size())?);
            self.read_converted(selection, &datatype, &Space::simple(&[count])?, &mut gathered, &mut arena)?;
            return reading.decode_gathered(&arena, &gathered, take);
        }
        let (mut heap, mut converted) = (self.session().heap(), Vec::new());
        self.open.in_order(selection, &mut |stored| reading.decode(&mut heap, stored, &mut converted, take))
    }

    /// All values, as bytes of the stored type; variable-length parts are references into [`File::heap`](crate::File::heap).
    pub fn read_stored(&self) -> Result<Vec<u8>> {
        self.open.read_stored()
    }

    /// The selected values one after the other, as bytes of the stored type.
    pub fn read_stored_selection(&self, selection: &Space) -> Result<Vec<u8>> {
        self.open.read_stored_selection(selection)
    }

    /// Reads the selected values, converted to `datatype`, to the selected places of `buf`, whose extent is in values of that type.
    /// What is of variable length goes to `arena`; `datatype` says so if it is [in memory](Datatype::in_memory).
    pub fn read_converted(
        &self,
        selection: &Space,
        datatype: &Datatype,
        mem_selection: &Space,
        buf: &mut [u8],
        arena: &mut Arena,
    ) -> Result<()> {
        self.open.read_converted(selection, datatype, mem_selection, buf, arena)
    }
}
