//! An object whose attributes change: which it has, inside of its header or outside.

use std::ops::Deref;

use hyperslab_dtype::Datatype;
use hyperslab_file::{Change, Error, HeaderEdit, MessageId, Result};
use hyperslab_format::{
    message::{AttributeInfo, Shared, kind},
    object_header::Prefix,
};
use hyperslab_structures::{Occupied, Vacant};

use super::{
    Attribute, attribute,
    attribute_message::{committed_type, decode},
    dense::{Body, Dense, NO_ORDER, Stored},
};
use crate::{Context, plan::Plan, shared, shared_change::Use};

/// The most bytes of an attribute that lies in a header.
pub(super) const MAX_MESSAGE: usize = 65_535;
/// The order that no attribute has.
pub(super) const MAX_ORDER: u16 = 65_535;

/// An object whose attributes are about to change: it can be asked, not changed.
pub(super) struct HolderPlan<'a> {
    holder: Holder<'a>,
    /// How many flushes there had been when it was opened.
    flushes: u64,
}

/// An object whose attributes change.
pub(super) struct Holder<'a> {
    pub(super) context: &'a Context,
    pub(super) address: u64,
    pub(super) header: HeaderEdit<'a>,
    /// Where they are; headers of version 1 cannot say, since there they are always inside.
    pub(super) info: AttributeInfo,
    pub(super) dense: Option<Dense>,
    /// The block whose write makes the change visible.
    pub(super) by: u64,
}

/// Where an attribute is.
pub(super) enum AttributeLocation {
    Inside(MessageId),
    Outside(Occupied),
}

/// What a search for a name gives.
pub(super) enum Lookup {
    Found(AttributeLocation, Stored),
    /// There is no such attribute; where it belongs outside of the header.
    Free(Option<Vacant>),
}

impl<'a> HolderPlan<'a> {
    pub(super) fn open(context: &'a Context, address: u64) -> Result<HolderPlan<'a>> {
        Ok(HolderPlan { holder: Holder::open(context, address)?, flushes: context.file().flushes() })
    }

    /// Plans for attributes that come in when one goes: then the header shows what a tree showed.
    pub(super) fn plan_form(&self, plan: &mut Plan<'_>) {
        let [_, fewest] = self.header.prefix().attribute_limits.unwrap_or([8, 6]);
        if self.dense.as_ref().is_some_and(|dense| dense.storage.len() <= u64::from(fewest)) {
            plan.moves_blocks(self.address);
        }
    }

    /// The object, to be changed. What a flush since it was opened may have changed is read again. Locations stay as they are.
    pub(super) fn begin(self, change: &Change<'_>) -> Result<Holder<'a>> {
        let mut holder = self.holder;
        if self.flushes != change.file().flushes() {
            holder.dense = Dense::open(holder.context, holder.address, &holder.info)?;
        }
        Ok(holder)
    }
}

impl<'a> Deref for HolderPlan<'a> {
    type Target = Holder<'a>;

    fn deref(&self) -> &Holder<'a> {
        &self.holder
    }
}

impl<'a> Holder<'a> {
    fn open(context: &'a Context, address: u64) -> Result<Holder<'a>> {
        let header = HeaderEdit::open(context.file(), address)?;
        let prefix = header.prefix();
        let (tracked, indexed) = (prefix.ordered, prefix.ordered && prefix.indexed);
        let info = match header.find(kind::ATTRIBUTE_INFO) {
            Some(id) => AttributeInfo::decode(header.body(id), context.file().widths()).map_err(Error::at(address))?,
            None => {
                // A writer may have left the message out.
                let orders = header.all(kind::ATTRIBUTE).filter_map(|id| header.message(id).order);
                let next_order = orders.max().filter(|_| tracked).map_or(0, |order| order.saturating_add(1));
                AttributeInfo { tracked, next_order, indexed, heap: None, names: None, orders: None }
            }
        };
        let dense = Dense::open(context, address, &info)?;
        Ok(Holder { context, address, header, info, dense, by: address })
    }

    /// Whether the heap has objects that no name leads to.
    pub(super) fn lags(&self) -> Result<bool> {
        self.dense.as_ref().map_or(Ok(false), |dense| dense.lags(self.context))
    }

    /// Headers of version 1 have attributes inside only.
    pub(super) fn is_old(&self) -> bool {
        self.header.prefix().version == 1
    }

    pub(super) fn check_order(&self) -> Result<()> {
        match self.info.tracked && self.info.next_order == MAX_ORDER {
            true => Err(Error::Refused("no more attributes can be put in order on this object".into())),
            false => Ok(()),
        }
    }

    pub(super) fn find(&self, name: &[u8]) -> Result<Lookup> {
        for id in self.header.all(kind::ATTRIBUTE) {
            let message = self.header.message(id);
            // Most are not it, and need not be copied.
            if !message.flags.is_shared() && decode(message.body, self.address)?.name != name {
                continue;
            }
            let stored = self.inside(id)?;
            if decode(&self.bytes(&stored)?, self.address)?.name == name {
                return Ok(Lookup::Found(AttributeLocation::Inside(id), stored));
            }
        }
        let Some(dense) = &self.dense else { return Ok(Lookup::Free(None)) };
        Ok(match dense.find(self.context, name)? {
            Ok((occupied, stored)) => Lookup::Found(AttributeLocation::Outside(occupied), stored),
            Err(vacant) => Lookup::Free(Some(vacant)),
        })
    }

    pub(super) fn require(&self, name: &[u8]) -> Result<(AttributeLocation, Stored)> {
        match self.find(name)? {
            Lookup::Found(location, stored) => Ok((location, stored)),
            Lookup::Free(_) => Err(Error::Missing(format!("attribute {:?}", String::from_utf8_lossy(name)))),
        }
    }

    /// The message of an attribute, wherever it is.
    pub(super) fn bytes(&self, stored: &Stored) -> Result<Vec<u8>> {
        match &stored.body {
            Body::Here(body) => Ok(body.clone()),
            Body::Shared(id) => shared::from_heap(self.context, kind::ATTRIBUTE, id, self.address),
        }
    }

    /// An attribute whose values lie in a heap, if it is no shared message and can be decoded.
    pub(super) fn with_heap_values(&self, stored: &Stored) -> Option<Attribute> {
        let Body::Here(body) = &stored.body else { return None };
        let parts = decode(body, self.address).ok()?;
        // Most have none, and need not be copied.
        if !parts.datatype_shared && !Datatype::decode(parts.datatype).ok()?.0.has_vlen() {
            return None;
        }
        attribute(self.context, self.address, body, Some(stored.order)).ok()
    }

    /// What an attribute uses of shared messages.
    pub(super) fn uses(&self, stored: &Stored) -> Result<Vec<Use>> {
        stored.uses(self.context, self.address)
    }

    /// Where the type of an attribute is committed. What is shared as a whole keeps its type.
    pub(super) fn committed_type(&self, stored: &Stored) -> Result<Option<u64>> {
        match &stored.body {
            Body::Here(body) => committed_type(self.context, body, self.address),
            Body::Shared(_) => Ok(None),
        }
    }

    /// An attribute of the header.
    pub(super) fn inside(&self, id: MessageId) -> Result<Stored> {
        let message = self.header.message(id);
        let body = match message.flags.is_shared() {
            false => Body::Here(message.body.to_vec()),
            true => {
                match Shared::decode(message.body, self.context.file().widths()).map_err(Error::at(self.address))? {
                    (Shared::Heap(id), _) => Body::Shared(id),
                    (Shared::Committed(_), _) => {
                        return Err(Error::broken("attribute", self.address, "it is shared with a datatype"));
                    }
                }
            }
        };
        Ok(Stored { flags: message.flags, order: message.order.map_or(NO_ORDER, u32::from), body })
    }
}

/// Refuses an attribute message of so many bytes where the object has no place for it.
pub(super) fn check_size(prefix: &Prefix, size: usize) -> Result<()> {
    // Version 1 pads what it holds, and has no other place.
    let most = if prefix.version == 1 { MAX_MESSAGE - 7 } else { usize::MAX };
    match size > most {
        true => Err(Error::TooOld(format!(
            "an attribute of {size} bytes in all, where an object header of version 1 holds at most {most}"
        ))),
        false => Ok(()),
    }
}

/// Whether all attribute messages of an object, of these sizes, lie in its header.
pub(super) fn holds(prefix: &Prefix, sizes: impl ExactSizeIterator<Item = usize>) -> bool {
    let [most, _] = prefix.attribute_limits.unwrap_or([8, 6]);
    prefix.version == 1 || sizes.len() <= usize::from(most) && { sizes }.all(|size| size <= MAX_MESSAGE)
}
