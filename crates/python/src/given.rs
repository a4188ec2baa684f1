//! Values of NumPy arrays as the engine takes them: where they are, unless some are Python objects.

use hyperslab::dtype::{Arena, Class, Datatype, NoHeap, Padding, Plan, Target};
use hyperslab::space::Space;
use hyperslab::{Dataset, File};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::array::{Array, Pinned, asarray, contents, pin, private, room, zeros};
use crate::engine::engine;
use crate::error::{of_space, of_type};
use crate::memory::{Make, Memory, Step, is_number_of_enum};
use crate::numpy_type::Dtype;
use crate::objects;
use crate::reference::PyReference;
use crate::texts::text;

/// Values to be written.
pub(crate) struct Given<'a, 'py> {
    pub(crate) datatype: Datatype,
    values: Values<'a, 'py>,
    pub(crate) arena: Arena,
    count: u64,
}

enum Values<'a, 'py> {
    /// Where the user has them.
    InPlace { array: &'a Array<'py>, _pinned: Pinned<'py> },
    /// Converted, in memory of their own.
    Staged(Vec<u8>),
}

impl<'a, 'py> Given<'a, 'py> {
    /// The elements of an array, each of `dtype`, for values of type `stored` in a file.
    pub(crate) fn new(
        file: &File,
        array: &'a Array<'py>,
        dtype: &Dtype<'_>,
        stored: &Datatype,
    ) -> PyResult<Given<'a, 'py>> {
        Given::of(file, array, Memory::to_write(dtype, stored)?, stored)
    }

    /// As [`Given::new`], of elements that lie in memory as `memory` says.
    pub(crate) fn of(
        file: &File,
        array: &'a Array<'py>,
        memory: Memory,
        stored: &Datatype,
    ) -> PyResult<Given<'a, 'py>> {
        let mut arena = Arena::default();
        let itemsize = memory.itemsize.max(1);
        if let (true, Class::Enum(names)) = (is_number_of_enum(&memory.datatype, stored), stored.class()) {
            let values = Values::Staged(converted(contents(array)?, &memory.datatype, names.base())?);
            let count = (contents(array)?.len() / itemsize) as u64;
            return Ok(Given { datatype: stored.clone(), values, arena, count });
        }
        if memory.steps.is_none() {
            let values = Values::InPlace { array, _pinned: pin(array)? };
            let count = contents(array)?.len() / itemsize;
            return Ok(Given { datatype: memory.datatype, values, arena, count: count as u64 });
        }
        let array = private(array)?;
        let bytes = contents(&array)?;
        let count = (bytes.len() / itemsize) as u64;
        let mut stage = room(count, memory.datatype.size())?;
        memory.gather(array.py(), file, bytes, &mut stage, &mut arena)?;
        Ok(Given { datatype: memory.datatype, values: Values::Staged(stage), arena, count })
    }

    /// The bytes of the values. No code of Python may run while they are used.
    pub(crate) fn bytes(&self) -> PyResult<&[u8]> {
        match &self.values {
            Values::InPlace { array, .. } => contents(array),
            Values::Staged(bytes) => Ok(bytes),
        }
    }

    /// The places of the values, one after the other.
    pub(crate) fn mem_selection(&self) -> PyResult<Space> {
        Space::simple(&[self.count]).map_err(of_space)
    }

    /// Writes the values to selected places of a dataset.
    pub(crate) fn write(&self, py: Python<'_>, dataset: &Dataset, selection: &Space) -> PyResult<()> {
        let (datatype, mem_selection, bytes, arena) =
            (&self.datatype, self.mem_selection()?, self.bytes()?, &self.arena);
        engine(py, || dataset.write_converted(selection, datatype, &mem_selection, bytes, arena))
    }
}

impl Memory {
    /// Makes converted values of the elements `from`: the bytes of an array that no code of Python can reach, since this runs any.
    fn gather(&self, py: Python<'_>, file: &File, from: &[u8], to: &mut [u8], arena: &mut Arena) -> PyResult<()> {
        let Some(steps) = &self.steps else {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            return Ok(());
        };
        let values = from.chunks_exact(self.itemsize.max(1)).zip(to.chunks_exact_mut(self.datatype.size()));
        for (from, to) in values {
            for step in steps {
                step.give(py, file, from, to, arena)?;
            }
        }
        Ok(())
    }
}

impl Step {
    fn give(&self, py: Python<'_>, file: &File, from: &[u8], to: &mut [u8], arena: &mut Arena) -> PyResult<()> {
        let from = from.get(self.to..).unwrap_or_default();
        let to = to.get_mut(self.from..).unwrap_or_default();
        match &self.make {
            Make::Copy(length) => to.iter_mut().zip(from).take(*length).for_each(|(to, from)| *to = *from),
            Make::Truth => to.iter_mut().zip(from).take(1).for_each(|(to, from)| *to = u8::from(*from != 0)),
            Make::Text(length) => {
                let text = Padding::NullPad.strip(from.get(..*length).unwrap_or_default());
                keep(arena, Some((text.len(), text)), to)?;
            }
            Make::Bytes(charset) => {
                let object = objects::get(py, from);
                let text = object.as_ref().map_or(Ok(&[][..]), |object| text(object, *charset))?;
                if text.contains(&0) {
                    return Err(PyValueError::new_err("VLEN strings do not support embedded NULLs"));
                }
                keep(arena, Some((text.len(), text)), to)?;
            }
            Make::Array(element, dtype) => {
                let Some(values) = objects::get(py, from).filter(|object| !object.is_none()) else {
                    return keep(arena, None, to);
                };
                let values = row(&values, dtype.bind(py))?;
                let count = values.len();
                if element.steps.is_none() {
                    return keep(arena, Some((count, contents(&values)?)), to);
                }
                let values = private(&values)?;
                let mut stage = room(count as u64, element.datatype.size())?;
                element.gather(py, file, contents(&values)?, &mut stage, arena)?;
                keep(arena, Some((count, &stage)), to)?;
            }
            Make::Reference(datatype) => {
                let is_encoded = datatype.encoded_reference().is_some();
                let Some(object) = objects::get(py, from).filter(|object| !object.is_none()) else {
                    return if is_encoded { keep(arena, None, to) } else { Ok(()) };
                };
                let reference = object.cast::<PyReference>().map_err(|_| {
                    PyTypeError::new_err(format!("Can't convert incompatible object to HDF5 reference: {object:?}"))
                })?;
                let stored = reference.get().stored(py, file, datatype)?;
                if is_encoded {
                    let said = (!stored.is_empty()).then_some((stored.len(), &*stored));
                    return keep(arena, said, to);
                }
                to.iter_mut().zip(stored).for_each(|(to, from)| *to = from);
            }
            Make::Repeat(count, element) => {
                let parts = |size: usize, length: usize| count.saturating_mul(size).min(length);
                let (read, written) = (parts(element.itemsize, from.len()), parts(element.datatype.size(), to.len()));
                let (from, to) = (from.get(..read).unwrap_or_default(), to.get_mut(..written).unwrap_or_default());
                element.gather(py, file, from, to, arena)?;
            }
        }
        Ok(())
    }
}

/// Integers as the values of an enumeration, which has this base: values without a name are values all the same.
fn converted(values: &[u8], from: &Datatype, base: &Datatype) -> PyResult<Vec<u8>> {
    let count = values.len() / from.size();
    let mut made = room(count as u64, base.size())?;
    let plan = Plan::new(from, base).map_err(of_type)?;
    plan.convert(count, values, &mut made, &NoHeap, &mut NoHeap).map_err(of_type)?;
    Ok(made)
}

fn keep(arena: &mut Arena, sequence: Option<(usize, &[u8])>, reference: &mut [u8]) -> PyResult<()> {
    let reference = reference.get_mut(..Arena::REFERENCE).unwrap_or_default();
    arena.store(sequence, reference).map_err(of_type)
}

/// The elements of a sequence, one after the other.
fn row<'py>(values: &Bound<'py, PyAny>, dtype: &Dtype<'py>) -> PyResult<Array<'py>> {
    if !dtype.has_object() || values.is_instance_of::<PyUntypedArray>() {
        return asarray(values, dtype);
    }
    // NumPy would look into what is inside.
    let made = zeros(&[values.len()?], dtype)?;
    for (at, value) in values.try_iter()?.enumerate() {
        made.set_item(at, value?)?;
    }
    Ok(made)
}
