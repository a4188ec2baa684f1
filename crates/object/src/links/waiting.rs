//! First names of new objects in groups that had no links. They wait in memory, and go into the structures of their group all at once: when the group changes in
//! another way, or the file is flushed.
//!
//! ```text
//!  FreeName::give_to --> WaitingLinks --change of the group, flush--> GroupChange::fill
//!                             ^
//!                       Links: find, all, count
//! ```
//!
//! Who changes the header of a group first lets the links of that group go into it ([`add_waiting`]). A flush in the middle of an operation adds those of all groups, so
//! none of these may be open to be changed then.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use hyperslab_file::Result;
use hyperslab_format::message::{CharSet, Link};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::{
    group_change::GroupChange,
    waiting_names::{WaitingLink, WaitingNames},
};
use crate::Context;

/// The links that wait.
#[derive(Default)]
pub(crate) struct WaitingLinks {
    /// Whether flushes add them: else none wait.
    is_enabled: AtomicBool,
    /// By the address of their group. Held for a look or a note, and no lock is taken meanwhile.
    groups: Mutex<FxHashMap<u64, Arc<WaitingNames>>>,
}

/// Whether a name waits in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// It does.
    Yes,
    /// It does not, but it may.
    Free,
    /// The name may not wait there.
    Never,
}

impl WaitingLinks {
    pub(super) fn is_enabled(&self) -> bool {
        self.is_enabled.load(Ordering::Relaxed)
    }

    pub(crate) fn enable(&self) {
        self.is_enabled.store(true, Ordering::Relaxed);
    }

    /// New links of a group may wait from now on: it has none.
    pub(super) fn begin(&self, group: u64, only_ascii: bool) {
        self.groups.lock().insert(group, Arc::new(WaitingNames::new(only_ascii)));
    }

    /// Whether a name waits in a group.
    pub(super) fn look(&self, group: u64, name: &[u8], charset: CharSet) -> Waits {
        match self.groups.lock().get(&group) {
            Some(names) if names.find(name).is_some() => Waits::Yes,
            Some(names) if !names.only_ascii || charset == CharSet::Ascii => Waits::Free,
            _ => Waits::Never,
        }
    }

    /// Adds a hard link to those that wait, of a name that [may](Waits::Free) wait; whether it still may.
    pub(super) fn add(&self, group: u64, link: WaitingLink<'_>) -> bool {
        let mut groups = self.groups.lock();
        // Links are shared while they go into their group, and then no operation adds any.
        let names = groups.get_mut(&group).map(Arc::make_mut);
        names.map(|names| names.add(link)).is_some()
    }

    /// The link with this name, if it waits.
    pub(super) fn find(&self, group: u64, name: &[u8]) -> Option<Link> {
        self.groups.lock().get(&group)?.find(name).map(|link| link.link())
    }

    /// The links of a group that wait, in the order in which they came.
    pub(super) fn all(&self, group: u64) -> Vec<Link> {
        self.names(group).map_or_else(Vec::new, |names| names.all().map(|link| link.link()).collect())
    }

    /// How many links of a group wait.
    pub(super) fn count(&self, group: u64) -> u64 {
        self.groups.lock().get(&group).map_or(0, |names| names.len() as u64)
    }

    /// Forgets the links of a group: they are in it now, or the group is deleted.
    pub(super) fn forget(&self, group: u64) {
        self.groups.lock().remove(&group);
    }

    fn names(&self, group: u64) -> Option<Arc<WaitingNames>> {
        self.groups.lock().get(&group).cloned()
    }

    /// The groups that links wait for.
    fn groups(&self) -> BTreeSet<u64> {
        self.groups.lock().keys().copied().collect()
    }
}

/// Lets the links that wait for a group go into it. Only within an operation, at a time when the group is not open to be changed.
pub fn add_waiting(context: &Context, group: u64) -> Result<()> {
    let waiting = context.waiting_links();
    let Some(names) = waiting.is_enabled().then(|| waiting.names(group)).flatten() else { return Ok(()) };
    if names.len() > 0 {
        let mut change = GroupChange::of(context, group)?;
        change.fill(names.all().collect())?;
        change.finish()?;
    }
    waiting.forget(group);
    Ok(())
}

/// As [`add_waiting`], for all groups.
pub fn add_all_waiting(context: &Context) -> Result<()> {
    context.waiting_links().groups().into_iter().try_for_each(|group| add_waiting(context, group))
}
