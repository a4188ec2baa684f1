//! The attributes of an object: in its header, or in a heap of their own.

use hyperslab_base::Reader;
use hyperslab_dtype::Datatype;
use hyperslab_file::{Error, Result};
use hyperslab_format::message::{self, CharSet, kind};
use hyperslab_space::Extent;
use hyperslab_structures::Tree;

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

impl Object {
    /// All attributes, in the order of their names' bytes. One that cannot be understood does not hide the others.
    pub fn attributes(&self, context: &Context) -> Result<Vec<Result<Attribute>>> {
        let mut found = Vec::new();
        for message in self.header().messages().filter(|message| message.kind == kind::ATTRIBUTE) {
            let body = self.header().body(message);
            let order = message.order.map(u32::from);
            found.push(if message.flags.is_shared() {
                shared::resolve(context, kind::ATTRIBUTE, body, self.address())
                    .and_then(|(body, _)| self.attribute(context, &body, order))
            } else {
                self.attribute(context, body, order)
            });
        }
        if let Some(info) = self.header().find(kind::ATTRIBUTE_INFO) {
            let info = message::AttributeInfo::decode(self.header().body(info), context.file().widths());
            let info = info.map_err(Error::at(self.address()))?;
            if let (Some(heap), Some(names)) = (info.heap, info.names) {
                self.dense(context, heap, names, &mut found)?;
            }
        }
        found.sort_by(|left, right| name_of(left).cmp(name_of(right)));
        Ok(found)
    }

    fn dense(&self, context: &Context, heap: u64, names: u64, found: &mut Vec<Result<Attribute>>) -> Result<()> {
        let heap = context.heap(heap)?;
        let tree = Tree::open(context.file(), names, &[BY_NAME])?;
        tree.for_each(context.file(), &mut |record| {
            let mut reader = Reader::new("attribute record", record);
            let mut fields = || Ok((reader.take(8)?, reader.u8()?, reader.u32()?));
            let (id, flags, order) = fields().map_err(Error::at(names))?;
            let body = match flags & 2 {
                0 => heap.get(context.file(), id),
                _ => shared::from_heap(context, kind::ATTRIBUTE, id, names),
            };
            found.push(body.and_then(|body| self.attribute(context, &body, Some(order))));
            Ok(())
        })
    }

    fn attribute(&self, context: &Context, bytes: &[u8], order: Option<u32>) -> Result<Attribute> {
        let (address, widths) = (self.address(), context.file().widths());
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
        let length =
            extent.elements().checked_mul(datatype.size() as u64).and_then(|length| usize::try_from(length).ok());
        let data = length.and_then(|length| parts.data.get(..length));
        let missing = || broken(format!("{} values of {} bytes are not all there", extent.elements(), datatype.size()));
        let data = data.ok_or_else(missing)?.to_vec();
        Ok(Attribute { name: parts.name.to_vec(), charset: parts.charset, order, datatype, committed, extent, data })
    }
}

fn name_of(attribute: &Result<Attribute>) -> &[u8] {
    attribute.as_ref().map_or(&[], |attribute| &attribute.name)
}
