//! Attributes outside of the header: in a fractal heap, found by name, and by creation order where that is indexed.

use std::cmp::Ordering;

use hyperslab_file::{Error, OpenFile, Result};
use hyperslab_format::{
    index::record::{AttributeEntry, Form, Record, kind},
    message::{self, AttributeInfo},
    object_header::Flags,
};
use hyperslab_structures::{Entry, FractalHeap, Occupied, Vacant, fractal_heap::Parameters};

use crate::{
    Context,
    dense::{self, DenseStorage},
    shared,
    shared_change::Use,
};

/// The place in the order of attributes that do not keep it.
pub(super) const NO_ORDER: u32 = 65_535;

/// The attributes of an object that lie outside of its header.
pub(super) struct Dense {
    pub(super) storage: DenseStorage,
}

/// An attribute message, or where it is if it is shared.
pub(super) struct Stored {
    pub(super) flags: Flags,
    pub(super) order: u32,
    pub(super) body: Body,
}

pub(super) enum Body {
    Here(Vec<u8>),
    /// In the heap of shared messages.
    Shared([u8; 8]),
}

impl Stored {
    /// How many bytes of a header it would take.
    pub(super) fn size(&self) -> usize {
        match &self.body {
            Body::Here(body) => body.len(),
            Body::Shared(id) => 2 + id.len(),
        }
    }
}

impl Stored {
    /// What it uses of shared messages.
    pub(super) fn uses(&self, context: &Context, object: u64) -> Result<Vec<Use>> {
        match &self.body {
            Body::Shared(id) => Ok(vec![Use::of_shared(message::kind::ATTRIBUTE, *id)]),
            Body::Here(body) => Use::of_message(context, object, message::kind::ATTRIBUTE, Flags::NONE, body),
        }
    }
}

impl Dense {
    /// No attributes yet.
    pub(super) fn create(context: &Context, object: u64, info: &AttributeInfo) -> Result<Dense> {
        let storage = DenseStorage::create(context, object, info, &dense::ATTRIBUTES, &Parameters::attributes())?;
        Ok(Dense { storage })
    }

    /// The attributes that the message names, if it does.
    pub(super) fn open(context: &Context, object: u64, info: &AttributeInfo) -> Result<Option<Dense>> {
        let storage = DenseStorage::open(context, object, info, &dense::ATTRIBUTES)?;
        Ok(storage.map(|storage| Dense { storage }))
    }

    /// Adds an attribute, where it belongs if that is known.
    pub(super) fn insert(
        &mut self,
        context: &Context,
        name: &[u8],
        attribute: &Stored,
        vacant: Option<Vacant>,
    ) -> Result<()> {
        let (file, widths) = (context.file(), context.file().widths());
        let id = match &attribute.body {
            Body::Shared(id) => *id,
            Body::Here(body) => self.storage.put(file, body)?,
        };
        let entry = AttributeEntry { id, flags: attribute.flags.0, order: attribute.order };
        let record = Record::AttributeName { entry, hash: hyperslab_base::lookup3(name) };
        let record = Form::Plain(kind::ATTRIBUTE_NAME).encode(&record, widths)?;
        let mut order = by_name(context, &self.storage.heap, name, None);
        match vacant {
            Some(vacant) => self.storage.names.fill(file, vacant, &record, &mut order)?,
            None => self.storage.names.insert(file, &record, &mut order)?,
        }
        if let Some(orders) = &mut self.storage.orders {
            let record = Form::Plain(kind::ATTRIBUTE_ORDER).encode(&Record::AttributeOrder(entry), widths)?;
            orders.insert(file, &record, &mut |other| Ok(order_of(other).cmp(&entry.order)))?;
        }
        Ok(())
    }

    /// Takes the attribute with this name out.
    pub(super) fn remove(&mut self, context: &Context, name: &[u8], occupied: Occupied) -> Result<()> {
        let (file, heap) = (context.file(), &self.storage.heap);
        let removed = self.storage.names.take(file, occupied, &mut by_name(context, heap, name, None))?;
        let missing = || Error::broken("attribute", heap.address(), "one that was there is not there");
        let entry = entry(&removed.ok_or_else(missing)?, file, heap)?;
        if let Some(orders) = &mut self.storage.orders {
            orders.remove(file, &mut |other| Ok(order_of(other).cmp(&entry.order)))?;
        }
        if Flags(entry.flags).is_shared() {
            return Ok(());
        }
        self.storage.heap.remove(file, &entry.id)
    }

    /// The attribute with this name and its place, or where it belongs.
    pub(super) fn find(&self, context: &Context, name: &[u8]) -> Result<Result<(Occupied, Stored), Vacant>> {
        let (file, mut body) = (context.file(), None);
        let entry = self.storage.names.entry(file, &mut by_name(context, &self.storage.heap, name, Some(&mut body)))?;
        match entry {
            Entry::Vacant(vacant) => Ok(Err(vacant)),
            Entry::Occupied(occupied) => {
                let stored = self.stored(file, occupied.record(), body)?;
                Ok(Ok((occupied, stored)))
            }
        }
    }

    /// All attributes, in the order in which the tree of names has them.
    pub(super) fn all(&self, context: &Context) -> Result<Vec<Stored>> {
        let mut all = Vec::new();
        self.storage.names.for_each(context.file(), &mut |record| {
            all.push(self.stored(context.file(), record, None)?);
            Ok(())
        })?;
        Ok(all)
    }

    /// The attribute of a record; `body` is its message if that was read already.
    fn stored(&self, file: &OpenFile, record: &[u8], body: Option<Vec<u8>>) -> Result<Stored> {
        let AttributeEntry { id, flags, order } = entry(record, file, &self.storage.heap)?;
        let flags = Flags(flags);
        let body = match (flags.is_shared(), body) {
            (true, _) => Body::Shared(id),
            (false, Some(body)) => Body::Here(body),
            (false, None) => Body::Here(self.storage.heap.get(file, &id)?),
        };
        Ok(Stored { flags, order, body })
    }

    /// Whether the heap has objects that no name leads to.
    pub(super) fn lags(&self, context: &Context) -> Result<bool> {
        let (file, mut own) = (context.file(), self.storage.len());
        // Attributes that several objects share are in another heap.
        if context.shares_attributes()? {
            own = 0;
            self.storage.names.for_each(file, &mut |record| {
                own += u64::from(!Flags(entry(record, file, &self.storage.heap)?.flags).is_shared());
                Ok(())
            })?;
        }
        self.storage.lags(file, own)
    }

    /// The same attributes in a new heap, without what no name leads to.
    pub(super) fn anew(self, context: &Context, object: u64, info: &AttributeInfo) -> Result<Dense> {
        let mut new = Dense::create(context, object, info)?;
        for stored in self.all(context)? {
            let body = match &stored.body {
                Body::Here(body) => body.clone(),
                Body::Shared(id) => {
                    shared::from_heap(context, message::kind::ATTRIBUTE, id, self.storage.heap.address())?
                }
            };
            let parts = message::Attribute::decode(&body).map_err(Error::at(self.storage.heap.address()))?;
            new.insert(context, parts.name, &stored, None)?;
        }
        self.storage.delete(context.file())?;
        Ok(new)
    }
}

fn entry(record: &[u8], file: &OpenFile, heap: &FractalHeap) -> Result<AttributeEntry> {
    match Form::Plain(kind::ATTRIBUTE_NAME).decode(record, file.widths()).map_err(Error::at(heap.address()))? {
        Record::AttributeName { entry, .. } => Ok(entry),
        _ => Err(Error::broken("attribute", heap.address(), "a record of another type")),
    }
}

/// Records are ordered by the hash of the name, then by the name. `found` gets the message of the attribute that has it.
fn by_name<'a>(
    context: &'a Context,
    heap: &'a FractalHeap,
    name: &'a [u8],
    mut found: Option<&'a mut Option<Vec<u8>>>,
) -> impl FnMut(&[u8]) -> Result<Ordering> + 'a {
    let wanted = hyperslab_base::lookup3(name);
    move |record| {
        let hash = record.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        if hash != wanted {
            return Ok(hash.cmp(&wanted));
        }
        let entry = entry(record, context.file(), heap)?;
        let body = match Flags(entry.flags).is_shared() {
            false => heap.get(context.file(), &entry.id)?,
            true => shared::from_heap(context, message::kind::ATTRIBUTE, &entry.id, heap.address())?,
        };
        let parts = message::Attribute::decode(&body).map_err(Error::at(heap.address()))?;
        let ordering = parts.name.cmp(name);
        if let (Ordering::Equal, Some(found)) = (ordering, &mut found) {
            **found = Some(body);
        }
        Ok(ordering)
    }
}

fn order_of(record: &[u8]) -> u32 {
    record.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}
