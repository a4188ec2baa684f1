//! The slots of the cache: every entry, its phase, and who asks for what. No values are touched here, and nothing is called out to.

use std::{any::Any, ops::Range, sync::Arc};

use parking_lot::RwLock;
use rustc_hash::FxHashMap;

use crate::{
    Encoded, Entry, Error, Event, Failure, Graph, Id, Membership, Owner, Phase, Result, Ring, addresses::Addresses,
    budget::Account, owners::Owners, slab::Slab, unclean::Unclean,
};

/// A value whose type only its users know.
pub(crate) trait Value: Any + Send + Sync {
    fn encode(&self) -> Result<Encoded, Failure>;

    /// Whether a guard is out that may change it.
    fn is_exclusive(&self) -> bool;
}

impl<T: Entry> Value for RwLock<T> {
    fn encode(&self) -> Result<Encoded, Failure> {
        self.read().encode()
    }

    fn is_exclusive(&self) -> bool {
        self.is_locked_exclusive()
    }
}

/// How many entries an eviction looks at for each entry that came, or became clean: those that were used since have a second chance, and of a clogged cache
/// nearly all must stay.
const LOOKS: usize = 8;

pub(crate) struct Slot {
    pub(crate) address: u64,
    pub(crate) value: Arc<dyn Value>,
    pub(crate) membership: Membership,
    pub(crate) phase: Phase,
    pub(crate) footprint: usize,
    /// Whether it was used since eviction looked at it: then it has a second chance.
    pub(crate) used: bool,
    /// Its position among the entries of its ring that are not clean, if it is one.
    pub(crate) unclean_at: usize,
}

impl Slot {
    pub(crate) fn new(
        address: u64,
        value: Arc<dyn Value>,
        membership: Membership,
        phase: Phase,
        footprint: usize,
    ) -> Slot {
        Slot { address, value, membership, phase, footprint, used: false, unclean_at: 0 }
    }

    /// Whether a guard is out. Guards are made under the lock of the slots, so none can come while it is held.
    pub(crate) fn in_use(&self) -> bool {
        Arc::strong_count(&self.value) > 1
    }

    /// Whether it must not be forgotten. Those who only read it keep the value as it is.
    pub(crate) fn is_busy(&self) -> bool {
        self.value.is_exclusive() || matches!(self.phase, Phase::Writing | Phase::Stale)
    }
}

/// Everything that one lock guards.
#[derive(Default)]
pub(crate) struct Slots {
    slots: Slab<Slot>,
    by_address: FxHashMap<u64, Id>,
    addresses: Addresses,
    owners: Owners,
    /// Which entry waits for which: entries join with their first order, and part with their last one. Most have none.
    graph: Graph,
    unclean: Unclean,
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
        self.slots.get(*self.by_address.get(&address)?)
    }

    /// The entry, which `owner` uses now: a hit.
    pub(crate) fn touch(&mut self, address: u64, owner: Owner) -> Option<(Id, &Slot)> {
        let id = *self.by_address.get(&address)?;
        let slot = self.slots.get_mut(id)?;
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
        self.slots.get_mut(id)
    }

    pub(crate) fn add(&mut self, slot: Slot) -> Result<Id> {
        if self.by_address.contains_key(&slot.address) {
            return Err(Error::Present(slot.address));
        }
        let (address, Membership { ring, owner }, footprint) = (slot.address, slot.membership, slot.footprint);
        let is_clean = slot.phase.is_clean();
        let id = self.slots.insert(slot);
        self.name(address, id);
        self.owners.add(owner, address, id);
        if !is_clean {
            self.set_unclean(id, ring, true);
            self.account.soil(footprint);
        }
        self.account.add(footprint);
        Ok(id)
    }

    /// Takes an entry out of all lists. The caller drops the value when the lock is gone.
    pub(crate) fn remove(&mut self, id: Id) -> Option<Slot> {
        let slot = self.slots.get(id)?;
        if !slot.phase.is_clean() {
            let (ring, footprint) = (slot.membership.ring, slot.footprint);
            self.set_unclean(id, ring, false);
            self.account.clean(footprint);
        }
        let slot = self.slots.remove(id)?;
        self.unname(slot.address);
        self.owners.remove(slot.membership.owner, slot.address, id);
        self.graph.remove(id);
        self.account.remove(slot.footprint);
        Some(slot)
    }

    fn name(&mut self, address: u64, id: Id) {
        self.by_address.insert(address, id);
        self.addresses.add(address);
        if self.addresses.is_stale(self.by_address.len()) {
            self.blocks_around(0..0);
        }
    }

    fn unname(&mut self, address: u64) {
        self.by_address.remove(&address);
        self.addresses.remove(address);
    }

    /// Moves an entry through its phases; whatever follows from that is brought up to date.
    pub(crate) fn happen(&mut self, id: Id, event: Event) -> Result<()> {
        let Some(slot) = self.slots.get_mut(id) else { return Ok(()) };
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
        debug_assert_eq!(self.unclean.counts(), self.counted(), "the slots of the rings");
        Ok(())
    }

    /// An entry takes so many bytes from now on.
    pub(crate) fn weigh(&mut self, id: Id, footprint: usize) {
        let Some(slot) = self.slots.get_mut(id) else { return };
        let before = std::mem::replace(&mut slot.footprint, footprint);
        if !slot.phase.is_clean() {
            self.account.clean(before);
            self.account.soil(footprint);
        }
        self.account.resize(before, footprint);
    }

    fn set_unclean(&mut self, id: Id, ring: Ring, unclean: bool) {
        let Some(slot) = self.slots.get_mut(id) else { return };
        if unclean {
            slot.unclean_at = self.unclean.add(ring, id);
            return;
        }
        let at = slot.unclean_at;
        let moved = self.unclean.remove(ring, at).and_then(|moved| self.slots.get_mut(moved));
        moved.into_iter().for_each(|moved| moved.unclean_at = at);
    }

    /// What the counters must say. Slow, for debug builds; small caches only, so that those stay usable.
    fn counted(&self) -> [usize; Ring::ALL.len()] {
        if self.slots.len() > 64 {
            return self.unclean.counts();
        }
        Ring::ALL.map(|ring| {
            self.slots.values().filter(|slot| slot.membership.ring == ring && !slot.phase.is_clean()).count()
        })
    }

    pub(crate) fn depend(&mut self, parent: u64, child: u64) -> Result<()> {
        let (above, below) = (self.id(parent)?, self.id(child)?);
        [above, below].into_iter().for_each(|id| self.join(id));
        let depends = self.graph.depend(above, below);
        [above, below].into_iter().for_each(|id| self.graph.part(id));
        if depends { Ok(()) } else { Err(Error::Cycle { parent, child }) }
    }

    /// Lets an entry join the graph.
    fn join(&mut self, id: Id) {
        self.graph.add(id);
        self.graph.set_clean(id, self.slots.get(id).is_none_or(|slot| slot.phase.is_clean()));
    }

    pub(crate) fn release(&mut self, parent: u64, child: u64) -> Result<()> {
        let (above, below) = (self.id(parent)?, self.id(child)?);
        if !self.graph.release(above, below) {
            return Err(Error::Independent { parent, child });
        }
        [above, below].into_iter().for_each(|id| self.graph.part(id));
        Ok(())
    }

    /// The blocks that begin in `range`.
    pub(crate) fn blocks_in(&mut self, range: Range<u64>) -> Vec<u64> {
        self.blocks_around(range).1
    }

    /// The last block that begins before `range`, and those that begin in it.
    fn blocks_around(&mut self, range: Range<u64>) -> (Option<u64>, Vec<u64>) {
        let Slots { addresses, by_address, .. } = self;
        addresses.around(range, |address| by_address.contains_key(address))
    }

    /// The blocks that are not clean and begin in `range`, and the last one before it.
    pub(crate) fn unclean_around(&mut self, range: Range<u64>) -> Vec<(u64, Arc<dyn Value>)> {
        let (before, within) = self.blocks_around(range);
        let unclean = |address: u64| {
            let slot = self.get(address).filter(|slot| !slot.phase.is_clean())?;
            Some((address, slot.value.clone()))
        };
        before.into_iter().chain(within).filter_map(unclean).collect()
    }

    /// Whether an entry may be written now.
    fn may_be_written(&self, id: Id, slot: &Slot) -> bool {
        slot.phase == Phase::Dirty && self.unclean.is_clean_before(slot.membership.ring) && !self.graph.waits(id)
    }

    /// All up to a ring that may be written now.
    pub(crate) fn writable(&self, last: Ring) -> Vec<Id> {
        let ready = |id: &Id| self.slots.get(*id).is_some_and(|slot| self.may_be_written(*id, slot));
        self.unclean.up_to(last).filter(ready).collect()
    }

    /// How many entries up to a ring are not clean.
    pub(crate) fn unclean(&self, last: Ring) -> usize {
        self.unclean.count(last)
    }

    /// Whether an entry may leave: clean, without guards and children.
    pub(crate) fn may_leave(&self, id: Id) -> bool {
        let free = |slot: &Slot| slot.phase.is_clean() && !slot.in_use();
        self.slots.get(id).is_some_and(free) && !self.graph.is_parent(id)
    }

    /// The entries of an owner.
    pub(crate) fn of(&self, owner: Owner) -> Vec<Id> {
        let at_its_address = self.by_address.get(&owner.0).copied();
        let is_own = |id: &Id| self.slots.get(*id).is_some_and(|slot| slot.membership.owner == owner);
        at_its_address.filter(is_own).into_iter().chain(self.owners.further(owner)).collect()
    }

    /// Takes out entries that may leave and were not used since they were looked at, until the budget holds, after `changes` entries came or became clean. Only
    /// some are looked at; those that stay go to the back, so that the next ones are looked at next time.
    pub(crate) fn make_room(&mut self, changes: usize) -> Vec<Slot> {
        let mut gone = Vec::new();
        for _ in 0..changes.saturating_mul(LOOKS) {
            if !self.account.wants_room() {
                break;
            }
            let Some(id) = self.slots.front() else { break };
            let used = self.slots.get_mut(id).is_some_and(|slot| std::mem::take(&mut slot.used));
            if !used && self.may_leave(id) {
                self.account.evicted();
                gone.extend(self.remove(id));
            } else {
                self.slots.move_to_back(id);
            }
        }
        gone
    }
}
