//! Stored chunks of several sections.

use hyperslab::{EncodedSection, StructuredChunk, StructuredChunkInfo};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList, PyTuple};

use super::DatasetHandle;
use super::chunks::stored;
use crate::engine::engine;
use crate::numbers::tuple;

/// A section as it is stored: its bytes, the filters that were left out, and its bytes before the filters.
pub(super) type Section<'py> = (Bound<'py, PyBytes>, u32, u64);

/// Where a chunk is: its place, its address, its bytes, and of each section the offset, the bytes, those before the filters, and the filters that were left out.
pub(super) type Info<'py> = (Bound<'py, PyTuple>, u64, u64, Vec<(u64, u64, u64, u32)>);

/// The stored sections of a chunk; nothing if it was never written, or has no element.
pub(super) fn read<'py>(
    handle: &DatasetHandle,
    py: Python<'py>,
    place: Vec<u64>,
) -> PyResult<Option<Vec<Section<'py>>>> {
    let dataset = handle.dataset()?;
    let found = engine(py, || dataset.read_structured_chunk(place))?;
    let section = |section: EncodedSection| Ok((stored(py, &section.bytes)?, section.mask, section.unfiltered));
    found.map(|chunk| chunk.sections.into_iter().map(section).collect()).transpose()
}

/// Stores sections as a chunk.
pub(super) fn write(
    handle: &DatasetHandle,
    py: Python<'_>,
    place: Vec<u64>,
    sections: Vec<(PyBackedBytes, u32, u64)>,
) -> PyResult<()> {
    let dataset = handle.dataset()?;
    engine(py, || {
        let section = |(bytes, mask, unfiltered): &(PyBackedBytes, u32, u64)| EncodedSection {
            bytes: bytes.to_vec(),
            mask: *mask,
            unfiltered: *unfiltered,
        };
        let chunk = StructuredChunk { sections: sections.iter().map(section).collect() };
        dataset.write_structured_chunk(place, &chunk)
    })
}

/// Where a chunk is; nothing if it was never written, or has no element.
pub(super) fn info<'py>(handle: &DatasetHandle, py: Python<'py>, place: Vec<u64>) -> PyResult<Option<Info<'py>>> {
    let dataset = handle.dataset()?;
    let found = engine(py, || dataset.structured_chunk_info(place))?;
    found.map(|info| shown(py, &info)).transpose()
}

/// Where the chunk with a number is; nothing if there are not so many.
pub(super) fn info_by_number<'py>(handle: &DatasetHandle, py: Python<'py>, number: u64) -> PyResult<Option<Info<'py>>> {
    let dataset = handle.dataset()?;
    let found = engine(py, || dataset.structured_chunk_info_by_number(number))?;
    found.map(|info| shown(py, &info)).transpose()
}

/// Where all chunks are.
pub(super) fn all<'py>(handle: &DatasetHandle, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
    let dataset = handle.dataset()?;
    let infos = PyList::empty(py);
    for info in engine(py, || dataset.structured_chunks())? {
        infos.append(shown(py, &info)?)?;
    }
    Ok(infos)
}

/// The stored bytes of each section of all chunks.
pub(super) fn sizes(handle: &DatasetHandle, py: Python<'_>) -> PyResult<Vec<u64>> {
    let dataset = handle.dataset()?;
    engine(py, || {
        let mut sizes = Vec::new();
        for info in dataset.structured_chunks()? {
            sizes.resize(info.sections.len().max(sizes.len()), 0u64);
            sizes.iter_mut().zip(&info.sections).for_each(|(sum, section)| *sum += section.size);
        }
        Ok(sizes)
    })
}

fn shown<'py>(py: Python<'py>, info: &StructuredChunkInfo) -> PyResult<Info<'py>> {
    let sections = info.sections.iter().map(|section| (section.offset, section.size, section.unfiltered, section.mask));
    Ok((tuple(py, &info.place)?, info.address, info.size, sections.collect()))
}
