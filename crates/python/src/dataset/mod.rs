//! Datasets: what Python calls. What a call does with layouts, values and chunks is in the files of this folder.

mod chunks;
mod facts;
mod filters;
mod read;
mod sparse;
mod structured;
mod write;

use std::sync::Arc;

use hyperslab::space::{Extent, Space};
use hyperslab::{Dataset, FillTime, Node};
use numpy::PyArrayDescr;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use self::sparse::PyDefinedChunks;
use crate::array::{Array, unwrapped};
use crate::cache_policy::cache_policy;
use crate::cache_stats::cache_stats;
use crate::engine::{detached, engine};
use crate::error::too_large;
use crate::extent::again_if_resized;
use crate::handles::ObjectHandle;
use crate::index::{Picked, pick};
use crate::memory::Memory;
use crate::numbers::{limits, number, numbers, tuple};
use crate::numpy_type::{Dtype, dtype_of};
use crate::reference::{self, PyReference, PyRegionReference};
use crate::shared::Shared;
use crate::space::PySpace;

/// A dataset.
#[pyclass(name = "DatasetHandle", module = "hyperslab._hyperslab", frozen, extends = ObjectHandle)]
pub(crate) struct DatasetHandle {
    shared: Arc<Shared>,
    dataset: Dataset,
    /// The dtype that fits the stored type, and how its values lie in memory.
    natural: PyOnceLock<(Py<PyArrayDescr>, Arc<Memory>)>,
}

impl DatasetHandle {
    /// A dataset as an instance of the class, with what objects have in common.
    pub(crate) fn open(
        py: Python<'_>,
        base: PyClassInitializer<ObjectHandle>,
        shared: &Arc<Shared>,
        dataset: Dataset,
    ) -> PyResult<Py<PyAny>> {
        let dataset = DatasetHandle { shared: shared.clone(), dataset, natural: PyOnceLock::new() };
        Ok(Py::new(py, base.add_subclass(dataset))?.into_any())
    }

    /// Another handle in the same file.
    fn another(&self, py: Python<'_>, dataset: Dataset) -> PyResult<Py<PyAny>> {
        let base = ObjectHandle { shared: self.shared.clone(), node: Node::Dataset(dataset.clone()) };
        DatasetHandle::open(py, base.into(), &self.shared, dataset)
    }

    /// The dataset, unless its file is closed.
    pub(crate) fn dataset(&self) -> PyResult<&Dataset> {
        self.shared.file()?;
        Ok(&self.dataset)
    }

    /// Its extent at this moment.
    fn extent(&self, py: Python<'_>) -> PyResult<Extent> {
        self.shared.look(py, || self.dataset.extent())
    }

    /// All of its elements at this moment.
    fn space(&self, py: Python<'_>) -> PyResult<Space> {
        self.shared.look(py, || self.dataset.space())
    }
}

#[pymethods]
impl DatasetHandle {
    /// Its shape; nothing if it has no elements at all.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.shared.file()?;
        let extent = self.extent(py)?;
        (!extent.is_null()).then(|| tuple(py, extent.dims())).transpose()
    }

    #[getter]
    fn maxshape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.shared.file()?;
        let extent = self.extent(py)?;
        (!extent.is_null()).then(|| limits(py, extent.max())).transpose()
    }

    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Dtype<'py>> {
        self.shared.file()?;
        let stored = self.dataset.datatype();
        match self.natural.get(py) {
            Some((dtype, _)) => Ok(dtype.bind(py).clone()),
            None => dtype_of(py, stored),
        }
    }

    /// How it is stored: "compact", "contiguous", "external", "chunked" or "virtual", with what belongs to it.
    fn layout<'py>(&self, py: Python<'py>) -> PyResult<(&'static str, Bound<'py, PyAny>)> {
        self.shared.file()?;
        facts::layout(self, py)
    }

    /// The filters: number, parameters and name of each, in the order of writing.
    fn filters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.shared.file()?;
        filters::of_chunks(self, py)
    }

    /// What elements are that were never written: an array of one element.
    fn fill_value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        facts::fill_value(self, py)
    }

    /// The elements that an index names, as an array; one element by itself.
    #[pyo3(signature = (arguments, dtype=None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        arguments: &Bound<'py, PyTuple>,
        dtype: Option<Dtype<'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.shared.file()?;
        let read = || self.array(py, &pick(self.space(py)?, arguments)?, dtype.clone());
        unwrapped(again_if_resized(py, read)?)
    }

    /// The only element, in an array of no dimensions.
    #[pyo3(signature = (dtype=None))]
    fn read_scalar<'py>(&self, py: Python<'py>, dtype: Option<Dtype<'py>>) -> PyResult<Bound<'py, PyAny>> {
        let picked = Picked { space: self.space(py)?, shape: Vec::new() };
        Ok(self.array(py, &picked, dtype)?.into_any())
    }

    /// The selected elements in the order of the selection.
    #[pyo3(signature = (space, dtype=None))]
    fn read_selection<'py>(
        &self,
        py: Python<'py>,
        space: &PySpace,
        dtype: Option<Dtype<'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let space = self.selected(py, space)?;
        let count = space.npoints();
        let shape = vec![usize::try_from(count).map_err(|_| too_large(count))?];
        Ok(self.array(py, &Picked { space, shape }, dtype)?.into_any())
    }

    /// Reads the elements that one index names in the dataset to those that another names in an array. `False` if the numbers of
    /// elements differ.
    fn read_into(&self, array: &Array<'_>, source: &Bound<'_, PyTuple>, target: &Bound<'_, PyTuple>) -> PyResult<bool> {
        self.fill(array, source, target)
    }

    /// Writes the elements of an array, each of `dtype`, to the selected ones, in the order of the selection.
    fn write(&self, py: Python<'_>, space: &PySpace, array: Array<'_>, dtype: Dtype<'_>) -> PyResult<()> {
        write::write(self, py, space, &array, &dtype)
    }

    /// Makes it larger or smaller.
    fn resize(&self, py: Python<'_>, shape: &Bound<'_, PyAny>) -> PyResult<()> {
        self.shared.file()?;
        let shape = numbers(shape, "shape")?;
        engine(py, || self.dataset.resize(shape))
    }

    /// Makes one dimension larger or smaller.
    fn resize_dimension(&self, py: Python<'_>, dimension: usize, size: &Bound<'_, PyAny>) -> PyResult<()> {
        self.shared.file()?;
        let size = number(size, "shape")?;
        engine(py, || self.dataset.resize_dimension(dimension, size))
    }

    /// The stored bytes of the chunk at a place in the grid of chunks, and the filters that were left out; nothing if it was never
    /// written.
    fn read_chunk<'py>(&self, py: Python<'py>, place: Vec<u64>) -> PyResult<Option<(u32, Bound<'py, PyBytes>)>> {
        self.shared.file()?;
        chunks::read(self, py, place)
    }

    /// Stores bytes as the chunk at a place in the grid of chunks.
    fn write_chunk(&self, py: Python<'_>, place: Vec<u64>, mask: u32, bytes: &[u8]) -> PyResult<()> {
        self.shared.file()?;
        engine(py, || self.dataset.write_chunk(place, mask, bytes))
    }

    /// The sections of the structured chunk at a place in the grid of chunks: bytes, filters that were left out, and bytes before the filters of each; nothing if it
    /// was never written, or has no element.
    fn read_structured_chunk<'py>(
        &self,
        py: Python<'py>,
        place: Vec<u64>,
    ) -> PyResult<Option<Vec<structured::Section<'py>>>> {
        structured::read(self, py, place)
    }

    /// Stores sections as the structured chunk at a place in the grid of chunks.
    fn write_structured_chunk(
        &self,
        py: Python<'_>,
        place: Vec<u64>,
        sections: Vec<(PyBackedBytes, u32, u64)>,
    ) -> PyResult<()> {
        structured::write(self, py, place, sections)
    }

    /// Where the structured chunk at a place in the grid of chunks is, and what its sections are.
    fn structured_chunk_info<'py>(&self, py: Python<'py>, place: Vec<u64>) -> PyResult<Option<structured::Info<'py>>> {
        structured::info(self, py, place)
    }

    /// The same of the chunk with a number, counted from 0 by rising place.
    fn structured_chunk_info_by_number<'py>(
        &self,
        py: Python<'py>,
        number: u64,
    ) -> PyResult<Option<structured::Info<'py>>> {
        structured::info_by_number(self, py, number)
    }

    /// The same of all stored chunks, by rising place.
    fn structured_chunks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        structured::all(self, py)
    }

    /// How many bytes of it the cache keeps while other datasets have more.
    fn set_cache_reserve(&self, py: Python<'_>, count: usize) -> PyResult<()> {
        self.shared.file()?;
        engine(py, || self.dataset.set_cache_reserve(count))
    }

    /// How many bytes of the cache its chunks may take.
    fn set_cache_limit(&self, py: Python<'_>, count: usize) -> PyResult<()> {
        self.shared.file()?;
        engine(py, || self.dataset.set_cache_limit(count))
    }

    /// Which of its chunks leave the cache first.
    fn set_cache_policy(&self, py: Python<'_>, policy: &str) -> PyResult<()> {
        self.shared.file()?;
        let policy = cache_policy(policy)?;
        engine(py, || self.dataset.set_cache_policy(policy))
    }

    /// What the chunk cache did for it so far.
    fn cache_stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dataset = self.dataset()?;
        cache_stats(py, engine(py, || dataset.cache_statistics())?)
    }

    /// Counts anew what the chunk cache does for it.
    fn reset_cache_stats(&self, py: Python<'_>) -> PyResult<()> {
        let dataset = self.dataset()?;
        engine(py, || dataset.reset_cache_statistics())
    }

    /// Forgets values that only the cache has.
    fn discard(&self, py: Python<'_>) -> PyResult<()> {
        let dataset = self.dataset()?;
        engine(py, || dataset.discard())
    }

    /// A handle of the dataset as the file has it now.
    fn refresh(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let dataset = self.dataset()?;
        let fresh = engine(py, || dataset.refresh())?;
        self.another(py, fresh)
    }

    /// A handle whose reads and writes leave nothing new in the cache.
    fn past_cache(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.another(py, self.dataset()?.past_cache())
    }

    /// Whether only those elements are stored that were written.
    #[getter]
    fn is_sparse(&self) -> PyResult<bool> {
        Ok(self.dataset()?.is_sparse())
    }

    /// The filters of each section of its chunks, if chunks have sections.
    fn section_filters<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        filters::of_sections(self, py)
    }

    /// The selected elements that are defined.
    fn defined(&self, py: Python<'_>, space: &PySpace) -> PyResult<PySpace> {
        sparse::defined(self, py, space)
    }

    /// The coordinates of the selected elements that are defined, an array with a row for each, and their values.
    fn read_defined<'py>(&self, py: Python<'py>, space: &PySpace) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        sparse::read_defined(self, py, space)
    }

    /// Writes the elements of an array, each of `dtype`, to those with these coordinates.
    fn write_coords(
        &self,
        py: Python<'_>,
        coords: &Bound<'_, PyAny>,
        array: Array<'_>,
        dtype: Dtype<'_>,
    ) -> PyResult<()> {
        write::write_coords(self, py, coords, &array, &dtype)
    }

    /// Writes the elements of an array, each of `dtype`, to blocks, each said by its first element and its size.
    fn write_blocks(
        &self,
        py: Python<'_>,
        blocks: Vec<(Vec<u64>, Vec<u64>)>,
        array: Array<'_>,
        dtype: Dtype<'_>,
    ) -> PyResult<()> {
        write::write_blocks(self, py, &blocks, &array, &dtype)
    }

    /// Lets the selected elements not be defined any more.
    fn erase(&self, py: Python<'_>, space: &PySpace) -> PyResult<()> {
        sparse::erase(self, py, space)
    }

    /// How many elements are defined.
    fn defined_count(&self, py: Python<'_>) -> PyResult<u64> {
        sparse::defined_count(self, py)
    }

    /// The selected elements that are defined, chunk by chunk.
    fn defined_chunks(&self, py: Python<'_>, space: &PySpace) -> PyResult<PyDefinedChunks> {
        PyDefinedChunks::of(self, py, space)
    }

    /// The stored bytes of each section of all chunks.
    fn section_sizes(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        structured::sizes(self, py)
    }

    /// How many bytes the values take in the file.
    fn stored_size(&self, py: Python<'_>) -> PyResult<u64> {
        self.shared.file()?;
        Ok(engine(py, || self.dataset.stored_size())?.bytes)
    }

    /// When the fill value is written: "alloc", "never" or "ifset".
    #[getter]
    fn fill_time(&self) -> &'static str {
        match self.dataset.fill().write {
            FillTime::Alloc => "alloc",
            FillTime::Never => "never",
            FillTime::IfSet => "ifset",
        }
    }

    /// Makes it a dimension scale.
    fn make_scale(&self, py: Python<'_>, name: Option<&str>) -> PyResult<()> {
        self.shared.file()?;
        engine(py, || self.dataset.make_scale(name))
    }

    /// Gives a dimension a scale.
    fn attach_scale(&self, py: Python<'_>, dimension: usize, scale: &DatasetHandle) -> PyResult<()> {
        self.shared.file()?;
        engine(py, || self.dataset.attach_scale(dimension, &scale.dataset))
    }

    /// Takes a scale from a dimension.
    fn detach_scale(&self, py: Python<'_>, dimension: usize, scale: &DatasetHandle) -> PyResult<()> {
        self.shared.file()?;
        engine(py, || self.dataset.detach_scale(dimension, &scale.dataset))
    }

    /// Gives a dimension a label.
    fn set_label(&self, py: Python<'_>, dimension: usize, label: &str) -> PyResult<()> {
        self.shared.file()?;
        engine(py, || self.dataset.set_label(dimension, label))
    }

    /// A reference to the elements that an index names.
    fn region_reference(
        this: PyRef<'_, Self>,
        py: Python<'_>,
        arguments: &Bound<'_, PyTuple>,
    ) -> PyResult<Py<PyRegionReference>> {
        this.shared.file()?;
        let region = pick(this.space(py)?, arguments)?.space;
        reference::to_region(py, this.as_super().node.address(), region)
    }

    /// The region of a reference to this dataset, as a space.
    fn region(&self, py: Python<'_>, reference: &PyReference) -> PyResult<PySpace> {
        self.shared.file()?;
        detached(py, || reference.region(&self.dataset))?.map(PySpace::new)
    }
}
