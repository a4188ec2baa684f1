//! An object whose attributes change: inside of its header or outside, and from one to the other.

use std::ops::Deref;

use hyperslab_dtype::Datatype;
use hyperslab_file::{Change, Error, HeaderEdit, MessageId, Result};
use hyperslab_format::{
    message::{AttributeInfo, Shared, kind},
    object_header::Flags,
    version,
};
use hyperslab_structures::{Occupied, Vacant};

use super::{
    Attribute, attribute,
    change::{committed_type, decode},
    dense::{Body, Dense, NO_ORDER, Stored},
};
use crate::{Context, plan::Plan, shared, shared_change::Use};

/// The most bytes of an attribute that lies in a header.
const MAX_MESSAGE: usize = 65_535;
/// The order that no attribute has.
const MAX_ORDER: u16 = 65_535;

/// An object whose attributes are about to change: it can be asked, not changed.
pub(super) struct HolderPlan<'a> {
    holder: Holder<'a>,
    /// How many flushes there had been when it was opened.
    flushes: u64,
}

/// An object whose attributes change.
pub(super) struct Holder<'a> {
    context: &'a Context,
    address: u64,
    header: HeaderEdit<'a>,
    /// Where they are; headers of version 1 cannot say, since there they are always inside.
    info: AttributeInfo,
    dense: Option<Dense>,
    /// The block whose write makes the change visible.
    by: u64,
}

/// Where an attribute is.
pub(super) enum Place {
    Inside(MessageId),
    Outside(Occupied),
}

/// What a search for a name gives.
pub(super) enum Lookup {
    Found(Place, Stored),
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
        if self.dense.as_ref().is_some_and(|dense| dense.len() <= u64::from(fewest)) {
            plan.moves_blocks(self.address);
        }
    }

    /// The object, to be changed. What a flush since it was opened may have changed is read again. Places stay as they are.
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

    /// Takes such objects away, and ends.
    pub(super) fn mend(mut self) -> Result<()> {
        self.dense = self.dense.take().map(|dense| dense.anew(self.context, self.address, &self.info)).transpose()?;
        self.finish().map(drop)
    }

    /// Headers of version 1 have attributes inside only.
    fn is_old(&self) -> bool {
        self.header.prefix().version == 1
    }

    pub(super) fn check_size(&self, size: usize) -> Result<()> {
        // Version 1 pads what it holds.
        let most = if self.is_old() { MAX_MESSAGE - 7 } else { usize::MAX };
        match size > most {
            true => Err(Error::TooOld(format!(
                "an attribute of {size} bytes in all, where an object header of version 1 holds at most {most}"
            ))),
            false => Ok(()),
        }
    }

    pub(super) fn check_order(&self) -> Result<()> {
        match self.info.tracked && self.info.next_order == MAX_ORDER {
            true => Err(Error::Refused("no more attributes can be put in order on this object".into())),
            false => Ok(()),
        }
    }

    /// The place in the order of creation that the next attribute takes.
    pub(super) fn next_order(&mut self) -> u32 {
        if !self.info.tracked {
            return NO_ORDER;
        }
        let order = self.info.next_order;
        self.info.next_order = order.saturating_add(1);
        order.into()
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
                return Ok(Lookup::Found(Place::Inside(id), stored));
            }
        }
        let Some(dense) = &self.dense else { return Ok(Lookup::Free(None)) };
        Ok(match dense.find(self.context, name)? {
            Ok((occupied, stored)) => Lookup::Found(Place::Outside(occupied), stored),
            Err(vacant) => Lookup::Free(Some(vacant)),
        })
    }

    pub(super) fn require(&self, name: &[u8]) -> Result<(Place, Stored)> {
        match self.find(name)? {
            Lookup::Found(place, stored) => Ok((place, stored)),
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

    /// Adds an attribute: inside if there is room, else all go outside, where it belongs if that is known.
    pub(super) fn insert(&mut self, name: &[u8], stored: Stored, vacant: Option<Vacant>) -> Result<()> {
        let (context, file) = (self.context, self.context.file());
        if let Some(dense) = &mut self.dense {
            dense.detach(file)?;
            dense.insert(context, name, &stored, vacant)?;
            self.by = dense.published_by(self.context.file(), self.address);
            return Ok(());
        }
        let [most, _] = self.header.prefix().attribute_limits.unwrap_or([8, 6]);
        let few = self.header.all(kind::ATTRIBUTE).count() < usize::from(most);
        if self.is_old() || few && stored.size() <= MAX_MESSAGE {
            return self.add(stored);
        }
        let mut dense = Dense::create(context, self.address, &self.info)?;
        let inside: Vec<_> = self.header.all(kind::ATTRIBUTE).collect();
        for id in inside {
            let moved = self.inside(id)?;
            let bytes = self.bytes(&moved)?;
            dense.insert(context, decode(&bytes, self.address)?.name, &moved, None)?;
            self.header.remove(id);
        }
        dense.insert(context, name, &stored, None)?;
        self.dense = Some(dense);
        Ok(())
    }

    /// Takes an attribute out. Few that lie outside come in again.
    pub(super) fn remove(&mut self, name: &[u8], place: Place) -> Result<()> {
        let (context, file) = (self.context, self.context.file());
        let occupied = match place {
            Place::Inside(id) => {
                self.header.remove(id);
                return Ok(());
            }
            Place::Outside(occupied) => occupied,
        };
        let [_, fewest] = self.header.prefix().attribute_limits.unwrap_or([8, 6]);
        let Some(dense) = &mut self.dense else { return Ok(()) };
        dense.detach(file)?;
        dense.remove(context, name, occupied)?;
        self.by = dense.published_by(self.context.file(), self.address);
        if dense.len() >= u64::from(fewest) {
            return Ok(());
        }
        let all = dense.all(context)?;
        if all.iter().all(|stored| stored.size() <= MAX_MESSAGE) {
            all.into_iter().try_for_each(|stored| self.add(stored))?;
            self.dense.take().map_or(Ok(()), |dense| dense.delete(file))?;
            (self.info.heap, self.info.names, self.info.orders) = (None, None, None);
            self.by = self.address;
        }
        Ok(())
    }

    /// Puts an attribute in the place of another one, and ends.
    pub(super) fn put(mut self, (old, place): (&[u8], Place), (new, stored): (&[u8], Stored)) -> Result<()> {
        match (place, &stored.body, &mut self.dense) {
            (Place::Inside(id), Body::Here(body), _) if body.len() <= MAX_MESSAGE => {
                self.header.replace_flagged(id, stored.flags, body.clone())?;
            }
            (Place::Outside(occupied), _, Some(dense)) => {
                dense.detach(self.context.file())?;
                dense.remove(self.context, old, occupied)?;
                dense.insert(self.context, new, &stored, None)?;
                self.by = dense.published_by(self.context.file(), self.address);
            }
            (place, ..) => {
                self.remove(old, place)?;
                self.insert(new, stored, None)?;
            }
        }
        self.finish().map(|_| ())
    }

    /// Writes the header; the block whose write makes all changes visible.
    pub(super) fn finish(mut self) -> Result<u64> {
        let (file, address) = (self.context.file(), self.address);
        let inside = self.header.all(kind::ATTRIBUTE).count() as u64;
        let count = self.dense.as_ref().map_or(inside, Dense::len);
        self.dense.iter().for_each(|dense| dense.name_in(&mut self.info));
        let found = self.header.find(kind::ATTRIBUTE_INFO);
        let body = self.info.encode(file.widths())?;
        match found {
            Some(id) if count == 0 => {
                if let Some(dense) = self.dense.take() {
                    dense.delete(file)?;
                    self.by = address;
                }
                self.header.remove(id);
            }
            Some(id) => self.header.replace(id, body)?,
            None if self.is_old() || count == 0 => {}
            None => {
                self.header.add(kind::ATTRIBUTE_INFO, Flags::NEVER_SHARED, None, body)?;
            }
        }
        self.header.touch();
        self.header.save()?;
        self.dense.iter().try_for_each(|dense| dense.before(file, address))?;
        Ok(self.by)
    }

    /// Adds an attribute to the header.
    fn add(&mut self, stored: Stored) -> Result<()> {
        let body = match stored.body {
            Body::Here(body) => body,
            Body::Shared(id) => {
                let place = Shared::Heap(id);
                place.encode(version::shared(&place), self.context.file().widths())?
            }
        };
        let order = u16::try_from(stored.order).ok();
        self.header.add(kind::ATTRIBUTE, stored.flags, order, body)?;
        Ok(())
    }

    /// An attribute of the header.
    fn inside(&self, id: MessageId) -> Result<Stored> {
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
