//! The attributes of an object: in its header, or in a heap of their own.

mod attribute_message;
mod change;
mod dense;
mod holder;
mod holder_change;
mod initial;

pub use change::{NewAttribute, check_attribute, remove_attribute, rename_attribute, set_attribute, write_attribute};
pub(crate) use change::{committed_types, delete_all, lag, mend, uses};
pub use initial::InitialAttributes;

use std::borrow::Cow;

use hyperslab_base::Reader;
use hyperslab_dtype::Datatype;
use hyperslab_file::{Error, Message, Owner, Result};
use hyperslab_format::message::{self, CharSet, kind};
use hyperslab_space::Extent;
use hyperslab_structures::{FractalHeap, Tree};

use crate::{Context, Object, shared};

/// A small named array that belongs to an object.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its name.
    pub name: Vec<u8>,
    /// How the name is written.
    pub charset: CharSet,
    /// Its place in the order of creation, if that is kept.
    pub order: Option<u32>,
    /// The type of its values.
    pub datatype: Datatype,
    /// Where the committed datatype is, if the type is one.
    pub committed: Option<u64>,
    /// Its size.
    pub extent: Extent,
    /// Its values, as stored; as many bytes as type and size say.
    pub data: Vec<u8>,
}

/// B-tree records of attributes by name.
const BY_NAME: u8 = 8;

/// B-tree records of attributes by name: id in the heap, flags, place in the order of creation, hash of the name.
struct Record<'a> {
    id: &'a [u8],
    shared: bool,
    order: u32,
    hash: u32,
}

impl<'a> Record<'a> {
    fn decode(bytes: &'a [u8], tree: u64) -> Result<Record<'a>> {
        let mut reader = Reader::new("attribute record", bytes);
        let mut fields = || {
            let (id, flags, order, hash) = (reader.take(8)?, reader.u8()?, reader.u32()?, reader.u32()?);
            Ok(Record { id, shared: flags & 2 != 0, order, hash })
        };
        fields().map_err(Error::at(tree))
    }
}

/// Is shown the message of an attribute, and its place in the order of creation.
type Show<'a> = dyn FnMut(Result<Cow<'_, [u8]>>, Option<u32>) -> Result<()> + 'a;

/// Attributes that are not in the header.
struct Dense {
    heap: FractalHeap,
    names: Tree,
    /// Where the tree is.
    at: u64,
}

impl Dense {
    fn body(&self, context: &Context, record: &Record<'_>) -> Result<Vec<u8>> {
        match record.shared {
            false => self.heap.get(context.file(), record.id),
            true => shared::from_heap(context, kind::ATTRIBUTE, record.id, self.at),
        }
    }
}

impl Object {
    /// All attributes, in the order of their names' bytes. One that cannot be understood does not hide the others.
    pub fn attributes(&self, context: &Context) -> Result<Vec<Result<Attribute>>> {
        let mut found = Vec::new();
        self.bodies(context, &mut |body, order| {
            found.push(body.and_then(|body| attribute(context, self.address(), &body, order)));
            Ok(())
        })?;
        found.sort_by(|left, right| name_of(left).cmp(name_of(right)));
        Ok(found)
    }

    /// The names of all attributes, in the order of their bytes. Types and values are not looked at.
    pub fn attribute_names(&self, context: &Context) -> Result<Vec<Vec<u8>>> {
        let mut names = Vec::new();
        self.bodies(context, &mut |body, _| {
            names.push(self.parts(&body?)?.name.to_vec());
            Ok(())
        })?;
        names.sort_unstable();
        Ok(names)
    }

    /// How many attributes there are, as the header and the index of names say. None of them is looked at.
    pub fn attribute_count(&self, context: &Context) -> Result<u64> {
        let here = self.header().messages().filter(|message| message.kind == kind::ATTRIBUTE).count() as u64;
        let outside = self.dense_attributes(context)?.map_or(0, |dense| dense.names.len());
        here.checked_add(outside)
            .ok_or_else(|| Error::broken("object", self.address(), "more attributes than can be counted"))
    }

    /// The names of all attributes in the order in which they were made; in the order of their bytes if the object does not keep it.
    pub fn attribute_names_as_made(&self, context: &Context) -> Result<Vec<Vec<u8>>> {
        let mut found = Vec::new();
        self.bodies(context, &mut |body, order| {
            found.push((order, self.parts(&body?)?.name.to_vec()));
            Ok(())
        })?;
        // Those made at once stay as they are kept.
        match self.header().prefix().ordered {
            true => found.sort_by_key(|(order, _)| *order),
            false => found.sort_by(|(_, left), (_, right)| left.cmp(right)),
        }
        Ok(found.into_iter().map(|(_, name)| name).collect())
    }

    /// The attribute with this name. Of many only those on the way to it are looked at.
    pub fn find_attribute(&self, context: &Context, name: &[u8]) -> Result<Option<Attribute>> {
        for message in self.header().messages().filter(|message| message.kind == kind::ATTRIBUTE) {
            let body = self.attribute_body(context, message)?;
            if self.parts(&body)?.name == name {
                return attribute(context, self.address(), &body, message.order.map(u32::from)).map(Some);
            }
        }
        let Some(dense) = self.dense_attributes(context)? else { return Ok(None) };
        // Records are ordered by the hash of the name, then by the name.
        let wanted = hyperslab_base::lookup3(name);
        let mut order = |record: &[u8]| {
            let record = Record::decode(record, dense.at)?;
            if record.hash != wanted {
                return Ok(record.hash.cmp(&wanted));
            }
            Ok(self.parts(&dense.body(context, &record)?)?.name.cmp(name))
        };
        dense.names.find(context.file(), &mut order, |record| {
            let record = Record::decode(record, dense.at)?;
            attribute(context, self.address(), &dense.body(context, &record)?, self.kept_order(&record))
        })
    }

    /// Shows the message of each attribute, and its place in the order of creation.
    fn bodies(&self, context: &Context, each: &mut Show<'_>) -> Result<()> {
        for message in self.header().messages().filter(|message| message.kind == kind::ATTRIBUTE) {
            each(self.attribute_body(context, message), message.order.map(u32::from))?;
        }
        let Some(dense) = self.dense_attributes(context)? else { return Ok(()) };
        // Each attribute has its own bytes; records that share them could name more than there is memory for.
        let mut left = dense.heap.most(context.file());
        dense.names.for_each(context.file(), &mut |record| {
            let record = Record::decode(record, dense.at)?;
            let body = dense.body(context, &record);
            let more = || Error::broken("object", self.address(), "its attributes have more bytes than the file");
            left = left.checked_sub(body.as_ref().map_or(0, |body| body.len() as u64)).ok_or_else(more)?;
            each(body.map(Cow::Owned), self.kept_order(&record))
        })
    }

    /// Records have a place for the order even where it is not kept.
    fn kept_order(&self, record: &Record<'_>) -> Option<u32> {
        self.header().prefix().ordered.then_some(record.order)
    }

    fn attribute_body(&self, context: &Context, message: &Message) -> Result<Cow<'_, [u8]>> {
        let body = self.header().body(message);
        if !message.flags.is_shared() {
            return Ok(Cow::Borrowed(body));
        }
        shared::resolve(context, kind::ATTRIBUTE, body, self.address()).map(|(body, _)| Cow::Owned(body))
    }

    fn dense_attributes(&self, context: &Context) -> Result<Option<Dense>> {
        let Some(info) = self.header().find(kind::ATTRIBUTE_INFO) else { return Ok(None) };
        let info = message::AttributeInfo::decode(self.header().body(info), context.file().widths());
        let info = info.map_err(Error::at(self.address()))?;
        let (Some(heap), Some(at)) = (info.heap, info.names) else { return Ok(None) };
        let names = Tree::open(context.file().owned_by(self.address()), at, &[BY_NAME])?;
        Ok(Some(Dense { heap: context.heap(Owner(self.address()), heap)?, names, at }))
    }

    fn parts<'a>(&self, bytes: &'a [u8]) -> Result<message::Attribute<'a>> {
        message::Attribute::decode(bytes).map_err(Error::at(self.address()))
    }
}

/// What an attribute message of the object at an address says.
fn attribute(context: &Context, address: u64, bytes: &[u8], order: Option<u32>) -> Result<Attribute> {
    let widths = context.file().widths();
    let parts = message::Attribute::decode(bytes).map_err(Error::at(address))?;
    let place = |kind, bytes: &[u8], is_shared: bool| match is_shared {
        true => shared::resolve(context, kind, bytes, address),
        false => Ok((bytes.to_vec(), None)),
    };
    let (datatype, committed) = place(kind::DATATYPE, parts.datatype, parts.datatype_shared)?;
    let (dataspace, _) = place(kind::DATASPACE, parts.dataspace, parts.dataspace_shared)?;
    let broken = |why: String| Error::broken("attribute", address, why);
    let (datatype, _) = Datatype::decode(&datatype).map_err(|why| broken(why.to_string()))?;
    let extent = Extent::decode(&dataspace, widths.lengths).map_err(|why| broken(why.to_string()))?;
    let length = extent.bytes(datatype.size() as u64).and_then(|length| usize::try_from(length).ok());
    let data = length.and_then(|length| parts.data.get(..length));
    let missing = || broken(format!("{:?} values of {} bytes are not all there", extent.dims(), datatype.size()));
    let data = data.ok_or_else(missing)?.to_vec();
    Ok(Attribute { name: parts.name.to_vec(), charset: parts.charset, order, datatype, committed, extent, data })
}

fn name_of(attribute: &Result<Attribute>) -> &[u8] {
    attribute.as_ref().map_or(&[], |attribute| &attribute.name)
}
