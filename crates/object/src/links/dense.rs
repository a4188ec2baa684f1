//! Links outside of the header: in a fractal heap, found by name, and by creation order where that is indexed.

use std::cmp::Ordering;

use hyperslab_file::{Error, OpenFile, Result};
use hyperslab_format::{
    index::record::{Form, Record, kind},
    message::{Link, LinkInfo},
};
use hyperslab_structures::{Entry, FractalHeap, Occupied, Vacant, fractal_heap::Parameters};

use super::{change::exists, waiting_names::WaitingLink};
use crate::{
    Context,
    dense::{self, DenseStorage},
};

/// The links of a group that lie outside of its header.
pub(super) struct Dense {
    pub(super) storage: DenseStorage,
}

impl Dense {
    /// No links yet.
    pub(super) fn create(context: &Context, object: u64, info: &LinkInfo) -> Result<Dense> {
        let storage = DenseStorage::create(context, object, info, &dense::LINKS, &Parameters::links())?;
        Ok(Dense { storage })
    }

    /// The links that the message names, if it does.
    pub(super) fn open(context: &Context, object: u64, info: &LinkInfo) -> Result<Option<Dense>> {
        let storage = DenseStorage::open(context, object, info, &dense::LINKS)?;
        Ok(storage.map(|storage| Dense { storage }))
    }

    /// The place of the link with this name, and the link if there is one.
    pub(super) fn find(&self, file: &OpenFile, name: &[u8]) -> Result<(Entry, Option<Link>)> {
        let mut found = None;
        let entry = self.storage.names.entry(file, &mut by_name(file, &self.storage.heap, name, Some(&mut found)))?;
        Ok((entry, found))
    }

    /// Adds a link, where it belongs if that is known.
    pub(super) fn insert(&mut self, context: &Context, link: &Link, vacant: Option<Vacant>) -> Result<()> {
        let (file, widths) = (context.file(), context.file().widths());
        let vacant = match vacant {
            Some(known) => known,
            None => match self.find(file, &link.name)?.0 {
                Entry::Vacant(vacant) => vacant,
                Entry::Occupied(_) => return Err(exists(&link.name)),
            },
        };
        let id = self.storage.put(file, &link.encode(widths)?)?;
        let record = Record::LinkName { hash: hyperslab_base::lookup3(&link.name), id };
        let record = Form::Plain(kind::LINK_NAME).encode(&record, widths)?;
        self.storage.names.fill(file, vacant, &record, &mut by_name(file, &self.storage.heap, &link.name, None))?;
        if let Some(orders) = &mut self.storage.orders {
            let order = link.order.unwrap_or(0);
            let record = Form::Plain(kind::LINK_ORDER).encode(&Record::LinkOrder { order, id }, widths)?;
            orders.insert(file, &record, &mut |other| Ok(order_of(other).cmp(&order)))?;
        }
        Ok(())
    }

    /// Adds links, as messages too, where there are none.
    pub(super) fn fill(&mut self, context: &Context, links: &[WaitingLink<'_>], bodies: &[Vec<u8>]) -> Result<()> {
        let (file, widths) = (context.file(), context.file().widths());
        let ids = self.storage.put_all(file, bodies)?;
        let hash = |link: &WaitingLink<'_>| hyperslab_base::lookup3(link.name);
        let mut records: Vec<_> = links.iter().zip(ids).map(|(link, id)| (hash(link), link.name, id)).collect();
        // Records of equal hashes are in the order of their names.
        records.sort_unstable();
        let mut encoded = Vec::new();
        for (hash, _, id) in records {
            encoded.extend(Form::Plain(kind::LINK_NAME).encode(&Record::LinkName { hash, id }, widths)?);
        }
        self.storage.names.fill_empty(file, &encoded)
    }

    /// Takes the link with this name out, from where it is if that is known.
    pub(super) fn remove(&mut self, context: &Context, name: &[u8], occupied: Option<Occupied>) -> Result<()> {
        let id = self.forget(context, name, occupied)?;
        self.storage.heap.remove(context.file(), &id)
    }

    /// Puts a link in the place of the one that has its name. The old one leaves the heap last, so that the new one is not where the trees in
    /// the file have the old one.
    pub(super) fn replace(&mut self, context: &Context, link: &Link) -> Result<()> {
        let id = self.forget(context, &link.name, None)?;
        self.insert(context, link, None)?;
        self.storage.heap.remove(context.file(), &id)
    }

    /// Takes a link out of the trees; where it is in the heap.
    fn forget(&mut self, context: &Context, name: &[u8], occupied: Option<Occupied>) -> Result<Vec<u8>> {
        let (file, heap) = (context.file(), &self.storage.heap);
        let mut order = by_name(file, heap, name, None);
        let removed = match occupied {
            Some(occupied) => self.storage.names.take(file, occupied, &mut order)?,
            None => self.storage.names.remove(file, &mut order)?,
        };
        let missing = || Error::broken("group", heap.address(), "a link that was there is not there");
        let removed = removed.ok_or_else(missing)?;
        let id = removed.get(4..).unwrap_or_default();
        if let Some(orders) = &mut self.storage.orders {
            let link = decode(file, heap, id)?;
            let order = link.order.unwrap_or(0);
            orders.remove(file, &mut |other| Ok(order_of(other).cmp(&order)))?;
        }
        Ok(id.to_vec())
    }

    /// All links, in the order in which the tree of names has them.
    pub(super) fn all(&self, file: &OpenFile) -> Result<Vec<Link>> {
        let mut links = Vec::new();
        self.storage.names.for_each(file, &mut |record| {
            links.push(decode(file, &self.storage.heap, record.get(4..).unwrap_or_default())?);
            Ok(())
        })?;
        Ok(links)
    }

    /// Whether the heap has objects that no name leads to.
    pub(super) fn lags(&self, file: &OpenFile) -> Result<bool> {
        self.storage.lags(file, self.storage.len())
    }

    /// The same links in a new heap, without what no name leads to.
    pub(super) fn anew(self, context: &Context, object: u64, info: &LinkInfo) -> Result<Dense> {
        let mut new = Dense::create(context, object, info)?;
        self.all(context.file())?.iter().try_for_each(|link| new.insert(context, link, None))?;
        self.storage.delete(context.file())?;
        Ok(new)
    }
}

/// Records are ordered by the hash of the name, then by the name. `found` gets the link that has it.
fn by_name<'a>(
    file: &'a OpenFile,
    heap: &'a FractalHeap,
    name: &'a [u8],
    mut found: Option<&'a mut Option<Link>>,
) -> impl FnMut(&[u8]) -> Result<Ordering> + 'a {
    let wanted = hyperslab_base::lookup3(name);
    move |record| {
        let hash = record.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        if hash != wanted {
            return Ok(hash.cmp(&wanted));
        }
        let link = decode(file, heap, record.get(4..).unwrap_or_default())?;
        let ordering = link.name.as_slice().cmp(name);
        if let (Ordering::Equal, Some(found)) = (ordering, &mut found) {
            **found = Some(link);
        }
        Ok(ordering)
    }
}

fn order_of(record: &[u8]) -> i64 {
    record.first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes))
}

fn decode(file: &OpenFile, heap: &FractalHeap, id: &[u8]) -> Result<Link> {
    Link::decode(&heap.get(file, id)?, file.widths()).map_err(Error::at(heap.address()))
}
