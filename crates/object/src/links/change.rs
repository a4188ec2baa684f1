//! Links come, go, and get other names.

use hyperslab_file::{Error, Result};
use hyperslab_format::message::{CharSet, Link, LinkInfo, SymbolTable, Target, kind};

use super::{
    FreeName, Links,
    dense::Dense,
    group_change::Form,
    group_plan::{
        GroupPlan,
        Happens::{Gets, Loses},
    },
    old,
};
use crate::{
    Context, Object, attributes,
    counts::{self, DropValues, Loss},
    plan::Plan,
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

    pub(super) fn link(&self, target: Target) -> Link {
        Link { name: self.bytes.to_vec(), charset: self.charset, order: self.order, target }
    }
}

/// Gives a new object its first name: a hard link.
pub fn link_new(context: &Context, group: u64, name: &Name<'_>, object: u64) -> Result<()> {
    FreeName::find(context, group, *name)?.give_to(object, &types_of(context, object)?)
}

/// Lets a link of a group lead to an object without names, from one write on: there is no moment without the link. What it led to loses a
/// name, as by [`unlink`].
pub fn relink(context: &Context, group: u64, name: &[u8], object: u64, drop_values: &mut DropValues<'_>) -> Result<()> {
    let (file, old) = (context.file(), require(context, group, name)?);
    if !file.is_unnamed(object) {
        return Err(Error::Refused(format!("the object at {object:#x} has a name already")));
    }
    let (mut plan, links) = (Plan::new(context), GroupPlan::open(context, group)?);
    plan.names_again(object);
    let types = types_of(context, object)?;
    types.iter().chain([&object]).for_each(|&first| plan.shows_later(first, group));
    let loss = Loss::plan(context, &mut plan, hard(&old))?;
    // The count of a type that both objects use cannot be written both before the link and after it.
    let share_a_type = loss.orders(group).any(|(_, loses)| types.contains(&loses));
    let losses = loss.orders(group).filter(|_| !share_a_type);
    for (first, later) in types.iter().map(|&committed| (committed, group)).chain(losses) {
        plan.orders(first, later);
        plan.loses_link(group);
    }
    let change = plan.begin()?;
    let mut links = links.begin(&change)?;
    links.replace(&Link { target: Target::Hard(object), ..old })?;
    let by = links.finish_after(&change, &types)?;
    file.gain_first_name(object)?;
    if share_a_type {
        change.publish()?;
    }
    loss.happen(context, &change, Some(by), drop_values)
}

/// Adds a link: another name of an object, a path, or something outside of this file.
pub fn link(context: &Context, group: u64, name: &Name<'_>, target: Target) -> Result<()> {
    check_name(name.bytes)?;
    let link = name.link(target);
    link.encode(context.file().widths())?;
    let (mut plan, links) = (Plan::new(context), GroupPlan::with_free(context, group, &link)?);
    links.plan_form(&mut plan, Gets(&link))?;
    let (named, mut types) = (hard(&link), Vec::new());
    if let Some(object) = named {
        counts::plan_gain(context, &mut plan, object)?;
        if context.file().is_unnamed(object) {
            types = types_of(context, object)?;
        }
        types.iter().chain([&object]).for_each(|&first| {
            plan.shows_later(first, group);
            plan.orders(first, group);
        });
        plan.gives_name(object);
    }
    let change = plan.begin()?;
    let mut links = links.begin(&change)?;
    links.insert(link)?;
    let before = links.names();
    let by = links.finish_after(&change, &types)?;
    match named {
        // The group may name itself.
        Some(object) => {
            counts::gain(context, &change, object, by)?;
            // Nodes of an old group may yet be split; all of them are written after the names.
            before.map_or(Ok(()), |names| change.order(object, names))
        }
        None => Ok(()),
    }
}

/// Takes a link out of a group; whether there was one. An object that loses its last name goes, with everything that it owns; its values are
/// given to `drop_values`.
pub fn unlink(context: &Context, group: u64, name: &[u8], drop_values: &mut DropValues<'_>) -> Result<bool> {
    let (mut plan, mut links) = (Plan::new(context), GroupPlan::open(context, group)?);
    let Some(link) = links.find(name)? else { return Ok(false) };
    links.plan_form(&mut plan, Loses(name))?;
    let loss = Loss::plan(context, &mut plan, hard(&link))?;
    for (first, later) in loss.orders(group) {
        plan.orders(first, later);
        plan.loses_link(group);
    }
    let change = plan.begin()?;
    let mut links = links.begin(&change)?;
    links.remove(name)?;
    let by = links.finish()?;
    loss.happen(context, &change, Some(by), drop_values)?;
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
    let (mut plan, gains) = (Plan::new(context), GroupPlan::open(context, to.0)?);
    gains.plan_form(&mut plan, Gets(&link))?;
    if from.0 == to.0 {
        return rename_within(plan, gains, from.1, link);
    }
    let loses = GroupPlan::open(context, from.0)?;
    loses.plan_form(&mut plan, Loses(from.1))?;
    // A new group has to be in reach before links move there.
    plan.shows_later(from.0, to.0);
    plan.orders(to.0, from.0);
    plan.loses_link(from.0);
    let change = plan.begin()?;
    let mut gains = gains.begin(&change)?;
    gains.insert(link)?;
    // Several blocks of an old group show its links: keys of its tree, too, by which others look for them.
    let is_seen = |by_tree: bool, group| by_tree && !context.file().is_fresh(group);
    let is_seen = is_seen(gains.names().is_some(), to.0) || is_seen(loses.names().is_some(), from.0);
    let first = gains.finish()?;
    if is_seen {
        change.publish()?;
    }
    let mut loses = loses.begin(&change)?;
    loses.remove(from.1)?;
    let last = loses.finish()?;
    change.order(first, last)
}

/// Gives the link called `old` another name in its group.
fn rename_within(mut plan: Plan<'_>, links: GroupPlan<'_>, old: &[u8], link: Link) -> Result<()> {
    links.plan_form(&mut plan, Loses(old))?;
    let change = plan.begin()?;
    let mut links = links.begin(&change)?;
    links.insert(link)?;
    // Another node of an old group may lose the link than the one that got it.
    if links.names().is_some() && !change.file().is_fresh(links.address()) {
        change.publish()?;
    }
    links.remove(old)?;
    links.finish().map(drop)
}

/// Whether the heap of a group has objects that no name leads to.
pub(crate) fn lag(context: &Context, group: &Object) -> Result<bool> {
    let (header, widths) = (group.header(), context.file().widths());
    let Some(found) = header.find(kind::LINK_INFO) else { return Ok(false) };
    let info = LinkInfo::decode(header.body(found), widths).map_err(Error::at(group.address()))?;
    Dense::open(context, group.address(), &info)?.map_or(Ok(false), |dense| dense.lags(context.file()))
}

/// Takes such objects away.
pub(crate) fn mend(context: &Context, group: u64) -> Result<()> {
    let mut plan = Plan::new(context);
    plan.moves_blocks(group);
    let change = plan.begin()?;
    let mut links = GroupPlan::open(context, group)?.begin(&change)?;
    if let Form::New { info, dense, .. } = &mut links.form {
        *dense = dense.take().map(|dense| dense.anew(context, group, info).map(Box::new)).transpose()?;
    }
    links.finish().map(drop)
}

/// Gives back what the links of a group take beside its header.
pub(crate) fn delete_all(context: &Context, object: &Object) -> Result<()> {
    let (file, header) = (context.file(), object.header());
    context.waiting_links().forget(object.address());
    if let Some(found) = header.find(kind::SYMBOL_TABLE) {
        let table = SymbolTable::decode(header.body(found), file.widths()).map_err(Error::at(object.address()))?;
        old::delete(file.owned_by(object.address()), &table)?;
    }
    if let Some(found) = header.find(kind::LINK_INFO) {
        let info = LinkInfo::decode(header.body(found), file.widths()).map_err(Error::at(object.address()))?;
        if let Some(dense) = Dense::open(context, object.address(), &info)? {
            dense.storage.delete(file)?;
        }
    }
    Ok(())
}

/// The committed types that an object uses: their counts go before its first name.
pub(super) fn types_of(context: &Context, object: u64) -> Result<Vec<u64>> {
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

pub(super) fn check_name(name: &[u8]) -> Result<()> {
    let why = match name {
        [] => "a link needs a name",
        b"." => "\".\" is the group itself",
        _ if name.contains(&b'/') => "a name has no slash in it: that stands between names",
        _ if name.contains(&0) => "a name has no zero byte in it",
        _ => return Ok(()),
    };
    Err(Error::Refused(why.into()))
}
