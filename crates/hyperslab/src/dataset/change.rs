//! Changing the size of a dataset, its elements without values, and stored chunks.

use hyperslab_space::Space;

use super::Dataset;
use crate::Result;

impl Dataset {
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
        self.open.resize(shape)
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
        self.open.resize_dimension(dimension, size)
    }

    /// Gives the selected elements the value of those that were never written. One request: no thread sees some of them before all are so.
    ///
    /// ```
    /// use hyperslab::s;
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let new = file.root()?.new_dataset::<i32>().shape([2, 3]).chunks([2, 2]).deflate(1).fill_value(-1);
    /// let dataset = new.create("grid")?;
    /// dataset.write(&[1, 2, 3, 4, 5, 6])?;
    /// dataset.write_fill(dataset.slice(s![.., 1..])?.selection())?;
    /// assert_eq!(dataset.read::<i32>()?, [1, -1, -1, 4, -1, -1]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn write_fill(&self, selection: &Space) -> Result<()> {
        self.open.write_fill(selection)
    }

    /// The selected elements that are defined: of a [sparse](crate::NewDataset::sparse) dataset those that were written, of a virtual one those that its
    /// sources have defined, of others all of them. Points keep their order. No value is handed out; [`Dataset::read_defined`] reads them in the same request.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let dataset = file.root()?.new_dataset::<i32>().shape([4, 4]).chunks([2, 2]).create("grid")?;
    /// let row = dataset.slice(hyperslab::s![1, ..])?;
    /// assert_eq!(dataset.defined(row.selection())?, *row.selection());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn defined(&self, selection: &Space) -> Result<Space> {
        self.open.defined(selection)
    }

    /// How many elements are defined, as [`Dataset::defined`] has it for the whole dataset. Of a sparse one, the chunks in memory tell it, and the index of others the bytes of
    /// their values: no chunk is read or written.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let row = file.root()?.new_dataset::<u16>().shape([1 << 40]).chunks([1 << 20]).sparse().create("row")?;
    /// row.write_slice(5..8, &[1, 2, 3])?;
    /// assert_eq!(row.defined_count()?, 3);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn defined_count(&self) -> Result<u64> {
        self.open.defined_count()
    }

    /// Lets the selected elements of a [sparse](crate::NewDataset::sparse) dataset not be defined any more: they read as the fill value, and take no space. An error for other
    /// datasets, where [`Dataset::write_fill`] gives elements the fill value.
    ///
    /// ```
    /// use hyperslab::s;
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let row = file.root()?.new_dataset::<u8>().shape([1000]).chunks([100]).sparse().fill_value(9u8).create("row")?;
    /// row.write_slice(s![..4], &[1, 2, 3, 4])?;
    /// row.erase(row.slice(s![1..3])?.selection())?;
    /// assert_eq!(row.read_slice::<u8>(s![..5])?, [1, 9, 9, 4, 9]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn erase(&self, selection: &Space) -> Result<()> {
        self.open.erase(selection)
    }

    /// The places in the grid of chunks of those that were ever written, rising; nothing if it has no chunks. Chunks that only the cache has are written first.
    pub fn chunk_places(&self) -> Result<Vec<Vec<u64>>> {
        self.open.chunk_places()
    }

    /// The stored bytes of the chunk at a place in the grid of chunks, and the filters that were left out, a bit each; nothing if
    /// it was never written. [`Dataset::read_structured_chunk`] is for chunks of several sections.
    pub fn read_chunk(&self, place: impl AsRef<[u64]>) -> Result<Option<(u32, Vec<u8>)>> {
        self.open.read_chunk(place)
    }

    /// Stores bytes as the chunk at a place in the grid of chunks. They went through the filters already, but for those whose bit in
    /// `mask` is set. [`Dataset::write_structured_chunk`] is for chunks of several sections.
    pub fn write_chunk(&self, place: impl AsRef<[u64]>, mask: u32, bytes: &[u8]) -> Result<()> {
        self.open.write_chunk(place, mask, bytes)
    }
}
