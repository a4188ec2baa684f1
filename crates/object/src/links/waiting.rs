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
    collections::{BTreeSet, HashMap},
    sync::atomic::{AtomicBool, Ordering},
};

use hyperslab_file::Result;
use hyperslab_format::message::{CharSet, Link, Target};
use parking_lot::Mutex;

use super::group_change::GroupChange;
use crate::Context;

/// The links that wait.
#[derive(Default)]
pub(crate) struct WaitingLinks {
    /// Whether flushes add them: else none wait.
    is_enabled: AtomicBool,
    /// By the address of their group. Held for a look or a note, and no lock is taken meanwhile.
    groups: Mutex<HashMap<u64, Names>>,
}

/// The links of a group that wait.
struct Names {
    /// Whether all names must be ASCII, as those of groups of the old kind.
    only_ascii: bool,
    objects: HashMap<Vec<u8>, Named>,
}

/// A hard link: its number among those of the group, the form of its name, and the object.
#[derive(Clone, Copy)]
struct Named {
    nth: usize,
    charset: CharSet,
    object: u64,
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
        self.groups.lock().insert(group, Names { only_ascii, objects: HashMap::new() });
    }

    /// Whether a name waits in a group.
    pub(super) fn look(&self, group: u64, name: &[u8], charset: CharSet) -> Waits {
        match self.groups.lock().get(&group) {
            Some(names) if names.objects.contains_key(name) => Waits::Yes,
            Some(names) if !names.only_ascii || charset == CharSet::Ascii => Waits::Free,
            _ => Waits::Never,
        }
    }

    /// Adds a hard link to those that wait; gives it back if it may not.
    pub(super) fn add(&self, group: u64, link: Link) -> Option<Link> {
        let mut groups = self.groups.lock();
        let (Some(names), &Target::Hard(object)) = (groups.get_mut(&group), &link.target) else { return Some(link) };
        let Names { objects, .. } = names;
        let (nth, charset) = (objects.len(), link.charset);
        objects.insert(link.name, Named { nth, charset, object });
        None
    }

    /// The link with this name, if it waits.
    pub(super) fn find(&self, group: u64, name: &[u8]) -> Option<Link> {
        let groups = self.groups.lock();
        let (name, named) = groups.get(&group)?.objects.get_key_value(name)?;
        Some(named.link(name.clone()))
    }

    /// The links of a group that wait, in the order in which they came.
    pub(super) fn all(&self, group: u64) -> Vec<Link> {
        let groups = self.groups.lock();
        let all = groups.get(&group).into_iter().flat_map(|names| &names.objects);
        let mut all: Vec<_> = all.map(|(name, named)| (named.nth, named.link(name.clone()))).collect();
        all.sort_unstable_by_key(|(nth, _)| *nth);
        all.into_iter().map(|(_, link)| link).collect()
    }

    /// How many links of a group wait.
    pub(super) fn count(&self, group: u64) -> u64 {
        self.groups.lock().get(&group).map_or(0, |names| names.objects.len() as u64)
    }

    /// Forgets the links of a group: they are in it now, or the group is deleted.
    pub(super) fn forget(&self, group: u64) {
        self.groups.lock().remove(&group);
    }

    fn has(&self, group: u64) -> bool {
        self.groups.lock().contains_key(&group)
    }

    /// The groups that links wait for.
    fn groups(&self) -> BTreeSet<u64> {
        self.groups.lock().keys().copied().collect()
    }
}

impl Named {
    fn link(self, name: Vec<u8>) -> Link {
        Link { name, charset: self.charset, order: None, target: Target::Hard(self.object) }
    }
}

/// Lets the links that wait for a group go into it. Only within an operation, at a time when the group is not open to be changed.
pub fn add_waiting(context: &Context, group: u64) -> Result<()> {
    let waiting = context.waiting_links();
    if !waiting.is_enabled() || !waiting.has(group) {
        return Ok(());
    }
    let links = waiting.all(group);
    if !links.is_empty() {
        let mut change = GroupChange::of(context, group)?;
        change.fill(links)?;
        change.finish()?;
    }
    waiting.forget(group);
    Ok(())
}

/// As [`add_waiting`], for all groups.
pub fn add_all_waiting(context: &Context) -> Result<()> {
    context.waiting_links().groups().into_iter().try_for_each(|group| add_waiting(context, group))
}
