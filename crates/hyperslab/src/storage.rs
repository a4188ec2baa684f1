//! Which driver a file name asks for.

use std::{path::Path, sync::Arc};

use hyperslab_driver::{Driver, Local};

use crate::Result;

/// The storage behind a path.
pub(crate) fn open(path: &Path) -> Result<Arc<dyn Driver>> {
    Ok(Arc::new(Local::open(path)?))
}
