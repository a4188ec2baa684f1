//! Links come, go, and get other names.

use hyperslab_file::{Error, Result};
use hyperslab_format::message::{CharSet, Link, LinkInfo, SymbolTable, Target, kind};

use super::{
    Links,
    dense::Dense,
    group_change::{
        Form, GroupChange,
        Happens::{Gets, Loses},
    },
    old,
};
use crate::{
    Context, Object, attributes,
    counts::{self, DropValues, Loss},
};

/// A name that a group will have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    /// The name.
    pub bytes: &'a [u8],
    /// How it is to be read.
    pub charset: CharSet,
    /// Its number in a group that remembers in which order names were given, if it is larger than those there are; the next one if
    /// nothing is said.
    pub order: Option<i64>,
}

impl<'a> Name<'a> {
    /// The next name of a group.
    pub fn new(bytes: &'a [u8], charset: CharSet) -> Name<'a> {
        Name { bytes, charset, order: None }
    }

    fn link(&self, target: Target) -> Link {
        Link { name: self.bytes.to_vec(), charset: self.charset, order: self.order, target }
    }
}

/// Gives a new object its first name: a hard link.
pub fn link_new(context: &Context, group: u64, name: &Name<'_>, object: u64) -> Result<()> {
    check_name(name.bytes)?;
    let link = name.link(Target::Hard(object));
    let mut change = GroupChange::open(context, group)?;
    change.check_free(&link)?;
    change.settle_form(Gets(&link))?;
    let types = types_of(context, object)?;
    types.iter().try_for_each(|&committed| context.file().settle_later(committed, group))?;
    context.file().plan_orders(&types.iter().map(|&committed| (committed, group)).collect::<Vec<_>>())?;
    change.renew_if_flushed()?;
    change.insert(link)?;
    change.finish_after(&types).map(drop)
}

/// Lets a link of a group lead to an object without names, from one write on: there is no moment without the link. What it led to loses a
/// name, as by [`unlink`].
pub fn relink(context: &Context, group: u64, name: &[u8], object: u64, drop_values: &mut DropValues<'_>) -> Result<()> {
    let (file, old) = (context.file(), require(context, group, name)?);
    if !file.is_unnamed(object) {
        return Err(Error::Refused(format!("the object at {object:#x} has a name already")));
    }
    file.settle_unnamed(object)?;
    let types = types_of(context, object)?;
    types.iter().chain([&object]).try_for_each(|&first| file.settle_later(first, group))?;
    let loss = Loss::plan(context, hard(&old))?;
    let mut losses: Vec<_> = loss.orders(group).collect();
    // The count of a type that both objects use cannot be written both before the link and after it.
    let share_a_type = losses.iter().any(|(_, loses)| types.contains(loses));
    if share_a_type {
        losses.clear();
    }
    let orders: Vec<_> = types.iter().map(|&committed| (committed, group)).chain(losses).collect();
    file.plan_orders(&orders)?;
    if !orders.is_empty() {
        file.plan_loss(group)?;
    }
    let mut change = GroupChange::open(context, group)?;
    change.replace(&Link { target: Target::Hard(object), ..old })?;
    let by = change.finish_after(&types)?;
    file.gain_first_name(object)?;
    if share_a_type {
        file.publish()?;
    }
    loss.happen(context, Some(by), drop_values)
}

/// Adds a link: another name of an object, a path, or something outside of this file.
pub fn link(context: &Context, group: u64, name: &Name<'_>, target: Target) -> Result<()> {
    check_name(name.bytes)?;
    let link = name.link(target);
    link.encode(context.file().widths())?;
    let mut change = GroupChange::open(context, group)?;
    change.check_free(&link)?;
    change.settle_form(Gets(&link))?;
    let (file, named, mut types) = (context.file(), hard(&link), Vec::new());
    if let Some(object) = named {
        counts::check_gain(context, object)?;
        if file.is_unnamed(object) {
            types = types_of(context, object)?;
        }
        types.iter().chain([&object]).try_for_each(|&first| file.settle_later(first, group))?;
        file.plan_orders(&types.iter().chain([&object]).map(|&first| (first, group)).collect::<Vec<_>>())?;
        file.plan_name(object)?;
    }
    change.renew_if_flushed()?;
    change.insert(link)?;
    let before = change.names();
    let by = change.finish_after(&types)?;
    match named {
        // The group may name itself.
        Some(object) => {
            counts::gain(context, object, by)?;
            // Nodes of an old group may yet be split; all of them are written after the names.
            before.map_or(Ok(()), |names| file.order(object, names))
        }
        None => Ok(()),
    }
}

/// Takes a link out of a group; whether there was one. An object that loses its last name goes, with everything that it owns; its values are
/// given to `drop_values`.
pub fn unlink(context: &Context, group: u64, name: &[u8], drop_values: &mut DropValues<'_>) -> Result<bool> {
    let mut change = GroupChange::open(context, group)?;
    let Some(link) = change.find(name)? else { return Ok(false) };
    change.settle_form(Loses(name))?;
    let loss = Loss::plan(context, hard(&link))?;
    let orders: Vec<_> = loss.orders(group).collect();
    context.file().plan_orders(&orders)?;
    if !orders.is_empty() {
        context.file().plan_loss(group)?;
    }
    change.renew_if_flushed()?;
    change.remove(name)?;
    let by = change.finish()?;
    loss.happen(context, Some(by), drop_values)?;
    Ok(true)
}

/// Gives a link another name, in the same group or in another one. It is the newest link there.
pub fn rename(context: &Context, from: (u64, &[u8]), to: (u64, &[u8]), charset: CharSet) -> Result<()> {
    check_name(to.1)?;
    let link = require(context, from.0, from.1)?;
    if from == to {
        return Ok(());
    }
    let link = Link { name: to.1.to_vec(), charset, order: None, ..link };
    link.encode(context.file().widths())?;
    check_free(context, to.0, to.1)?;
    GroupChange::open(context, to.0)?.settle_form(Gets(&link))?;
    GroupChange::open(context, from.0)?.settle_form(Loses(from.1))?;
    if from.0 == to.0 {
        let mut both = GroupChange::open(context, from.0)?;
        both.insert(link)?;
        // Another node of an old group may lose the link than the one that got it.
        if both.names().is_some() && !context.file().is_fresh(from.0) {
            context.file().publish()?;
        }
        both.remove(from.1)?;
        both.finish()?;
        return Ok(());
    }
    // A new group has to be in reach before links move there.
    context.file().settle_later(from.0, to.0)?;
    context.file().plan_orders(&[(to.0, from.0)])?;
    context.file().plan_loss(from.0)?;
    let mut gains = GroupChange::open(context, to.0)?;
    gains.insert(link)?;
    let gains_by_tree = gains.names().is_some();
    let first = gains.finish()?;
    let mut loses = GroupChange::open(context, from.0)?;
    // Several blocks of an old group show its links: keys of its tree, too, by which others look for them.
    let is_seen = |by_tree: bool, group| by_tree && !context.file().is_fresh(group);
    if is_seen(gains_by_tree, to.0) || is_seen(loses.names().is_some(), from.0) {
        context.file().publish()?;
    }
    loses.remove(from.1)?;
    let last = loses.finish()?;
    context.file().order(first, last)
}

/// Whether the heap of a group has objects that no name leads to.
pub(crate) fn lag(context: &Context, group: &Object) -> Result<bool> {
    let (header, widths) = (group.header(), context.file().widths());
    let Some(found) = header.find(kind::LINK_INFO) else { return Ok(false) };
    let info = LinkInfo::decode(header.body(found), widths).map_err(Error::at(group.address()))?;
    Dense::open(context, &info)?.map_or(Ok(false), |dense| dense.lags(context.file()))
}

/// Takes such objects away.
pub(crate) fn mend(context: &Context, group: u64) -> Result<()> {
    context.file().settle_orders(group)?;
    let mut change = GroupChange::open(context, group)?;
    if let Form::New { info, dense, .. } = &mut change.form {
        *dense = dense.take().map(|dense| dense.anew(context, info).map(Box::new)).transpose()?;
    }
    change.finish().map(drop)
}

/// Gives back what the links of a group take beside its header.
pub(crate) fn delete_all(context: &Context, object: &Object) -> Result<()> {
    let (file, header) = (context.file(), object.header());
    if let Some(found) = header.find(kind::SYMBOL_TABLE) {
        let table = SymbolTable::decode(header.body(found), file.widths()).map_err(Error::at(object.address()))?;
        old::delete(context, &table)?;
    }
    if let Some(found) = header.find(kind::LINK_INFO) {
        let info = LinkInfo::decode(header.body(found), file.widths()).map_err(Error::at(object.address()))?;
        if let Some(dense) = Dense::open(context, &info)? {
            dense.delete(file)?;
        }
    }
    Ok(())
}

/// The committed types that an object uses: their counts go before its first name.
fn types_of(context: &Context, object: u64) -> Result<Vec<u64>> {
    let object = Object::open(context, object)?;
    let mut types = attributes::committed_types(context, &object)?;
    types.extend(counts::committed_type(context, &object)?);
    Ok(types)
}

fn hard(link: &Link) -> Option<u64> {
    match link.target {
        Target::Hard(address) => Some(address),
        _ => None,
    }
}

pub(super) fn find(context: &Context, group: u64, name: &[u8]) -> Result<Option<Link>> {
    let object = Object::open(context, group)?;
    Links::of(context, &object)?.find(name)
}

fn require(context: &Context, group: u64, name: &[u8]) -> Result<Link> {
    let missing = || Error::Missing(format!("link {:?}", String::from_utf8_lossy(name)));
    find(context, group, name)?.ok_or_else(missing)
}

fn check_free(context: &Context, group: u64, name: &[u8]) -> Result<()> {
    match find(context, group, name)? {
        Some(_) => Err(exists(name)),
        None => Ok(()),
    }
}

pub(super) fn exists(name: &[u8]) -> Error {
    Error::Exists(format!("a link {:?}", String::from_utf8_lossy(name)))
}

fn check_name(name: &[u8]) -> Result<()> {
    let why = match name {
        [] => "a link needs a name",
        b"." => "\".\" is the group itself",
        _ if name.contains(&b'/') => "a name has no slash in it: that stands between names",
        _ if name.contains(&0) => "a name has no zero byte in it",
        _ => return Ok(()),
    };
    Err(Error::Refused(why.into()))
}
