//! New datasets: what Python says of them, said to the engine.

use std::sync::Arc;

use hyperslab::space::UNLIMITED;
use hyperslab::{ChunkSection, FillTime, Group, Mapping, NewDataset, Node};
use pyo3::exceptions::{PyKeyError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::array::Array;
use crate::engine::engine;
use crate::given::Given;
use crate::names::name_bytes;
use crate::node_handle::handle;
use crate::numbers::numbers;
use crate::numpy_type::Dtype;
use crate::shared::Shared;
use crate::space::PySpace;
use crate::stored_type::StoredType;

/// Makes a dataset. `shape` is `None` for one without elements; `options` are those of `_create.py`.
pub(crate) fn create(
    py: Python<'_>,
    shared: &Arc<Shared>,
    group: &Group,
    path: &[u8],
    stored: &Bound<'_, PyAny>,
    shape: Option<&Bound<'_, PyAny>>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Py<PyAny>> {
    let kind = StoredType::of(stored)?;
    let datatype = kind.datatype(py)?;
    let new = group.new_dataset_of(datatype.clone());
    let new = match &kind {
        StoredType::Own(_) => new,
        StoredType::Committed(named) => new.committed(named),
    };
    let mut new = match shape {
        Some(shape) => new.shape(numbers(shape, "shape")?),
        None => new.empty(),
    };
    for (key, value) in options.iter() {
        new = match key.extract::<&str>()? {
            "fill" => {
                let (array, dtype): (Array<'_>, Dtype<'_>) = value.extract()?;
                let given = Given::new(shared.file()?, &array, &dtype, &datatype);
                // A value that cannot be converted is a wrong value, whatever is stored.
                // What converts no values of variable length says so by a `TypeError`.
                let is_conversion = |why: &PyErr| {
                    let is_type =
                        (datatype.has_vlen() || datatype.has_reference()) && why.is_instance_of::<PyTypeError>(py);
                    is_type || why.is_instance_of::<PyOSError>(py)
                };
                let given = given.map_err(|why| match is_conversion(&why) {
                    true => PyValueError::new_err(format!("the fill value: {}", why.value(py))),
                    false => why,
                })?;
                new.fill_converted(given.datatype.clone(), given.bytes()?.to_vec(), given.arena)
            }
            key => option(new, key, &value)?,
        };
    }
    let made = engine(py, || new.create(path))?;
    handle(py, shared, Node::Dataset(made))
}

fn option(new: NewDataset, key: &str, value: &Bound<'_, PyAny>) -> PyResult<NewDataset> {
    Ok(match key {
        "maxshape" => {
            let max = numbers(value, "maxshape")?;
            new.max_shape(max.into_iter().map(|size| (size != UNLIMITED).then_some(size)).collect::<Vec<_>>())
        }
        "chunks" => new.chunks(numbers(value, "chunks")?),
        "filters" => {
            let mut new = new;
            for filter in value.cast::<PyList>()?.iter() {
                new = filtered(new, filter.cast::<PyTuple>()?)?;
            }
            new
        }
        "sparse" => new.sparse(),
        "structured" => new.vlen_in_chunks(),
        "section_filters" => {
            let mut new = new;
            for (section, filters) in value.cast::<PyDict>()?.iter() {
                new = new.section(match section.extract::<&str>()? {
                    "selection" => ChunkSection::Selection,
                    "data" => ChunkSection::Values,
                    "vlen" => ChunkSection::Vlen,
                    other => return Err(PyValueError::new_err(format!("no section is called {other:?}"))),
                });
                for filter in filters.cast::<PyList>()?.iter() {
                    new = filtered(new, filter.cast::<PyTuple>()?)?;
                }
            }
            new
        }
        "fill_time" => new.fill_time(match value.extract::<&str>()? {
            "alloc" => FillTime::Alloc,
            "never" => FillTime::Never,
            _ => FillTime::IfSet,
        }),
        "track_order" => new.track_order(value.extract()?),
        "track_times" => new.track_times(value.extract()?),
        "external" => {
            let mut files = Vec::new();
            for part in value.try_iter()? {
                let (name, offset, size): (Bound<'_, PyAny>, u64, u64) = part?.extract()?;
                files.push((name_bytes(&name)?, offset, (size != UNLIMITED).then_some(size)));
            }
            new.external(files)
        }
        "sources" => {
            let mut parts = Vec::new();
            for part in value.try_iter()? {
                parts.push(mapping(&part?)?);
            }
            new.virtual_sources(parts)
        }
        other => return Err(PyKeyError::new_err(other.to_owned())),
    })
}

/// One part of a virtual dataset: its space, file, dataset and the space there.
fn mapping(part: &Bound<'_, PyAny>) -> PyResult<Mapping> {
    type Parts<'py> = (Py<PySpace>, Bound<'py, PyAny>, Bound<'py, PyAny>, Py<PySpace>);
    let (target, file, dataset, source): Parts<'_> = part.extract()?;
    let selection = |space: &Py<PySpace>| space.get().now(part.py()).selection().clone();
    Ok(Mapping {
        file: name_bytes(&file)?.into(),
        dataset: name_bytes(&dataset)?.into(),
        source: selection(&source),
        target: selection(&target),
    })
}

/// A filter: its name or number, and its settings.
fn filtered(new: NewDataset, filter: &Bound<'_, PyTuple>) -> PyResult<NewDataset> {
    if let Ok(id) = filter.get_item(0)?.extract::<u16>() {
        let params: Vec<u32> = filter.get_item(1)?.extract()?;
        return Ok(new.filter(id, &params));
    }
    let name: String = filter.get_item(0)?.extract()?;
    Ok(match name.as_str() {
        "shuffle" => new.shuffle(),
        "fletcher32" => new.fletcher32(),
        "lzf" => new.lzf(),
        "gzip" => new.deflate(filter.get_item(1)?.extract()?),
        "scaleoffset" => new.scaleoffset(filter.get_item(1)?.extract()?),
        "szip" => new.szip(filter.get_item(1)?.extract()?, filter.get_item(2)?.extract()?),
        other => return Err(PyTypeError::new_err(format!("no filter is called {other:?}"))),
    })
}

/// Whether a filter is there.
pub(crate) fn filter_available(id: i64) -> bool {
    u16::try_from(id).is_ok_and(|id| hyperslab::filter::Registry::default().get(id).is_some())
}
