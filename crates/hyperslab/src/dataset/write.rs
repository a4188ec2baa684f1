//! Writing values: Rust values, or converted bytes.

use hyperslab_dtype::{Arena, Datatype};
use hyperslab_session::Piled;
use hyperslab_space::Space;

use super::Dataset;
use hyperslab_element::Writing;

use crate::{Error, Result, Slice, Storable};

impl Dataset {
    /// Writes all values, the last dimension fastest. Values are converted as libhdf5 converts them: numbers that do not fit become
    /// the nearest that does.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let dataset = file.root()?.new_dataset::<u8>().shape([2, 2]).create("pixels")?;
    /// dataset.write(&[1.5f32, 2.0, 300.0, -1.0])?;
    /// assert_eq!(dataset.read::<u8>()?, [1, 2, 255, 0]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn write<T: Storable>(&self, values: &[T]) -> Result<()> {
        self.open.with_extent(|| self.write_selection(&self.space(), values))
    }

    /// Writes the only value.
    pub fn write_scalar<T: Storable>(&self, value: &T) -> Result<()> {
        self.write(std::slice::from_ref(value))
    }

    /// Writes the values of a slice, the last dimension fastest.
    ///
    /// ```
    /// use hyperslab::s;
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let dataset = file.root()?.new_dataset::<i32>().shape([3, 4]).create("table")?;
    /// dataset.write_slice(s![.., 0], &[1, 2, 3])?;
    /// dataset.write_slice(s![-1, 1..], &[7, 8, 9])?;
    /// assert_eq!(dataset.read::<i32>()?, [1, 0, 0, 0, 2, 0, 0, 0, 3, 7, 8, 9]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn write_slice<T: Storable>(&self, slice: impl Into<Slice>, values: &[T]) -> Result<()> {
        let slice = slice.into();
        self.open.with_extent(|| self.write_selection(&slice.select(&self.extent())?.0, values))
    }

    /// Writes the selected values, in the order of the selection: any hyperslabs, or points. The selection must be one of the extent that the
    /// dataset has now ([`Dataset::space`]); if it is not, nothing is written and the result is [`Error::Extent`].
    pub fn write_selection<T: Storable>(&self, selection: &Space, values: &[T]) -> Result<()> {
        let writing = Writing::<T>::new(self.open.stored_datatype())?;
        let (room, count) = (selection.npoints(), values.len() as u64);
        if room != count {
            return Err(Error::Length { values: count, room });
        }
        if let (false, Some(piled)) = (self.open.is_virtual(), self.pile(&writing, selection, values)?) {
            return self.open.write_piled(selection, piled);
        }
        let (bytes, arena) = writing.encode(values)?;
        self.open.write_encoded(selection, (writing.plan(), writing.memory()), &bytes, &arena)
    }

    /// Values of variable length that replace no others, converted on all cores.
    fn pile<T: Storable>(&self, writing: &Writing<T>, selection: &Space, values: &[T]) -> Result<Option<Piled>> {
        if self.open.has_vlen_chunks() || self.open.replaces_sequences(selection) {
            return Ok(None);
        }
        writing.pile(values, self.datatype(), self.session().file().widths())
    }

    /// Writes the selected values from the selected places of `buf`, whose extent is in values of `datatype`. What is of variable
    /// length is taken from `arena`; `datatype` says so if it is [in memory](Datatype::in_memory).
    pub fn write_converted(
        &self,
        selection: &Space,
        datatype: &Datatype,
        mem_selection: &Space,
        buf: &[u8],
        arena: &Arena,
    ) -> Result<()> {
        self.open.write_converted(selection, datatype, mem_selection, buf, arena)
    }
}
