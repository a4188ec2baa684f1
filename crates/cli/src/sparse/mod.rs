//! Sparse datasets: what they take, and the walk over their defined elements, which never walks their extent.

mod facts;
mod parts;

pub(crate) use facts::{OfSections, SparseFacts};
pub(crate) use parts::{DefinedParts, cut};

use hyperslab::{Dataset, FillTime, FillValue, Value};

/// The numbers and names of the sections that the chunks of a dataset have: values always, the others if they are there.
pub(crate) fn sections(dataset: &Dataset) -> impl Iterator<Item = (u8, &'static str)> {
    let (is_sparse, has_vlen) = (dataset.is_sparse(), dataset.has_vlen_chunks());
    let names = [("selection", is_sparse), ("values", true), ("vlen", has_vlen)];
    (0..).zip(names.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name))
}

/// The value that undefined elements have when they are read; nothing if the dataset says that it has none.
pub(crate) fn fill(dataset: &Dataset) -> hyperslab::Result<Option<Value>> {
    let (fill, zeros) = (dataset.fill(), vec![0; dataset.datatype().size()]);
    let bytes = match &fill.value {
        FillValue::Undefined => return Ok(None),
        FillValue::User(value) if fill.write != FillTime::Never && value.len() == zeros.len() => value,
        _ => &zeros,
    };
    dataset.file().stored_values(dataset.datatype(), bytes)?.next().transpose()
}
