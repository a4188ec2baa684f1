//! A group whose links change: in a symbol table, in its header, or outside of it.

use hyperslab_file::{Change, Error, HeaderEdit, Owned, Result};
use hyperslab_format::{
    message::{GroupInfo, Link, LinkInfo, SymbolTable, Target, kind},
    object_header::Flags,
    version,
};

use hyperslab_structures::Entry;

use super::{Links, dense::Dense, old, waiting::add_waiting, waiting_names::WaitingLink};
use crate::{Context, Object};

/// The most bytes of a link that lies in a header.
const MAX_MESSAGE: usize = 65_535;

/// A group whose links change.
pub(super) struct GroupChange<'a> {
    pub(super) context: &'a Context,
    pub(super) address: u64,
    pub(super) header: HeaderEdit<'a>,
    pub(super) form: Form,
    /// The block whose write makes the change visible.
    by: u64,
    /// The slot of the link that was looked for, if that is not in the header.
    pub(super) slot: Option<LinkSlot<'a>>,
}

/// Where a link is, or belongs.
pub(super) enum LinkSlot<'a> {
    /// In a symbol table, where there is none yet.
    Old(old::Vacancy<'a>),
    Dense(Entry),
}

pub(super) enum Form {
    Old(SymbolTable),
    New { info: LinkInfo, limits: GroupInfo, dense: Option<Box<Dense>> },
}

impl<'a> GroupChange<'a> {
    pub(super) fn open(context: &'a Context, address: u64) -> Result<GroupChange<'a>> {
        add_waiting(context, address)?;
        GroupChange::of(context, address)
    }

    /// The group without the links that wait for it.
    pub(super) fn of(context: &'a Context, address: u64) -> Result<GroupChange<'a>> {
        let (header, widths) = (HeaderEdit::open(context.file(), address)?, context.file().widths());
        let form = if let Some(id) = header.find(kind::SYMBOL_TABLE) {
            Form::Old(SymbolTable::decode(header.body(id), widths).map_err(Error::at(address))?)
        } else if let Some(id) = header.find(kind::LINK_INFO) {
            let info = LinkInfo::decode(header.body(id), widths).map_err(Error::at(address))?;
            let limits = header.find(kind::GROUP_INFO).map(|id| GroupInfo::decode(header.body(id))).transpose();
            let limits = limits.map_err(Error::at(address))?.unwrap_or_default();
            Form::New { dense: Dense::open(context, address, &info)?.map(Box::new), info, limits }
        } else {
            return Err(Error::broken("object header", address, "it is no group"));
        };
        Ok(GroupChange { context, address, header, form, by: address, slot: None })
    }

    /// The file as the group sees it.
    pub(super) fn file(&self) -> Owned<'a> {
        self.context.file().owned_by(self.address)
    }

    /// Where the header of the group is.
    pub(super) fn address(&self) -> u64 {
        self.address
    }

    /// Gives a group that has no links those that waited for it.
    pub(super) fn fill(&mut self, mut links: Vec<WaitingLink<'_>>) -> Result<()> {
        let (context, address, widths) = (self.context, self.address, self.context.file().widths());
        let (info, limits, dense) = match &mut self.form {
            Form::Old(table) => {
                links.sort_unstable_by_key(|link| link.name);
                self.by = old::fill(context.file().owned_by(address), table, &links)?;
                return Ok(());
            }
            Form::New { info, limits, dense } => (info, limits, dense),
        };
        let bodies = links.iter().map(|link| link.link().encode(widths)).collect::<Result<Vec<_>, _>>()?;
        let is_compact = links.len() <= usize::from(limits.max_compact());
        if is_compact && bodies.iter().all(|body| body.len() <= MAX_MESSAGE) {
            for body in bodies {
                self.header.add(kind::LINK, Flags::NONE, None, body)?;
            }
            return Ok(());
        }
        let mut outside = Dense::create(context, address, info)?;
        outside.fill(context, &links, &bodies)?;
        *dense = Some(Box::new(outside));
        Ok(())
    }

    pub(super) fn insert(&mut self, mut link: Link) -> Result<()> {
        let (context, address) = (self.context, self.address);
        if let Form::Old(table) = &self.form {
            if version::old_group_holds(&link) {
                let vacancy = match self.slot.take() {
                    Some(LinkSlot::Old(vacancy)) => vacancy,
                    _ => old::Vacancy::find(self.file(), table, &link.name)?,
                };
                self.by = vacancy.fill(&link)?;
                return Ok(());
            }
            self.modernize()?;
        }
        let Form::New { info, limits, dense } = &mut self.form else { return Ok(()) };
        let order = link.order.unwrap_or(0).max(info.next_order);
        link.order = info.tracked.then_some(order);
        info.next_order = if info.tracked { order.saturating_add(1) } else { info.next_order };
        if let Some(dense) = dense {
            dense.storage.detach(context.file())?;
            let vacant = match self.slot.take() {
                Some(LinkSlot::Dense(Entry::Vacant(vacant))) => Some(vacant),
                _ => None,
            };
            dense.insert(context, &link, vacant)?;
            self.by = dense.storage.published_by(context.file(), address);
            return Ok(());
        }
        let body = link.encode(context.file().widths())?;
        if self.header.all(kind::LINK).count() < usize::from(limits.max_compact()) && body.len() <= MAX_MESSAGE {
            self.header.add(kind::LINK, Flags::NONE, None, body)?;
            return Ok(());
        }
        let mut outside = Dense::create(context, address, info)?;
        let inside: Vec<_> = self.header.all(kind::LINK).collect();
        for id in inside {
            let link = Link::decode(self.header.body(id), context.file().widths()).map_err(Error::at(address))?;
            outside.insert(context, &link, None)?;
            self.header.remove(id);
        }
        outside.insert(context, &link, None)?;
        *dense = Some(Box::new(outside));
        Ok(())
    }

    /// Lets the link that has this name lead elsewhere. It keeps its number.
    pub(super) fn replace(&mut self, link: &Link) -> Result<()> {
        let (context, address) = (self.context, self.address);
        let (file, widths) = (self.file(), context.file().widths());
        match (&mut self.form, &link.target) {
            (Form::Old(table), Target::Hard(object)) => self.by = old::replace(file, table, &link.name, *object)?,
            (Form::Old(_), _) => return Err(Error::Refused("a link is replaced by one to an object".into())),
            (Form::New { dense: Some(dense), .. }, _) => {
                dense.storage.detach(context.file())?;
                dense.replace(context, link)?;
                self.by = dense.storage.published_by(context.file(), address);
            }
            (Form::New { dense: None, .. }, _) => {
                let ids: Vec<_> = self.header.all(kind::LINK).collect();
                for id in ids {
                    let found = Link::decode(self.header.body(id), widths).map_err(Error::at(address))?;
                    if found.name == link.name {
                        self.header.replace(id, link.encode(widths)?)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Where the names of an old group are.
    pub(super) fn names(&self) -> Option<u64> {
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
        old::delete(self.file(), &table)?;
        file.forget_cached_root(self.address)
    }

    pub(super) fn remove(&mut self, name: &[u8]) -> Result<()> {
        let (context, address) = (self.context, self.address);
        let file = context.file();
        match &mut self.form {
            Form::Old(table) => self.by = old::remove(file.owned_by(address), table, name)?,
            Form::New { info, limits, dense: Some(dense) } => {
                let occupied = match self.slot.take() {
                    Some(LinkSlot::Dense(Entry::Occupied(occupied))) => Some(occupied),
                    _ => None,
                };
                dense.storage.detach(file)?;
                dense.remove(context, name, occupied)?;
                self.by = dense.storage.published_by(context.file(), address);
                if dense.storage.len() < u64::from(limits.min_dense()) {
                    let links = dense.all(file)?;
                    let bodies = links.iter().map(|link| link.encode(file.widths()));
                    let bodies = bodies.collect::<Result<Vec<_>, _>>()?;
                    if bodies.iter().all(|body| body.len() <= MAX_MESSAGE) {
                        for body in bodies {
                            self.header.add(kind::LINK, Flags::NONE, None, body)?;
                        }
                        (info.heap, info.names, info.orders) = (None, None, None);
                        let Form::New { dense, .. } = &mut self.form else { return Ok(()) };
                        dense.take().map_or(Ok(()), |dense| dense.storage.delete(file))?;
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

    /// As [`GroupChange::finish`], and no block shows the change before the counts of these types are written.
    pub(super) fn finish_after(self, change: &Change<'_>, types: &[u64]) -> Result<u64> {
        let names = self.names();
        let by = self.finish()?;
        for &committed in types {
            names.into_iter().chain([by]).try_for_each(|shown| change.order(committed, shown))?;
        }
        Ok(by)
    }

    /// Writes the header, if it has something to say; the block whose write makes all changes visible.
    pub(super) fn finish(mut self) -> Result<u64> {
        let (file, address) = (self.context.file(), self.address);
        if let Form::New { info, dense, .. } = &mut self.form {
            let count =
                dense.as_ref().map_or_else(|| self.header.all(kind::LINK).count() as u64, |dense| dense.storage.len());
            if count == 0 {
                info.next_order = 0;
            }
            dense.iter().for_each(|dense| dense.storage.name_in(info));
            if let Some(id) = self.header.find(kind::LINK_INFO) {
                self.header.replace(id, info.encode(file.widths())?)?;
            }
            self.header.touch();
            self.header.save()?;
            dense.iter().try_for_each(|dense| dense.storage.before(file, address))?;
        }
        Ok(self.by)
    }
}
