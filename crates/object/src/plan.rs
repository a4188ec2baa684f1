//! Plans of steps that concern names and links: what since the last flush an object was named by, and a group lost, decides what is written first.

use std::collections::HashSet;

use hyperslab_file::{Change, Result};

use crate::Context;

/// What operations since a flush did to names and links.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// How many flushes there had been: what was noted before the last one is void.
    flushes: u64,
    /// Objects of the file that got another name.
    named: HashSet<u64>,
    /// Groups that lost links in an order.
    losing: HashSet<u64>,
}

impl Names {
    /// The notes, without those of before the last flush.
    fn since(&mut self, flushes: u64) -> &mut Names {
        if self.flushes != flushes {
            self.named.clear();
            self.losing.clear();
            self.flushes = flushes;
        }
        self
    }
}

/// A [plan](hyperslab_file::Plan) of a step that changes names or links.
#[must_use = "a plan comes to nothing before it begins"]
pub(crate) struct Plan<'a> {
    context: &'a Context,
    blocks: hyperslab_file::Plan<'a>,
    /// The object that gets a name.
    named: Option<u64>,
    /// The group that loses a link.
    losing: Option<u64>,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(context: &'a Context) -> Plan<'a> {
        Plan { context, blocks: hyperslab_file::Plan::new(context.file()), named: None, losing: None }
    }

    /// The step gives an object a name beside those that it has.
    pub(crate) fn gives_name(&mut self, object: u64) {
        self.named = Some(object);
    }

    /// The step takes one of its names from an object: a name that it got since the last flush is written first, so that it is never without.
    pub(crate) fn takes_name(&mut self, object: u64) {
        let is_named = self.notes(|names| names.named.contains(&object));
        self.blocks.flushes_if(is_named);
    }

    /// The step names an object. One that is unnamed, but in the file, is written first as it is known. Else a process that is killed could leave its
    /// old name and the new one, and the header counts one; or the new name, and the object as it was at the last flush.
    pub(crate) fn names_again(&mut self, object: u64) {
        let file = self.context.file();
        self.blocks.flushes_if(file.is_unnamed(object) && !file.is_fresh(object));
    }

    /// The step takes a link from a group, and orders that.
    pub(crate) fn loses_link(&mut self, group: u64) {
        self.losing = Some(group);
    }

    /// Whether a group lost links since the last flush, in an order.
    pub(crate) fn is_losing(&self, group: u64) -> bool {
        self.notes(|names| names.losing.contains(&group))
    }

    /// Another block of a group than the one that lost a link may show the loss: what is ordered by that one is written first.
    pub(crate) fn moves_losses(&mut self, group: u64) {
        let is_losing = self.is_losing(group);
        self.blocks.flushes_if(is_losing);
    }

    /// As [`hyperslab_file::Plan::flushes_if`].
    pub(crate) fn flushes_if(&mut self, needed: bool) {
        self.blocks.flushes_if(needed);
    }

    /// As [`hyperslab_file::Plan::moves_blocks`].
    pub(crate) fn moves_blocks(&mut self, object: u64) {
        self.blocks.moves_blocks(object);
    }

    /// As [`hyperslab_file::Plan::shows_later`].
    pub(crate) fn shows_later(&mut self, first: u64, later: u64) {
        self.blocks.shows_later(first, later);
    }

    /// As [`hyperslab_file::Plan::orders`].
    pub(crate) fn orders(&mut self, first: u64, later: u64) {
        self.blocks.orders(first, later);
    }

    /// As [`hyperslab_file::Plan::begin`]. What is planned of names and links is noted when all that is to be written first is in the file.
    pub(crate) fn begin(self) -> Result<Change<'a>> {
        let (change, file) = (self.blocks.begin()?, self.context.file());
        // A new object has all its names after the next flush, or none.
        let named = self.named.filter(|&object| !file.is_fresh(object));
        if named.is_some() || self.losing.is_some() {
            let mut names = self.context.names().lock();
            let names = names.since(file.flushes());
            names.named.extend(named);
            names.losing.extend(self.losing);
        }
        Ok(change)
    }

    /// What the notes since the last flush say.
    fn notes(&self, say: impl FnOnce(&Names) -> bool) -> bool {
        say(self.context.names().lock().since(self.context.file().flushes()))
    }
}
