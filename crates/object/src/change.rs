//! Small changes of objects: comment, size, layout.

use hyperslab_file::{Error, Header, HeaderEdit, Result};
use hyperslab_format::{
    message::{self, kind},
    object_header::Flags,
};
use hyperslab_space::Extent;

use crate::{
    Context, Object, parts,
    plan::Plan,
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
    header.touch();
    header.save()?;
    Ok(())
}

/// Gives an object the [guards](Object::guards) of another. A program that does not understand them cannot open it then.
pub fn guard(context: &Context, object: u64, from: &Object) -> Result<()> {
    let mut header = HeaderEdit::open(context.file(), object)?;
    for message in from.guards() {
        header.add(message.kind, message.flags, None, from.header().body(message).to_vec())?;
    }
    header.save()?;
    Ok(())
}

/// Keeps all readers from an object that stands for one which could not be read, and says why.
pub fn mark_lost(context: &Context, object: u64, why: &str) -> Result<()> {
    let mut header = HeaderEdit::open(context.file(), object)?;
    let text = why.bytes().take(LONG).collect();
    header.add(kind::LOST, Flags::MUST_BE_KNOWN, None, text)?;
    header.save()?;
    Ok(())
}

/// More bytes than these are not said of an object that was lost.
const LONG: usize = 1000;

/// Gives a dataset another size. Its chunks stay as they are.
pub fn set_extent(context: &Context, dataset: u64, extent: &Extent) -> Result<()> {
    let header = Header::read(context.file(), dataset)?;
    if let Some(found) =
        header.find(kind::DATASPACE).filter(|found| !found.flags.is_shared() && !found.flags.is_in_table())
    {
        let least = header.body(found).first().copied().unwrap_or(0);
        if header.patch(context.file(), found, &parts::extent(context, extent, least)?)? {
            return Ok(());
        }
    }
    let mut header = HeaderEdit::open(context.file(), dataset)?;
    let id = header.find(kind::DATASPACE).ok_or_else(|| missing(dataset, "dataspace"))?;
    let old = header.message(id);
    let least = if old.flags.is_shared() { 0 } else { old.body.first().copied().unwrap_or(0) };
    let lost = Use::of_message(context, dataset, kind::DATASPACE, old.flags, old.body)?;
    let (flags, body) = (old.flags.unshared(), parts::extent(context, extent, least)?);
    let change = Plan::new(context).begin()?;
    header.replace_flagged(id, flags, body)?;
    header.touch();
    header.save()?;
    shared_change::release(context, &change, lost, Some(dataset))
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
