//! The object header of a dataset, as its storage needs it.

use std::sync::Arc;

use hyperslab_chunk::DatasetHeader;
use hyperslab_file::{OpenFile, Result};
use hyperslab_format::message::DataLayout;
use hyperslab_object::{Context, Life};
use hyperslab_space::Extent;

/// The header of a dataset. It knows no [`Session`](crate::File), so that the cache of a file may keep it.
pub(super) struct Header {
    context: Arc<Context>,
    life: Life,
}

impl Header {
    pub(super) fn new(context: &Arc<Context>, life: Life) -> Header {
        Header { context: context.clone(), life }
    }
}

impl DatasetHeader for Header {
    fn file(&self) -> &OpenFile {
        self.context.file()
    }

    fn address(&self) -> u64 {
        self.life.address()
    }

    fn check_alive(&self) -> Result<()> {
        self.file().check_alive(self.life)
    }

    fn set_layout(&self, layout: &DataLayout) -> Result<()> {
        let body = layout.encode(self.file().widths())?;
        hyperslab_object::set_layout(&self.context, self.address(), body)
    }

    fn set_extent(&self, extent: &Extent) -> Result<()> {
        hyperslab_object::set_extent(&self.context, self.address(), extent)
    }
}
