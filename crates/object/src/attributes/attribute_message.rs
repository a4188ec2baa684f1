//! The message of an attribute: its parts, and where its type is committed.

use hyperslab_file::{Error, Result};
use hyperslab_format::message::{self, Shared};

use crate::Context;

/// The parts of an attribute of the object at `object`.
pub(super) fn decode(body: &[u8], object: u64) -> Result<message::Attribute<'_>> {
    message::Attribute::decode(body).map_err(Error::at(object))
}

/// Where the type of an attribute is committed, if it is.
pub(super) fn committed_type(context: &Context, body: &[u8], object: u64) -> Result<Option<u64>> {
    let parts = decode(body, object)?;
    if !parts.datatype_shared {
        return Ok(None);
    }
    let (place, _) = Shared::decode(parts.datatype, context.file().widths()).map_err(Error::at(object))?;
    match place {
        Shared::Committed(address) => Ok(Some(address)),
        Shared::Heap(_) => Ok(None),
    }
}
