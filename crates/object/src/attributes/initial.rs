//! Attributes that a new object has from the start: they go into its header with all other messages.

use hyperslab_file::{Error, HeaderEdit, Result};
use hyperslab_format::{
    message::{AttributeInfo, kind},
    object_header::{Flags, Prefix},
};

use super::{
    change::{NewAttribute, check_name, encode},
    holder::{MAX_ORDER, check_size, holds},
};
use crate::{Context, NewType};

/// Refuses attributes that an object with such a header cannot get, before anything is made for it. Their values may be any bytes.
pub(crate) fn check_new(context: &Context, prefix: &Prefix, attributes: &[NewAttribute<'_>]) -> Result<()> {
    checked(context, prefix, attributes).map(drop)
}

/// How many attributes there are, and their messages.
fn checked(context: &Context, prefix: &Prefix, attributes: &[NewAttribute<'_>]) -> Result<(u16, Vec<Vec<u8>>)> {
    let count = u16::try_from(attributes.len()).ok().filter(|count| !prefix.ordered || *count < MAX_ORDER);
    let count = count.ok_or_else(|| Error::Refused("no more than 65,534 attributes begin with an object".into()))?;
    let bodies = attributes.iter().map(|attribute| {
        check_name(attribute.name)?;
        let body = encode(context, attribute)?;
        check_size(prefix, body.len()).map(|()| body)
    });
    Ok((count, bodies.collect::<Result<_>>()?))
}

/// Adds attributes, which have different names, to the header of a new object; whether it did. Those that do not fit there, or whose types are committed, are
/// [set](super::set_attribute) when the object is in the file. What an object cannot get is refused now.
pub(crate) fn add_to_new(
    context: &Context,
    header: &mut HeaderEdit<'_>,
    attributes: &[NewAttribute<'_>],
) -> Result<bool> {
    let (next_order, bodies) = checked(context, header.prefix(), attributes)?;
    let (ordered, indexed, version) = (header.prefix().ordered, header.prefix().indexed, header.prefix().version);
    let is_own = |attribute: &NewAttribute<'_>| matches!(attribute.datatype, NewType::Own(_));
    if !attributes.iter().all(is_own) || !holds(header.prefix(), bodies.iter().map(Vec::len)) {
        return Ok(false);
    }
    for (order, body) in (0..next_order).zip(bodies) {
        header.add(kind::ATTRIBUTE, Flags::NONE, Some(order), body)?;
    }
    if version > 1 && next_order > 0 {
        let next_order = if ordered { next_order } else { 0 };
        let (tracked, indexed) = (ordered, ordered && indexed);
        let info = AttributeInfo { tracked, next_order, indexed, heap: None, names: None, orders: None };
        header.add(kind::ATTRIBUTE_INFO, Flags::NEVER_SHARED, None, info.encode(context.file().widths())?)?;
    }
    Ok(true)
}
