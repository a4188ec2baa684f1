//! Small changes of objects: comment, size, layout.

use hyperslab_file::{Error, HeaderEdit, Result};
use hyperslab_format::{
    message::{self, kind},
    object_header::Flags,
};
use hyperslab_space::Extent;

use crate::{
    Context, parts,
    shared_change::{self, Use},
};

/// Gives an object a comment, or takes it away.
pub fn set_comment(context: &Context, object: u64, comment: Option<&[u8]>) -> Result<()> {
    let mut header = HeaderEdit::open(context.file(), object)?;
    let found = header.find(kind::COMMENT);
    match (found, comment.map(message::encode_comment).transpose()?) {
        (Some(id), Some(body)) => header.replace(id, body)?,
        (Some(id), None) => header.remove(id),
        (None, Some(body)) => {
            header.add(kind::COMMENT, Flags::NONE, None, body)?;
        }
        (None, None) => return Ok(()),
    }
    header.touch()?;
    header.save()?;
    Ok(())
}

/// Gives a dataset another size. Its chunks are somebody else's matter.
pub fn set_extent(context: &Context, dataset: u64, extent: &Extent) -> Result<()> {
    let mut header = HeaderEdit::open(context.file(), dataset)?;
    let id = header.find(kind::DATASPACE).ok_or_else(|| missing(dataset, "dataspace"))?;
    let old = header.message(id);
    let least = if old.flags.is_shared() { 0 } else { old.body.first().copied().unwrap_or(0) };
    let lost = Use::of_message(context, dataset, kind::DATASPACE, old.flags, old.body)?;
    let (flags, body) = (old.flags.unshared(), parts::extent(context, extent, least)?);
    header.replace_flagged(id, flags, body)?;
    header.touch()?;
    header.save()?;
    shared_change::release(context, lost, dataset)
}

/// Says anew how a dataset is stored: the layout message.
pub fn set_layout(context: &Context, dataset: u64, layout: Vec<u8>) -> Result<()> {
    let mut header = HeaderEdit::open(context.file(), dataset)?;
    let id = header.find(kind::DATA_LAYOUT).ok_or_else(|| missing(dataset, "data layout"))?;
    header.replace(id, layout)?;
    header.save()?;
    Ok(())
}

fn missing(object: u64, what: &str) -> Error {
    Error::broken("object header", object, format!("it has no {what} message"))
}
