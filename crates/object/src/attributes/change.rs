//! Attributes come, go, and get other values and names.

use hyperslab_file::{Error, Result};
use hyperslab_format::{
    message::{self, AttributeInfo, CharSet, kind},
    object_header::Flags,
    version,
};
use hyperslab_space::Extent;

use super::{
    attribute_message::{committed_type, decode},
    dense::{Body, Dense, Stored},
    holder::{HolderPlan, Lookup, check_size},
};
use crate::{
    Attribute, Context, NewType, Object,
    counts::{self, Loss},
    parts,
    plan::Plan,
    shared_change::{self, Use},
};

/// A new attribute.
#[derive(Clone, Copy, Debug)]
pub struct NewAttribute<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// How the name is written.
    pub charset: CharSet,
    /// The type of its values.
    pub datatype: NewType<'a>,
    /// Its size.
    pub extent: &'a Extent,
    /// Its values as the file has them.
    pub data: &'a [u8],
}

/// Refuses an attribute that an object cannot get, before values of it go to a heap. They may be any bytes.
pub fn check_attribute(context: &Context, object: u64, attribute: &NewAttribute<'_>) -> Result<()> {
    checked(context, object, attribute).map(drop)
}

fn checked<'a>(context: &'a Context, object: u64, attribute: &NewAttribute<'_>) -> Result<(HolderPlan<'a>, Vec<u8>)> {
    check_name(attribute.name)?;
    let holder = HolderPlan::open(context, object)?;
    let body = encode(context, attribute)?;
    check_size(holder.header.prefix(), body.len())?;
    holder.check_order()?;
    Ok((holder, body))
}

/// Gives an object an attribute. One with the same name goes; the new one is the newest of all. Gives back the one that went, if its
/// values lie in a heap and it is no shared message.
pub fn set_attribute(context: &Context, object: u64, attribute: &NewAttribute<'_>) -> Result<Option<Attribute>> {
    let (holder, body) = checked(context, object, attribute)?;
    let (old, vacant) = match holder.find(attribute.name)? {
        Lookup::Found(location, old) => (Some((location, old)), None),
        Lookup::Free(vacant) => (None, vacant),
    };
    let went = old.as_ref().and_then(|(_, old)| holder.with_heap_values(old));
    let unused = old.as_ref().map_or_else(|| Ok(Vec::new()), |(_, old)| holder.uses(old))?;
    let gained = attribute.datatype.committed();
    let lost = old.as_ref().map(|(_, old)| holder.committed_type(old)).transpose()?.flatten();
    let mut plan = Plan::new(context);
    if old.is_some() {
        holder.plan_form(&mut plan);
    }
    // One that is lost and gained stays as it is.
    let (gained, lost) = if gained == lost { (None, None) } else { (gained, lost) };
    let mut loss = Loss::plan(context, &mut plan, lost)?;
    let regained = gained.map_or(Ok(false), |committed| loss.regain(context, committed))?;
    let gained = gained.filter(|_| !regained);
    if let Some(committed) = gained {
        counts::plan_gain(context, &mut plan, committed)?;
        plan.shows_later(committed, object);
    }
    let orders = loss.orders(object).chain(gained.map(|committed| (committed, object)));
    orders.for_each(|(first, later)| plan.orders(first, later));
    let change = plan.begin()?;
    let mut holder = holder.begin(&change)?;
    if let Some((location, _)) = old {
        holder.remove(attribute.name, location)?;
    }
    let order = holder.next_order();
    holder.insert(attribute.name, Stored { flags: Flags::NONE, order, body: Body::Here(body) }, vacant)?;
    let by = holder.finish()?;
    if let Some(committed) = gained {
        counts::gain(context, &change, committed, by)?;
    }
    shared_change::release(context, &change, unused, Some(by))?;
    loss.happen(context, &change, Some(by), &mut |_| Ok(()))?;
    Ok(went)
}

/// Gives an attribute other values of the same type and number.
pub fn write_attribute(context: &Context, object: u64, name: &[u8], data: &[u8]) -> Result<()> {
    let holder = HolderPlan::open(context, object)?;
    let (location, stored) = holder.require(name)?;
    let bytes = holder.bytes(&stored)?;
    let parts = decode(&bytes, object)?;
    if parts.data.len() < data.len() {
        return Err(Error::Refused(format!("{} bytes of values where there are {}", data.len(), parts.data.len())));
    }
    let padding = parts.data.get(data.len()..).unwrap_or_default();
    let body = message::Attribute { data: &[data, padding].concat(), ..parts }.encode()?;
    let stored = Stored { flags: stored.flags.unshared(), body: Body::Here(body), ..stored };
    holder.begin(&Plan::new(context).begin()?)?.put((name, location), (name, stored))
}

/// Gives an attribute another name. It keeps its place in the order of creation.
pub fn rename_attribute(context: &Context, object: u64, old: &[u8], new: &[u8], charset: CharSet) -> Result<()> {
    check_name(new)?;
    let holder = HolderPlan::open(context, object)?;
    let (location, stored) = holder.require(old)?;
    if old == new {
        return Ok(());
    }
    if let Lookup::Found(..) = holder.find(new)? {
        return Err(Error::Exists(format!("an attribute {:?}", String::from_utf8_lossy(new))));
    }
    let bytes = holder.bytes(&stored)?;
    let parts = decode(&bytes, object)?;
    let shared = parts.datatype_shared || parts.dataspace_shared;
    let version = parts.version.max(version::attribute(context.file().libver_min(), charset, shared));
    let charset = if version < 3 { CharSet::Ascii } else { charset };
    let body = message::Attribute { version, name: new, charset, ..parts }.encode()?;
    check_size(holder.header.prefix(), body.len())?;
    let stored = Stored { flags: stored.flags.unshared(), body: Body::Here(body), ..stored };
    holder.begin(&Plan::new(context).begin()?)?.put((old, location), (new, stored))
}

/// Takes an attribute away; whether there was one. `went` gets it if its values lie in a heap and it is no shared message.
pub fn remove_attribute(context: &Context, object: u64, name: &[u8], went: impl FnOnce(&Attribute)) -> Result<bool> {
    let holder = HolderPlan::open(context, object)?;
    let Lookup::Found(location, old) = holder.find(name)? else { return Ok(false) };
    let (own, unused) = (holder.with_heap_values(&old), holder.uses(&old)?);
    let mut plan = Plan::new(context);
    holder.plan_form(&mut plan);
    let loss = Loss::plan(context, &mut plan, holder.committed_type(&old)?)?;
    loss.orders(object).for_each(|(first, later)| plan.orders(first, later));
    let change = plan.begin()?;
    let mut holder = holder.begin(&change)?;
    holder.remove(name, location)?;
    let by = holder.finish()?;
    shared_change::release(context, &change, unused, Some(by))?;
    loss.happen(context, &change, Some(by), &mut |_| Ok(()))?;
    if let Some(own) = &own {
        went(own);
    }
    Ok(true)
}

/// Whether the heap of an object's attributes has objects that no name leads to.
pub(crate) fn lag(context: &Context, object: u64) -> Result<bool> {
    HolderPlan::open(context, object)?.lags()
}

/// Takes such objects away.
pub(crate) fn mend(context: &Context, object: u64) -> Result<()> {
    let mut plan = Plan::new(context);
    plan.moves_blocks(object);
    let change = plan.begin()?;
    HolderPlan::open(context, object)?.begin(&change)?.mend()
}

/// Gives back what the attributes of an object take beside its header.
pub(crate) fn delete_all(context: &Context, object: &Object) -> Result<()> {
    let Some(found) = object.header().find(kind::ATTRIBUTE_INFO) else { return Ok(()) };
    let info = AttributeInfo::decode(object.header().body(found), context.file().widths());
    let dense = Dense::open(context, object.address(), &info.map_err(Error::at(object.address()))?)?;
    dense.map_or(Ok(()), |dense| dense.storage.delete(context.file()))
}

/// What the attributes of an object use of shared messages.
pub(crate) fn uses(context: &Context, object: &Object) -> Result<Vec<Use>> {
    let mut uses = Vec::new();
    for found in object.header().messages().filter(|found| found.kind == kind::ATTRIBUTE) {
        let body = object.header().body(found);
        uses.extend(Use::of_message(context, object.address(), kind::ATTRIBUTE, found.flags, body)?);
    }
    let Some(found) = object.header().find(kind::ATTRIBUTE_INFO) else { return Ok(uses) };
    let info = AttributeInfo::decode(object.header().body(found), context.file().widths());
    let Some(dense) = Dense::open(context, object.address(), &info.map_err(Error::at(object.address()))?)? else {
        return Ok(uses);
    };
    for stored in dense.all(context)? {
        uses.extend(stored.uses(context, object.address())?);
    }
    Ok(uses)
}

/// Where the types of an object's attributes are committed, one for each attribute that has such a type.
pub(crate) fn committed_types(context: &Context, object: &Object) -> Result<Vec<u64>> {
    let mut types = Vec::new();
    object.bodies(context, &mut |body, _| {
        types.extend(committed_type(context, &body?, object.address())?);
        Ok(())
    })?;
    Ok(types)
}

pub(super) fn check_name(name: &[u8]) -> Result<()> {
    match name {
        [] => Err(Error::Refused("an attribute needs a name".into())),
        _ if name.contains(&0) => Err(Error::Refused("a name has no zero byte in it".into())),
        _ => Ok(()),
    }
}

pub(super) fn encode(context: &Context, attribute: &NewAttribute<'_>) -> Result<Vec<u8>> {
    let (datatype, flags) = attribute.datatype.encode(context)?;
    let dataspace = parts::extent(context, attribute.extent, 0)?;
    let encoded = message::Attribute {
        version: version::attribute(context.file().libver_min(), attribute.charset, flags.is_shared()),
        name: attribute.name,
        charset: attribute.charset,
        datatype: &datatype,
        datatype_shared: flags.is_shared(),
        dataspace: &dataspace,
        dataspace_shared: false,
        data: attribute.data,
    };
    Ok(encoded.encode()?)
}
