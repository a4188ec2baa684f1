//! A group whose links are about to change: it can be asked, not changed.

use hyperslab_file::{Change, Result};
use hyperslab_format::{
    message::{Link, kind},
    version,
};

use super::{
    change::{exists, find},
    group_change::{Form, GroupChange, LinkSlot},
    old,
};
use crate::{Context, plan::Plan};

/// A group whose links are about to change.
pub(super) struct GroupPlan<'a> {
    links: GroupChange<'a>,
    /// How many flushes there had been when it was opened.
    flushes: u64,
}

/// What is about to happen to a group.
#[derive(Clone, Copy)]
pub(super) enum Happens<'a> {
    /// It gets a link.
    Gets(&'a Link),
    /// It loses the link with a name.
    Loses(&'a [u8]),
}
use Happens::{Gets, Loses};

impl<'a> GroupPlan<'a> {
    pub(super) fn open(context: &'a Context, address: u64) -> Result<GroupPlan<'a>> {
        Ok(GroupPlan { links: GroupChange::open(context, address)?, flushes: context.file().flushes() })
    }

    /// A group that is to get a link; an error if it has one with this name.
    pub(super) fn with_free(context: &'a Context, address: u64, link: &Link) -> Result<GroupPlan<'a>> {
        let mut plan = GroupPlan::open(context, address)?;
        plan.check_free(link)?;
        Ok(plan)
    }

    /// Whether new links may wait, if their names are like that of this one: the group has no links, and keeps no order of them. Says whether names must be
    /// ASCII.
    pub(super) fn lets_wait(&self, link: &Link) -> Option<bool> {
        let GroupChange { context, address, header, form, slot, .. } = &self.links;
        let may_wait = !Plan::new(context).is_losing(*address);
        match form {
            Form::Old(_) if version::old_group_holds(link) => {
                let is_empty = matches!(slot, Some(LinkSlot::Old(vacancy)) if vacancy.is_first());
                Some(true).filter(|_| may_wait && is_empty)
            }
            Form::New { info, dense: None, .. }
                if !info.tracked && !info.indexed && header.find(kind::LINK).is_none() =>
            {
                Some(false).filter(|_| may_wait)
            }
            _ => None,
        }
    }

    /// The link with this name. If nothing else comes or goes before it, it is not searched for again.
    pub(super) fn find(&mut self, name: &[u8]) -> Result<Option<Link>> {
        let GroupChange { context, address, form, slot, .. } = &mut self.links;
        let Form::New { dense: Some(dense), .. } = form else { return find(context, *address, name) };
        let (found, link) = dense.find(context.file(), name)?;
        *slot = Some(LinkSlot::Dense(found));
        Ok(link)
    }

    /// An error if there is a link with this name. Else it is added where it was looked for.
    fn check_free(&mut self, link: &Link) -> Result<()> {
        match &self.links.form {
            Form::Old(table) if version::old_group_holds(link) => {
                self.links.slot = Some(LinkSlot::Old(old::Vacancy::find(self.links.file(), table, &link.name)?));
                Ok(())
            }
            _ => self.find(&link.name)?.map_or(Ok(()), |_| Err(exists(&link.name))),
        }
    }

    /// Plans for a group that changes its form by what happens to it: then its header shows what other blocks showed. Of an old group, nodes are
    /// split and given up as links come and go: then others show what one lost.
    pub(super) fn plan_form(&self, plan: &mut Plan<'_>, happens: Happens<'_>) -> Result<()> {
        let group = self.links.address;
        match (&self.links.form, happens) {
            (Form::Old(_), Gets(link)) if !version::old_group_holds(link) => plan.moves_blocks(group),
            (Form::Old(table), _) if plan.is_losing(group) && old::restructures(self.links.file(), table, happens)? => {
                plan.moves_losses(group);
            }
            (Form::New { limits, dense: Some(dense), .. }, Loses(_))
                if dense.storage.len() <= u64::from(limits.min_dense()) =>
            {
                plan.moves_blocks(group);
            }
            _ => {}
        }
        Ok(())
    }

    /// Where the names of an old group are.
    pub(super) fn names(&self) -> Option<u64> {
        self.links.names()
    }

    /// The group, to be changed. What a flush since it was opened may have changed is read again.
    pub(super) fn begin(self, change: &Change<'_>) -> Result<GroupChange<'a>> {
        match self.flushes == change.file().flushes() {
            true => Ok(self.links),
            false => GroupChange::open(self.links.context, self.links.address),
        }
    }
}
