//! Groups.

use hyperslab_format::message::Link;
use hyperslab_object::{Links, Object};

use crate::{File, Node, Result};

/// An object that holds links.
#[derive(Clone, Debug)]
pub struct Group {
    pub(crate) file: File,
    pub(crate) object: Object,
}

impl Group {
    /// All links, in the order of their names' bytes.
    pub fn links(&self) -> Result<Vec<Link>> {
        Ok(Links::of(&self.file.inner.context, &self.object)?.all()?)
    }

    /// The link with this name.
    pub fn link(&self, name: impl AsRef<[u8]>) -> Result<Option<Link>> {
        Ok(Links::of(&self.file.inner.context, &self.object)?.find(name.as_ref())?)
    }

    /// The object that a path leads to, from this group on.
    pub fn get(&self, path: impl AsRef<[u8]>) -> Result<Node> {
        self.file.get_from(self.address(), path.as_ref(), 0)
    }

    /// Where its header is.
    pub fn address(&self) -> u64 {
        self.object.address()
    }
}
