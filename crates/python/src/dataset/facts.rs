//! What is known of a dataset beside its values: layout, filters, fill value.

use hyperslab::dtype::{Arena, Plan};
use hyperslab::space::{Op, Selection, Space, UNLIMITED};
use hyperslab::{FillValue, Layout};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::DatasetHandle;
use crate::array::{bytes, zeros};
use crate::engine::engine;
use crate::error::{exception, of_space};
use crate::names::name;
use crate::numbers::tuple;
use crate::space::PySpace;

/// How it is stored: the kind of layout, with what belongs to it.
pub(super) fn layout<'py>(handle: &DatasetHandle, py: Python<'py>) -> PyResult<(&'static str, Bound<'py, PyAny>)> {
    let dataset = handle.dataset()?;
    let layout = engine(py, || dataset.layout())?;
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
            for part in engine(py, || dataset.virtual_mappings())? {
                let (file, dataset) = (name(py, &part.file)?, name(py, &part.dataset)?);
                let mut target = handle.space(py)?;
                target.select(Op::Set, &part.target).map_err(of_space)?;
                let source = source_space(&part.source).map_err(of_space)?;
                parts.append((PySpace::new(target), file, dataset, PySpace::new(source)))?;
            }
            ("virtual", parts.into_any())
        }
        _ => return Err(PyTypeError::new_err("a layout of an unknown kind")),
    })
}

/// What elements are that were never written: an array of one element.
pub(super) fn fill_value<'py>(handle: &DatasetHandle, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
    let (file, dataset) = (handle.shared.file()?, handle.dataset()?);
    let (dtype, memory) = handle.memory(py, None)?;
    let mut array = zeros(&[1], &dtype)?;
    let stored = dataset.datatype();
    let zeros = vec![0; stored.size()];
    let value = match &dataset.fill().value {
        FillValue::User(value) if value.len() == stored.size() => value,
        _ => &zeros,
    };
    let (mut stage, mut arena) = (vec![0; memory.datatype.size()], Arena::default());
    let plan = Plan::new(stored, &memory.datatype).map_err(|why| exception(why.into()))?;
    engine(py, || Ok(plan.convert(1, value, &mut stage, &file.heap(), &mut arena)?))?;
    memory.finish(py, &stage, &arena, bytes(&mut array)?)?;
    Ok(array.into_any())
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
