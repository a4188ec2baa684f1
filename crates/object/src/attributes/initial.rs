//! Attributes that a new object has from the start: they go into its header with all other messages.

use hyperslab_file::{Error, HeaderBuilder, Result};
use hyperslab_format::{
    message::{AttributeInfo, kind},
    object_header::{Flags, Prefix},
};

use super::{
    change::{NewAttribute, check_name, encode},
    holder::{MAX_ORDER, check_size, holds},
};
use crate::{Context, NewType};

/// Attributes that an object gets when it is made: they have different names, and their messages are encoded.
#[derive(Debug, Default)]
pub struct InitialAttributes<'a> {
    all: &'a [NewAttribute<'a>],
    /// How many there are.
    count: u16,
    /// The message of each.
    bodies: Vec<Vec<u8>>,
}

impl<'a> InitialAttributes<'a> {
    /// Encodes the attributes of an object with such a header. Refuses what that cannot get.
    pub(crate) fn encode(
        context: &Context,
        prefix: &Prefix,
        all: &'a [NewAttribute<'a>],
    ) -> Result<InitialAttributes<'a>> {
        let count = u16::try_from(all.len()).ok().filter(|count| !prefix.ordered || *count < MAX_ORDER);
        let count =
            count.ok_or_else(|| Error::Refused("no more than 65,534 attributes begin with an object".into()))?;
        let bodies = all.iter().map(|attribute| {
            check_name(attribute.name)?;
            let body = encode(context, attribute)?;
            check_size(prefix, body.len()).map(|()| body)
        });
        Ok(InitialAttributes { all, count, bodies: bodies.collect::<Result<_>>()? })
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Adds them to the header of a new object. Gives back those that are [set](super::set_attribute) when the object is in the file: all, if some do not fit into
    /// the header, or have committed types.
    pub(crate) fn add_to_new(
        self,
        context: &Context,
        header: &mut HeaderBuilder<'_>,
    ) -> Result<&'a [NewAttribute<'a>]> {
        let InitialAttributes { all, count, bodies } = self;
        let (ordered, indexed, version) = (header.prefix().ordered, header.prefix().indexed, header.prefix().version);
        let is_own = |attribute: &NewAttribute<'_>| matches!(attribute.datatype, NewType::Own(_));
        if !all.iter().all(is_own) || !holds(header.prefix(), bodies.iter().map(Vec::len)) {
            return Ok(all);
        }
        for (order, body) in (0..count).zip(bodies) {
            header.add(kind::ATTRIBUTE, Flags::NONE, Some(order), body)?;
        }
        if version > 1 && count > 0 {
            let next_order = if ordered { count } else { 0 };
            let (tracked, indexed) = (ordered, ordered && indexed);
            let info = AttributeInfo { tracked, next_order, indexed, heap: None, names: None, orders: None };
            header.add(kind::ATTRIBUTE_INFO, Flags::NEVER_SHARED, None, info.encode(context.file().widths())?)?;
        }
        Ok(&[])
    }
}
