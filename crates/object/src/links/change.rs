//! Links come, go, and get other names.

use hyperslab_file::{Error, HeaderEdit, Result};
use hyperslab_format::{
    message::{CharSet, GroupInfo, Link, LinkInfo, SymbolTable, Target, kind},
    object_header::Flags,
    version,
};

use super::{Links, dense::Dense, old};
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

/// The most bytes of a link that lies in a header.
const MAX_MESSAGE: usize = 65_535;

/// Gives a new object its first name: a hard link.
pub fn link_new(context: &Context, group: u64, name: &Name<'_>, object: u64) -> Result<()> {
    check_name(name.bytes)?;
    let link = name.link(Target::Hard(object));
    let mut change = GroupChange::open(context, group)?;
    change.check_free(name.bytes)?;
    change.settle_form(Some(&link))?;
    // The counts of the types that it uses go before its name.
    let object = Object::open(context, object)?;
    let mut types = attributes::committed_types(context, &object)?;
    types.extend(counts::committed_type(context, &object)?);
    types.iter().try_for_each(|&committed| context.file().settle_later(committed, group))?;
    context.file().plan_orders(&types.iter().map(|&committed| (committed, group)).collect::<Vec<_>>())?;
    change.renew_if_flushed()?;
    change.insert(link)?;
    if types.is_empty() {
        return change.finish().map(drop);
    }
    let shown: Vec<u64> = change.names().into_iter().chain([change.finish()?]).collect();
    for committed in types {
        shown.iter().try_for_each(|&by| context.file().order(committed, by))?;
    }
    Ok(())
}

/// Adds a link: another name of an object, a path, or something outside of this file.
pub fn link(context: &Context, group: u64, name: &Name<'_>, target: Target) -> Result<()> {
    check_name(name.bytes)?;
    let link = name.link(target);
    link.encode(context.file().widths())?;
    check_free(context, group, name.bytes)?;
    GroupChange::open(context, group)?.settle_form(Some(&link))?;
    let named = hard(&link);
    if let Some(object) = named {
        counts::check_gain(context, object)?;
        context.file().settle_later(object, group)?;
        context.file().plan_orders(&[(object, group)])?;
        context.file().plan_name(object)?;
    }
    let mut change = GroupChange::open(context, group)?;
    change.insert(link)?;
    let before = change.names();
    let by = change.finish()?;
    match named {
        // The group may name itself.
        Some(object) => {
            counts::gain(context, object, by)?;
            // Nodes of an old group may yet be split; all of them are written after the names.
            before.map_or(Ok(()), |names| context.file().order(object, names))
        }
        None => Ok(()),
    }
}

/// Takes a link out of a group. An object that loses its last name goes, with everything that it owns; its values are given to
/// `drop_values`.
pub fn unlink(context: &Context, group: u64, name: &[u8], drop_values: &mut DropValues<'_>) -> Result<()> {
    let link = require(context, group, name)?;
    GroupChange::open(context, group)?.settle_form(None)?;
    let loss = Loss::plan(context, hard(&link))?;
    let orders: Vec<_> = loss.orders(group).collect();
    context.file().plan_orders(&orders)?;
    if !orders.is_empty() {
        context.file().plan_loss(group)?;
    }
    let mut change = GroupChange::open(context, group)?;
    change.remove(name)?;
    let by = change.finish()?;
    loss.happen(context, by, drop_values)
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
    GroupChange::open(context, to.0)?.settle_form(Some(&link))?;
    GroupChange::open(context, from.0)?.settle_form(None)?;
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

fn hard(link: &Link) -> Option<u64> {
    match link.target {
        Target::Hard(address) => Some(address),
        _ => None,
    }
}

fn find(context: &Context, group: u64, name: &[u8]) -> Result<Option<Link>> {
    let object = Object::open(context, group)?;
    Links::of(context, &object)?.find(name)
}

fn require(context: &Context, group: u64, name: &[u8]) -> Result<Link> {
    let missing = || Error::Refused(format!("there is no link {:?}", String::from_utf8_lossy(name)));
    find(context, group, name)?.ok_or_else(missing)
}

fn check_free(context: &Context, group: u64, name: &[u8]) -> Result<()> {
    match find(context, group, name)? {
        Some(_) => Err(Error::Refused(format!("there is a link {:?} already", String::from_utf8_lossy(name)))),
        None => Ok(()),
    }
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

/// A group whose links change.
struct GroupChange<'a> {
    context: &'a Context,
    address: u64,
    header: HeaderEdit<'a>,
    form: Form,
    /// The block whose write makes the change visible.
    by: u64,
    /// How many flushes there had been when it was opened.
    flushes: u64,
}

enum Form {
    Old(SymbolTable),
    New { info: LinkInfo, limits: GroupInfo, dense: Option<Box<Dense>> },
}

impl<'a> GroupChange<'a> {
    fn open(context: &'a Context, address: u64) -> Result<GroupChange<'a>> {
        let (header, widths) = (HeaderEdit::open(context.file(), address)?, context.file().widths());
        let form = if let Some(id) = header.find(kind::SYMBOL_TABLE) {
            Form::Old(SymbolTable::decode(header.body(id), widths).map_err(Error::at(address))?)
        } else if let Some(id) = header.find(kind::LINK_INFO) {
            let info = LinkInfo::decode(header.body(id), widths).map_err(Error::at(address))?;
            let limits = header.find(kind::GROUP_INFO).map(|id| GroupInfo::decode(header.body(id))).transpose();
            let limits = limits.map_err(Error::at(address))?.unwrap_or_default();
            Form::New { dense: Dense::open(context, &info)?.map(Box::new), info, limits }
        } else {
            return Err(Error::broken("object header", address, "it is no group"));
        };
        Ok(GroupChange { context, address, header, form, by: address, flushes: context.file().flushes() })
    }

    /// Reads again what a flush may have changed.
    fn renew_if_flushed(&mut self) -> Result<()> {
        if self.flushes != self.context.file().flushes() {
            *self = GroupChange::open(self.context, self.address)?;
        }
        Ok(())
    }

    /// An error if there is a link with this name, unless adding it finds that out before it changes anything.
    fn check_free(&self, name: &[u8]) -> Result<()> {
        match &self.form {
            Form::Old(_) => Ok(()),
            Form::New { .. } => check_free(self.context, self.address, name),
        }
    }

    /// Prepares for a group that changes its form when it gets this link, or loses one: then its header shows what other blocks showed. Of an
    /// old group, nodes are split and given up as links come and go: then others show what one lost.
    fn settle_form(&self, gets: Option<&Link>) -> Result<()> {
        let (file, group) = (self.context.file(), self.address);
        match (&self.form, gets) {
            (Form::Old(_), Some(link)) if !version::old_group_holds(link) => file.settle_orders(group),
            (Form::Old(_), _) => file.settle_losses(group),
            (Form::New { limits, dense: Some(dense), .. }, None) if dense.len() <= u64::from(limits.min_dense()) => {
                file.settle_orders(group)
            }
            _ => Ok(()),
        }
    }

    fn insert(&mut self, mut link: Link) -> Result<()> {
        let (context, address) = (self.context, self.address);
        if let Form::Old(table) = &self.form {
            if version::old_group_holds(&link) {
                self.by = old::insert(context, table, &link)?;
                return Ok(());
            }
            self.modernize()?;
        }
        let Form::New { info, limits, dense } = &mut self.form else { return Ok(()) };
        let order = link.order.unwrap_or(0).max(info.next_order);
        link.order = info.tracked.then_some(order);
        info.next_order = if info.tracked { order.saturating_add(1) } else { info.next_order };
        let body = link.encode(context.file().widths())?;
        if let Some(dense) = dense {
            dense.detach(context.file())?;
            dense.insert(context, &link)?;
            self.by = dense.published_by(context.file(), address);
            return Ok(());
        }
        if self.header.all(kind::LINK).count() < usize::from(limits.max_compact()) && body.len() <= MAX_MESSAGE {
            self.header.add(kind::LINK, Flags::NONE, None, body)?;
            return Ok(());
        }
        let mut outside = Dense::create(context, info)?;
        let inside: Vec<_> = self.header.all(kind::LINK).collect();
        for id in inside {
            let link = Link::decode(self.header.body(id), context.file().widths()).map_err(Error::at(address))?;
            outside.insert(context, &link)?;
            self.header.remove(id);
        }
        outside.insert(context, &link)?;
        *dense = Some(Box::new(outside));
        Ok(())
    }

    /// Where the names of an old group are.
    fn names(&self) -> Option<u64> {
        match &self.form {
            Form::Old(table) => table.heap,
            Form::New { .. } => None,
        }
    }

    /// Makes a group of the new kind of an old one.
    fn modernize(&mut self) -> Result<()> {
        let Form::Old(table) = self.form else { return Ok(()) };
        let (context, file) = (self.context, self.context.file());
        let object = Object::open(context, self.address)?;
        let links = Links::of(context, &object)?.all()?;
        let info = LinkInfo { tracked: false, next_order: 0, indexed: false, heap: None, names: None, orders: None };
        let limits = GroupInfo::default();
        self.header.find(kind::SYMBOL_TABLE).into_iter().for_each(|id| self.header.remove(id));
        self.header.add(kind::LINK_INFO, Flags::NONE, None, info.encode(file.widths())?)?;
        self.header.add(kind::GROUP_INFO, Flags::CONSTANT, None, limits.encode())?;
        self.form = Form::New { info, limits, dense: None };
        links.into_iter().try_for_each(|link| self.insert(link))?;
        old::delete(context, &table)?;
        file.forget_cached_root(self.address)
    }

    fn remove(&mut self, name: &[u8]) -> Result<()> {
        let (context, address) = (self.context, self.address);
        let file = context.file();
        match &mut self.form {
            Form::Old(table) => self.by = old::remove(context, table, name)?,
            Form::New { info, limits, dense: Some(dense) } => {
                dense.detach(file)?;
                dense.remove(context, name)?;
                self.by = dense.published_by(context.file(), address);
                if dense.len() < u64::from(limits.min_dense()) {
                    let links = dense.all(file)?;
                    let bodies = links.iter().map(|link| link.encode(file.widths()));
                    let bodies = bodies.collect::<Result<Vec<_>, _>>()?;
                    if bodies.iter().all(|body| body.len() <= MAX_MESSAGE) {
                        for body in bodies {
                            self.header.add(kind::LINK, Flags::NONE, None, body)?;
                        }
                        (info.heap, info.names, info.orders) = (None, None, None);
                        let Form::New { dense, .. } = &mut self.form else { return Ok(()) };
                        dense.take().map_or(Ok(()), |dense| dense.delete(file))?;
                        self.by = address;
                    }
                }
            }
            Form::New { dense: None, .. } => {
                let ids: Vec<_> = self.header.all(kind::LINK).collect();
                for id in ids {
                    let link = Link::decode(self.header.body(id), file.widths()).map_err(Error::at(address))?;
                    if link.name == name {
                        self.header.remove(id);
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes the header, if it has something to say; the block whose write makes all changes visible.
    fn finish(mut self) -> Result<u64> {
        let (file, address) = (self.context.file(), self.address);
        if let Form::New { info, dense, .. } = &mut self.form {
            let count = dense.as_ref().map_or_else(|| self.header.all(kind::LINK).count() as u64, |dense| dense.len());
            if count == 0 {
                info.next_order = 0;
            }
            dense.iter().for_each(|dense| dense.name_in(info));
            if let Some(id) = self.header.find(kind::LINK_INFO) {
                self.header.replace(id, info.encode(file.widths())?)?;
            }
            self.header.touch()?;
            self.header.save()?;
            dense.iter().try_for_each(|dense| dense.before(file, address))?;
        }
        Ok(self.by)
    }
}
