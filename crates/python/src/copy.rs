//! Copies of objects.

use hyperslab::CopyOptions;
use pyo3::prelude::*;

use crate::engine::engine;
use crate::handles::{GroupHandle, ObjectHandle};
use crate::names::name_bytes;

/// What a copy does besides copying an object with everything below it, as a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct CopyFlags {
    shallow: bool,
    expand_soft: bool,
    expand_external: bool,
    expand_refs: bool,
    without_attrs: bool,
}

impl CopyFlags {
    fn options(&self) -> CopyOptions {
        let if_wanted = |is_wanted: bool, way: fn(CopyOptions) -> CopyOptions| is_wanted.then_some(way);
        let ways = [
            if_wanted(self.shallow, CopyOptions::shallow),
            if_wanted(self.expand_soft, CopyOptions::expand_soft),
            if_wanted(self.expand_external, CopyOptions::expand_external),
            if_wanted(self.expand_refs, CopyOptions::expand_references),
            if_wanted(self.without_attrs, CopyOptions::without_attributes),
        ];
        ways.into_iter().flatten().fold(CopyOptions::new(), |options, way| way(options))
    }
}

/// Copies an object to a path from a group on.
#[pyfunction]
pub(crate) fn copy(
    py: Python<'_>,
    object: &ObjectHandle,
    group: PyRef<'_, GroupHandle>,
    path: &Bound<'_, PyAny>,
    flags: CopyFlags,
) -> PyResult<()> {
    object.shared.file()?;
    group.as_super().shared.file()?;
    let (path, options, to) = (name_bytes(path)?, flags.options(), &group.0);
    engine(py, || options.copy(&object.node, to, path)).map(drop)
}
