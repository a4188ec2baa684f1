//! Datasets: facts, and values to and from NumPy arrays.

use std::sync::Arc;

use hyperslab::dtype::{Arena, Class, Datatype, Plan, Vlen};
use hyperslab::space::{Extent, Op, Selection, Space, UNLIMITED};
use hyperslab::{Dataset, FillTime, FillValue, Layout, Node};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::array::{Array, bytes, check_writable, pin, room, unwrapped, zeros};
use crate::cache_policy::cache_policy;
use crate::cache_stats::cache_stats;
use crate::engine::{detached, engine};
use crate::error::{ExtentError, exception, of_space, too_large};
use crate::extent::again_if_resized;
use crate::given::Given;
use crate::handles::ObjectHandle;
use crate::index::{Picked, pick};
use crate::memory::Memory;
use crate::names::name;
use crate::numbers::{limits, number, numbers, tuple};
use crate::numpy_type::{Dtype, dtype_of};
use crate::reference::{self, PyReference, PyRegionReference};
use crate::shared::Shared;
use crate::space::PySpace;
use crate::texts;

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

    /// The dtype to read, the dataset's own if none is asked for.
    pub(crate) fn memory<'py>(
        &self,
        py: Python<'py>,
        wanted: Option<Dtype<'py>>,
    ) -> PyResult<(Dtype<'py>, Arc<Memory>)> {
        let stored = self.dataset.datatype();
        if let Some(dtype) = wanted {
            let memory = Memory::to_read(&dtype, stored)?;
            return Ok((dtype, Arc::new(memory)));
        }
        if let Some((dtype, memory)) = self.natural.get(py) {
            return Ok((dtype.bind(py).clone(), memory.clone()));
        }
        // Other threads may run meanwhile, and fork the process: a cell that is being filled would be so in the child for ever.
        let dtype = dtype_of(py, stored)?;
        let memory = Arc::new(Memory::new(&dtype, stored)?);
        // If another thread was faster, both have found the same.
        let _ = self.natural.set(py, (dtype.clone().unbind(), memory.clone()));
        Ok((dtype, memory))
    }

    /// Reads selected values as converted values in memory, to be made into objects.
    fn stage(&self, py: Python<'_>, memory: &Memory, selection: &Space) -> PyResult<(Vec<u8>, Arena)> {
        let (count, mut arena) = (selection.npoints(), Arena::default());
        let flat = Space::simple(&[count]).map_err(of_space)?;
        let mut stage = room(count, memory.datatype.size())?;
        engine(py, || self.dataset.read_converted(selection, &memory.datatype, &flat, &mut stage, &mut arena))?;
        Ok((stage, arena))
    }

    /// Reads selected values to all places of a new array, which no other code has seen.
    fn fill_new(&self, memory: &Memory, selection: &Space, array: &mut Array<'_>) -> PyResult<()> {
        self.shared.file()?;
        let py = array.py();
        if memory.steps.is_some() {
            let (stage, arena) = self.stage(py, memory, selection)?;
            return memory.finish(py, &stage, &arena, bytes(array)?);
        }
        let mem_selection = Space::simple(&[selection.npoints()]).map_err(of_space)?;
        let (target, mut arena) = (bytes(array)?, Arena::default());
        engine(py, || self.dataset.read_converted(selection, &memory.datatype, &mem_selection, target, &mut arena))
    }

    /// Reads selected values to the selected places of an array that the user gave, whose elements are of `dtype`.
    fn fill_given(
        &self,
        dtype: &Dtype<'_>,
        selection: &Space,
        mem_selection: &Space,
        array: &mut Array<'_>,
    ) -> PyResult<()> {
        self.shared.file()?;
        let (py, memory) = (array.py(), Memory::to_read(dtype, self.dataset.datatype())?);
        if memory.steps.is_none() {
            let _pinned = pin(array)?;
            let (target, mut arena) = (bytes(array)?, Arena::default());
            let read = || self.dataset.read_converted(selection, &memory.datatype, mem_selection, target, &mut arena);
            return engine(py, read);
        }
        let (stage, arena) = self.stage(py, &memory, selection)?;
        let count = usize::try_from(selection.npoints()).map_err(|_| too_large(selection.npoints()))?;
        let mut made = zeros(&[count], dtype)?;
        memory.finish(py, &stage, &arena, bytes(&mut made)?)?;
        // Making objects may have run any code. Letting go of the old ones runs more: they are in `made` then.
        let is_same = element_dtype(array, self.dataset.datatype())?.0.is_equiv_to(dtype);
        let (values, target) = (bytes(&mut made)?, bytes(array)?);
        if !is_same || mem_selection.extent().bytes(memory.itemsize as u64) != Some(target.len() as u64) {
            return Err(PyValueError::new_err("the array was changed while it was read into"));
        }
        let parts = memory.parts();
        for (value, coords) in
            values.chunks_exact_mut(memory.itemsize.max(1)).zip(mem_selection.coords().map_err(of_space)?)
        {
            let ordinal =
                coords.iter().zip(mem_selection.dims()).fold(0, |ordinal, (&index, &size)| ordinal * size + index);
            let place = usize::try_from(ordinal).ok().and_then(|at| at.checked_mul(memory.itemsize));
            let place = place.and_then(|at| target.get_mut(at..)).unwrap_or_default();
            // Runs no code of Python: objects change places, and none goes.
            for part in &parts {
                let (value, place) = (value.get_mut(part.clone()), place.get_mut(part.clone()));
                value.zip(place).into_iter().for_each(|(value, place)| value.swap_with_slice(place));
            }
        }
        Ok(())
    }

    /// A selection of the dataset, as far as it reaches.
    pub(crate) fn selected(&self, py: Python<'_>, space: &PySpace) -> PyResult<Space> {
        let space = space.now(py);
        let extent = self.extent(py)?;
        if space.dims() != extent.dims() {
            let (given, own) = (space.dims(), extent.dims());
            return Err(ExtentError::new_err(format!("a space of shape {given:?} for a dataset of shape {own:?}")));
        }
        let space = space.clip_unlimited().map_err(of_space)?;
        space.check_inside().map_err(of_space)?;
        Ok(space)
    }

    /// The picked values as an array of their shape.
    fn array<'py>(&self, py: Python<'py>, picked: &Picked, wanted: Option<Dtype<'py>>) -> PyResult<Array<'py>> {
        let (dtype, memory) = self.memory(py, wanted)?;
        let mut array = zeros(&picked.shape, &dtype)?;
        if picked.space.npoints() > 0 {
            self.fill_new(&memory, &picked.space, &mut array)?;
        }
        Ok(array)
    }
}

/// The selection of a source, whose extent the mapping does not say: just large enough.
fn source_space(selection: &Selection) -> hyperslab::space::Result<Space> {
    let mut space = Space::simple(&vec![1; selection.rank().unwrap_or(0)])?;
    space.select(Op::Set, selection)?;
    let Some((_, high)) = space.bounds() else { return Ok(space) };
    let sizes: Vec<u64> = high.iter().map(|&high| if high == UNLIMITED { 1 } else { high + 1 }).collect();
    let mut space = Space::simple(&sizes)?;
    space.select(Op::Set, selection)?;
    Ok(space)
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
        let layout = engine(py, || self.dataset.layout())?;
        Ok(match layout {
            Layout::Compact => ("compact", py.None().into_bound(py)),
            Layout::Contiguous => ("contiguous", py.None().into_bound(py)),
            Layout::Chunked { chunk, .. } => ("chunked", tuple(py, &chunk)?.into_any()),
            Layout::External(files) => {
                let parts = PyList::empty(py);
                for (file, offset, size) in files {
                    parts.append((name(py, &file)?, offset, size.unwrap_or(UNLIMITED)))?;
                }
                ("external", parts.into_any())
            }
            Layout::Virtual(_) => {
                let parts = PyList::empty(py);
                for part in engine(py, || self.dataset.virtual_mappings())? {
                    let (file, dataset) = (name(py, &part.file)?, name(py, &part.dataset)?);
                    let mut target = self.space(py)?;
                    target.select(Op::Set, &part.target).map_err(of_space)?;
                    let source = source_space(&part.source).map_err(of_space)?;
                    parts.append((PySpace::new(target), file, dataset, PySpace::new(source)))?;
                }
                ("virtual", parts.into_any())
            }
            _ => return Err(PyTypeError::new_err("a layout of an unknown kind")),
        })
    }

    /// The filters: number, parameters and name of each, in the order of writing.
    fn filters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.shared.file()?;
        let filters = PyList::empty(py);
        for step in self.dataset.filters() {
            filters.append((step.id, PyTuple::new(py, &step.params)?, name(py, &step.name)?))?;
        }
        Ok(filters)
    }

    /// What elements are that were never written: an array of one element.
    fn fill_value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let file = self.shared.file()?;
        let (dtype, memory) = self.memory(py, None)?;
        let mut array = zeros(&[1], &dtype)?;
        let stored = self.dataset.datatype();
        let zeros = vec![0; stored.size()];
        let value = match &self.dataset.fill().value {
            FillValue::User(value) if value.len() == stored.size() => value,
            _ => &zeros,
        };
        let (mut stage, mut arena) = (vec![0; memory.datatype.size()], Arena::default());
        let plan = Plan::new(stored, &memory.datatype).map_err(|why| exception(why.into()))?;
        engine(py, || Ok(plan.convert(1, value, &mut stage, &file.heap(), &mut arena)?))?;
        memory.finish(py, &stage, &arena, bytes(&mut array)?)?;
        Ok(array.into_any())
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
        check_writable(array)?;
        let shape: Vec<u64> = array.shape().iter().map(|&size| size as u64).collect();
        // An array datatype takes the last dimensions of the array.
        let (dtype, inner) = element_dtype(array, self.dataset.datatype())?;
        let shape = shape.get(..shape.len() - inner).unwrap_or_default();
        let mem_selection = pick(Space::simple(shape).map_err(of_space)?, target)?.space;
        debug_assert!(dtype.itemsize() > 0 || array.is_empty());
        again_if_resized(array.py(), || {
            let source = pick(self.space(array.py())?, source)?.space;
            if mem_selection.npoints() != source.npoints() {
                return Ok(false);
            }
            if source.npoints() > 0 {
                self.fill_given(&dtype, &source, &mem_selection, &mut array.clone())?;
            }
            Ok(true)
        })
    }

    /// Writes the elements of an array, each of `dtype`, to the selected ones, in the order of the selection.
    fn write(&self, py: Python<'_>, space: &PySpace, array: Array<'_>, dtype: Dtype<'_>) -> PyResult<()> {
        let (file, stored, selection) = (self.shared.file()?, self.dataset.datatype(), space.now(py));
        if let (b'T', Class::Vlen(Vlen { text: Some((_, charset)), .. })) = (dtype.kind(), stored.class()) {
            return texts::write_own(&self.dataset, &selection, &array, *charset);
        }
        let memory = Memory::to_write(&dtype, stored)?;
        if let Some(charset) = memory.text() {
            return texts::write(&self.dataset, &selection, &array, charset);
        }
        Given::of(file, &array, memory, stored)?.write(py, &self.dataset, &selection)
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
        let found = engine(py, || self.dataset.read_chunk(place))?;
        let stored = |bytes: Vec<u8>| {
            PyBytes::new_with(py, bytes.len(), |to| {
                to.copy_from_slice(&bytes);
                Ok(())
            })
        };
        found.map(|(mask, bytes)| Ok((mask, stored(bytes)?))).transpose()
    }

    /// Stores bytes as the chunk at a place in the grid of chunks.
    fn write_chunk(&self, py: Python<'_>, place: Vec<u64>, mask: u32, bytes: &[u8]) -> PyResult<()> {
        self.shared.file()?;
        engine(py, || self.dataset.write_chunk(place, mask, bytes))
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

/// The dtype of the elements that an array has for values of a stored type, and how many of its dimensions are in it.
fn element_dtype<'py>(array: &Array<'py>, stored: &Datatype) -> PyResult<(Dtype<'py>, usize)> {
    let (mut dims, mut stored) = (Vec::new(), stored);
    while let Class::Array(inner) = stored.class() {
        dims.extend(inner.dims().iter().map(|&dim| dim as usize));
        stored = inner.base();
    }
    if dims.is_empty() || !array.shape().ends_with(&dims) {
        return Ok((array.dtype(), 0));
    }
    let py = array.py();
    Ok((PyArrayDescr::new(py, (array.dtype(), PyTuple::new(py, &dims)?))?, dims.len()))
}
