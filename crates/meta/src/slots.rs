//! The slots of the cache: every entry, its phase, and who asks for what. No values are touched here, and nothing is called out to.

use std::{any::Any, collections::BTreeSet, ops::Range, sync::Arc};

use hashlink::LinkedHashMap;
use parking_lot::RwLock;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::{
    Entry, Error, Event, Failure, Graph, Id, Membership, Owner, Phase, Result, Ring, budget::Account, owners::Owners,
};

/// A value whose type only its users know.
pub(crate) trait Value: Any + Send + Sync {
    fn encode(&self) -> Result<Vec<u8>, Failure>;

    /// Whether a guard is out that may change it.
    fn is_exclusive(&self) -> bool;
}

impl<T: Entry> Value for RwLock<T> {
    fn encode(&self) -> Result<Vec<u8>, Failure> {
        self.read().encode()
    }

    fn is_exclusive(&self) -> bool {
        self.is_locked_exclusive()
    }
}

/// Which entries a flush is about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// All up to this ring.
    Rings(Ring),
    /// Those of one object, and all that they wait for.
    Owner(Owner),
}

/// How many entries an eviction looks at for each entry that came, or became clean: those that were used since have a second chance, and of a clogged cache
/// nearly all must stay.
const LOOKS: usize = 8;

pub(crate) struct Slot {
    pub(crate) address: u64,
    pub(crate) value: Arc<dyn Value>,
    pub(crate) membership: Membership,
    pub(crate) phase: Phase,
    pub(crate) pins: usize,
    pub(crate) footprint: usize,
    /// Whether it was used since eviction looked at it: then it has a second chance.
    pub(crate) used: bool,
}

impl Slot {
    /// Whether a guard is out. Guards are made under the lock of the slots, so none can come while it is held.
    pub(crate) fn in_use(&self) -> bool {
        self.pins > 0 || Arc::strong_count(&self.value) > 1
    }

    /// Whether it must not be forgotten. Those who only read it keep the value as it is.
    pub(crate) fn is_busy(&self) -> bool {
        self.pins > 0 || self.value.is_exclusive() || matches!(self.phase, Phase::Writing | Phase::Stale)
    }
}

/// Everything that one lock guards. The entry in front is the next that eviction looks at.
#[derive(Default)]
pub(crate) struct Slots {
    slots: LinkedHashMap<Id, Slot, FxBuildHasher>,
    by_address: FxHashMap<u64, Id>,
    /// The addresses of blocks in order, so that a range of them can be asked for.
    addresses: BTreeSet<u64>,
    owners: Owners,
    graph: Graph,
    /// The entries of each ring that are not clean.
    unclean: [FxHashSet<Id>; Ring::ALL.len()],
    next: u64,
    pub(crate) account: Account,
}

impl Slots {
    pub(crate) fn new(account: Account) -> Slots {
        Slots { account, ..Slots::default() }
    }

    pub(crate) fn id(&self, address: u64) -> Result<Id> {
        self.by_address.get(&address).copied().ok_or(Error::Absent(address))
    }

    pub(crate) fn get(&self, address: u64) -> Option<&Slot> {
        self.slots.get(self.by_address.get(&address)?)
    }

    /// The entry, which `owner` uses now: a hit.
    pub(crate) fn touch(&mut self, address: u64, owner: Owner) -> Option<(Id, &Slot)> {
        let id = *self.by_address.get(&address)?;
        let slot = self.slots.get_mut(&id)?;
        slot.used = true;
        if slot.membership.owner == Owner::FILE && owner != Owner::FILE {
            self.owners.remove(Owner::FILE, address, id);
            self.owners.add(owner, address, id);
            slot.membership.owner = owner;
        }
        self.account.found();
        Some((id, slot))
    }

    pub(crate) fn slot(&mut self, id: Id) -> Option<&mut Slot> {
        self.slots.get_mut(&id)
    }

    pub(crate) fn add(&mut self, slot: Slot) -> Result<Id> {
        if self.by_address.contains_key(&slot.address) {
            return Err(Error::Present(slot.address));
        }
        let id = Id(self.next);
        self.next += 1;
        self.name(slot.address, id);
        self.owners.add(slot.membership.owner, slot.address, id);
        self.graph.add(id);
        if !slot.phase.is_clean() {
            self.graph.set_clean(id, false);
            self.set_unclean(id, slot.membership.ring, true);
            self.account.soil(slot.footprint);
        }
        self.account.add(slot.footprint);
        self.slots.insert(id, slot);
        Ok(id)
    }

    /// Takes an entry out of all lists. The caller drops the value when the lock is gone.
    pub(crate) fn remove(&mut self, id: Id) -> Option<Slot> {
        let slot = self.slots.remove(&id)?;
        self.unname(slot.address);
        self.owners.remove(slot.membership.owner, slot.address, id);
        if !slot.phase.is_clean() {
            self.set_unclean(id, slot.membership.ring, false);
            self.account.clean(slot.footprint);
        }
        self.graph.remove(id);
        self.account.remove(slot.footprint);
        Some(slot)
    }

    fn name(&mut self, address: u64, id: Id) {
        self.by_address.insert(address, id);
        self.addresses.insert(address);
    }

    fn unname(&mut self, address: u64) {
        self.by_address.remove(&address);
        self.addresses.remove(&address);
    }

    /// Gives an entry another address.
    pub(crate) fn rename(&mut self, from: u64, to: u64) -> Result<()> {
        let id = self.id(from)?;
        if self.by_address.contains_key(&to) {
            return Err(Error::Present(to));
        }
        self.unname(from);
        self.name(to, id);
        if let Some(slot) = self.slots.get_mut(&id) {
            self.owners.remove(slot.membership.owner, from, id);
            self.owners.add(slot.membership.owner, to, id);
            slot.address = to;
        }
        self.happen(id, Event::Change)
    }

    /// Moves an entry through its phases; whatever follows from that is brought up to date.
    pub(crate) fn happen(&mut self, id: Id, event: Event) -> Result<()> {
        let Some(slot) = self.slots.get_mut(&id) else { return Ok(()) };
        let (before, ring, footprint) = (slot.phase, slot.membership.ring, slot.footprint);
        slot.phase = before.after(event)?;
        let clean = slot.phase.is_clean();
        if clean && ring == Ring::Fresh {
            slot.membership.ring = Ring::User; // from now on it may be named
        }
        if clean != before.is_clean() {
            self.graph.set_clean(id, clean);
            self.set_unclean(id, ring, !clean);
            if clean { self.account.clean(footprint) } else { self.account.soil(footprint) }
        }
        debug_assert_eq!(self.unclean.each_ref().map(FxHashSet::len), self.counted(), "the slots of the rings");
        Ok(())
    }

    /// An entry takes so many bytes from now on.
    pub(crate) fn weigh(&mut self, id: Id, footprint: usize) {
        let Some(slot) = self.slots.get_mut(&id) else { return };
        let before = std::mem::replace(&mut slot.footprint, footprint);
        if !slot.phase.is_clean() {
            self.account.clean(before);
            self.account.soil(footprint);
        }
        self.account.resize(before, footprint);
    }

    fn set_unclean(&mut self, id: Id, ring: Ring, unclean: bool) {
        if let Some(all) = self.unclean.get_mut(ring as usize) {
            if unclean {
                all.insert(id)
            } else {
                all.remove(&id)
            };
        }
    }

    /// What the counters must say. Slow, for debug builds; small caches only, so that those stay usable.
    fn counted(&self) -> [usize; Ring::ALL.len()] {
        if self.slots.len() > 64 {
            return self.unclean.each_ref().map(FxHashSet::len);
        }
        Ring::ALL.map(|ring| {
            self.slots.values().filter(|slot| slot.membership.ring == ring && !slot.phase.is_clean()).count()
        })
    }

    pub(crate) fn depend(&mut self, parent: u64, child: u64) -> Result<()> {
        let (above, below) = (self.id(parent)?, self.id(child)?);
        if self.graph.depend(above, below) { Ok(()) } else { Err(Error::Cycle { parent, child }) }
    }

    pub(crate) fn release(&mut self, parent: u64, child: u64) -> Result<()> {
        let (above, below) = (self.id(parent)?, self.id(child)?);
        if self.graph.release(above, below) { Ok(()) } else { Err(Error::Independent { parent, child }) }
    }

    /// The blocks that begin in `range`.
    pub(crate) fn blocks_in(&self, range: Range<u64>) -> Vec<u64> {
        self.addresses.range(range.start..range.end.max(range.start)).copied().collect()
    }

    /// The blocks that are not clean and begin in `range`, and the last one before it.
    pub(crate) fn unclean_around(&self, range: Range<u64>) -> Vec<(u64, Arc<dyn Value>)> {
        let before = self.addresses.range(..range.start).next_back();
        let within = self.addresses.range(range.start..range.end.max(range.start));
        let unclean = |&address: &u64| {
            let slot = self.get(address).filter(|slot| !slot.phase.is_clean())?;
            Some((address, slot.value.clone()))
        };
        before.into_iter().chain(within).filter_map(unclean).collect()
    }

    /// Whether an entry may be written now.
    fn may_be_written(&self, id: Id, slot: &Slot) -> bool {
        let before = self.unclean.iter().take(slot.membership.ring as usize);
        slot.phase == Phase::Dirty && before.map(FxHashSet::len).sum::<usize>() == 0 && !self.graph.waits(id)
    }

    /// All of a part that may be written now.
    pub(crate) fn writable(&self, part: Part) -> Vec<Id> {
        let ready = |id: &&Id| self.slots.get(*id).is_some_and(|slot| self.may_be_written(**id, slot));
        match part {
            Part::Rings(last) => self.unclean.iter().take(last as usize + 1).flatten().filter(ready).copied().collect(),
            Part::Owner(owner) => self.graph.under(self.of(owner)).iter().filter(ready).copied().collect(),
        }
    }

    /// How many entries of a part are not clean.
    pub(crate) fn unclean(&self, part: Part) -> usize {
        match part {
            Part::Rings(last) => self.unclean.iter().take(last as usize + 1).map(FxHashSet::len).sum(),
            Part::Owner(owner) => {
                let is_unclean = |id: &&Id| self.slots.get(*id).is_some_and(|slot| !slot.phase.is_clean());
                self.graph.under(self.of(owner)).iter().filter(is_unclean).count()
            }
        }
    }

    /// Whether an entry may leave: clean, without guards and children.
    pub(crate) fn may_leave(&self, id: Id) -> bool {
        let free = |slot: &Slot| slot.phase.is_clean() && !slot.in_use();
        self.slots.get(&id).is_some_and(free) && !self.graph.is_parent(id)
    }

    /// The entries of an owner.
    pub(crate) fn of(&self, owner: Owner) -> Vec<Id> {
        let at_its_address = self.by_address.get(&owner.0).copied();
        let is_own = |id: &Id| self.slots.get(id).is_some_and(|slot| slot.membership.owner == owner);
        at_its_address.filter(is_own).into_iter().chain(self.owners.further(owner)).collect()
    }

    /// Takes out entries that may leave and were not used since they were looked at, until the budget holds, after `changes` entries came or became clean. Only
    /// some are looked at; those that stay go to the back, so that the next ones are looked at next time.
    pub(crate) fn make_room(&mut self, changes: usize) -> Vec<Slot> {
        let mut gone = Vec::new();
        for _ in 0..changes.saturating_mul(LOOKS) {
            let front = self.slots.front().map(|(id, _)| *id);
            let Some(id) = front.filter(|_| self.account.wants_room()) else { break };
            let used = self.slots.get_mut(&id).is_some_and(|slot| std::mem::take(&mut slot.used));
            if !used && self.may_leave(id) {
                self.account.evicted();
                gone.extend(self.remove(id));
            } else {
                self.slots.to_back(&id);
            }
        }
        gone
    }
}
