//! Datatypes as a file has them.

use hyperslab_dtype::Datatype;

use crate::{File, Result};

/// The same datatype where references into the file are as wide as its addresses.
pub(crate) fn in_file(datatype: &Datatype, file: &File) -> Result<Datatype> {
    Ok(datatype.in_file(file.inner.context.file().widths().offsets)?)
}
