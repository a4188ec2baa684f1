//! Sparse datasets: what they take, and the walk over their defined elements, which never walks their extent.

mod facts;
mod parts;

pub(crate) use facts::SparseFacts;
pub(crate) use parts::{DefinedParts, cut};

use hyperslab::{Dataset, FillTime, FillValue, Value};

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
