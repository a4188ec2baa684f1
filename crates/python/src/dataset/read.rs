//! Values of a dataset to NumPy arrays, and what these are like.

use std::sync::Arc;

use hyperslab::dtype::{Arena, Class, Datatype};
use hyperslab::space::Space;
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::DatasetHandle;
use crate::array::{Array, bytes, check_writable, pin, room, zeros};
use crate::engine::engine;
use crate::error::{ExtentError, of_space, too_large};
use crate::extent::again_if_resized;
use crate::index::{Picked, pick};
use crate::memory::Memory;
use crate::numpy_type::{Dtype, dtype_of};
use crate::space::PySpace;

impl DatasetHandle {
    /// The dtype to read, the dataset's own if none is asked for.
    pub(crate) fn memory<'py>(
        &self,
        py: Python<'py>,
        wanted: Option<Dtype<'py>>,
    ) -> PyResult<(Dtype<'py>, Arc<Memory>)> {
        let stored = self.dataset.stored_datatype();
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
    pub(super) fn array<'py>(
        &self,
        py: Python<'py>,
        picked: &Picked,
        wanted: Option<Dtype<'py>>,
    ) -> PyResult<Array<'py>> {
        let (dtype, memory) = self.memory(py, wanted)?;
        let mut array = zeros(&picked.shape, &dtype)?;
        if picked.space.npoints() > 0 {
            self.fill_new(&memory, &picked.space, &mut array)?;
        }
        Ok(array)
    }

    /// Reads the elements that one index names in the dataset to those that another names in an array. `false` if the numbers of
    /// elements differ.
    pub(super) fn fill(
        &self,
        array: &Array<'_>,
        source: &Bound<'_, PyTuple>,
        target: &Bound<'_, PyTuple>,
    ) -> PyResult<bool> {
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
        let (py, memory) = (array.py(), Memory::to_read(dtype, self.dataset.stored_datatype())?);
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
