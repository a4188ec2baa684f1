//! The cache: entries in, entries out.
//!
//! One lock guards the slots, each value has its own. A thread that holds a value may take that lock. One that holds the lock of the slots never waits for a value, does no I/O
//! and calls no code of the caller but what [`Cache::look`] is given, which must not wait either.

use std::{any::Any, ops::Range, sync::Arc};

use parking_lot::{Mutex, MutexGuard, RwLock};

use crate::{
    Budget, Entry, Error, Event, Exclusive, Failure, Id, Membership, Owner, Phase, Result, Shared, Statistics,
    budget::Account,
    slots::{Slot, Slots, Value},
};

/// The metadata cache of one file. Cheap to clone; any number of threads may use it at once.
#[derive(Clone, Default)]
pub struct Cache {
    pub(crate) locks: Arc<Locks>,
}

/// The locks of a cache.
#[derive(Default)]
pub(crate) struct Locks {
    pub(crate) slots: Mutex<Slots>,
    /// Held by the one flush at a time.
    pub(crate) flushing: Mutex<()>,
}

impl Cache {
    /// A cache with these limits.
    pub fn new(budget: Budget) -> Cache {
        let slots = Mutex::new(Slots::new(Account::new(budget)));
        Cache { locks: Arc::new(Locks { slots, flushing: Mutex::default() }) }
    }

    /// The entry, to read; loaded if it is not here. Two threads that miss at the same time both load; the first value stays. What was
    /// loaded while blocks were written may be older than the file, and is loaded again.
    ///
    /// ```
    /// # use hyperslab_meta::{Cache, Encoded, Entry, Failure, Membership, Owner};
    /// # struct Node(u8);
    /// # impl Entry for Node {
    /// #     fn encode(&self) -> Result<Encoded, Failure> { Ok(vec![self.0].into()) }
    /// #     fn footprint(&self) -> usize { 1 }
    /// # }
    /// let cache = Cache::default();
    /// let node = cache.get(8, Membership::user(Owner::FILE), || Ok(Node(5)))?;
    /// assert_eq!(node.0, 5);
    /// # Ok::<(), hyperslab_meta::Error>(())
    /// ```
    pub fn get<T: Entry>(
        &self,
        address: u64,
        membership: Membership,
        load: impl FnMut() -> Result<T, Failure>,
    ) -> Result<Shared<T>> {
        let (_, value) = self.value(address, membership, load)?;
        Ok(Shared { value: value.read_arc() })
    }

    /// The entry, to change; loaded if it is not here.
    pub fn get_mut<T: Entry>(
        &self,
        address: u64,
        membership: Membership,
        load: impl FnMut() -> Result<T, Failure>,
    ) -> Result<Exclusive<T>> {
        let (id, value) = self.value(address, membership, load)?;
        Ok(Exclusive { cache: self.clone(), id, value: value.write_arc(), changed: false })
    }

    /// The entry, to read, if it is here.
    pub fn peek<T: Entry>(&self, address: u64) -> Result<Option<Shared<T>>> {
        let found = self.known::<T>(address, Owner::FILE)?;
        Ok(found.map(|(_, value)| Shared { value: value.read_arc() }))
    }

    /// What `look` sees in the entry, if it is here; it belongs to `owner`. As [`Cache::peek`], for a short look: it is called while the slots are locked, and must not use the cache.
    /// An entry that is not here is no miss yet.
    pub fn look<T: Entry, R>(&self, address: u64, owner: Owner, look: impl FnOnce(&T) -> R) -> Result<Option<R>> {
        let mut slots = self.locks.slots.lock();
        let Some((_, Slot { value, .. })) = slots.touch(address, owner) else { return Ok(None) };
        let value: &dyn Any = &**value;
        let value = value.downcast_ref::<RwLock<T>>().ok_or(Error::Type(address))?;
        if let Some(value) = value.try_read() {
            return Ok(Some(look(&value)));
        }
        drop(slots);
        Ok(self.peek(address)?.map(|value| look(&value)))
    }

    /// What the file does not have yet of a range of addresses: entries that begin in it, and the last one that begins before.
    pub fn unclean<T: Entry>(&self, range: Range<u64>) -> Result<Vec<(u64, Shared<T>)>> {
        let found = self.locks.slots.lock().unclean_around(range);
        let shared = |(address, value): (u64, Arc<dyn Value>)| {
            Ok((address, Shared { value: typed(address, value)?.read_arc() }))
        };
        found.into_iter().map(shared).collect()
    }

    fn value<T: Entry>(
        &self,
        address: u64,
        membership: Membership,
        mut load: impl FnMut() -> Result<T, Failure>,
    ) -> Result<(Id, Arc<RwLock<T>>)> {
        loop {
            if let Some(found) = self.known(address, membership.owner)? {
                return Ok(found);
            }
            let waves = self.statistics().waves;
            let value = load().map_err(Error::Load)?;
            match self.add(address, value, membership, Phase::Clean, Some(waves)) {
                Err(Error::Present(_)) => {}
                added => return added,
            }
        }
    }

    /// The entry if it is here, counted as a hit, or else as a miss.
    fn known<T: Entry>(&self, address: u64, owner: Owner) -> Result<Option<(Id, Arc<RwLock<T>>)>> {
        let mut slots = self.locks.slots.lock();
        let Some((id, Slot { value, .. })) = slots.touch(address, owner) else {
            slots.account.missed();
            return Ok(None);
        };
        let value = typed(address, value.clone())?;
        Ok(Some((id, value)))
    }

    /// A new entry. One that was loaded when only so many `waves` had been written is refused as if it were there: another thread may have
    /// changed it, written it and evicted it since.
    fn add<T: Entry>(
        &self,
        address: u64,
        value: T,
        membership: Membership,
        phase: Phase,
        waves: Option<u64>,
    ) -> Result<(Id, Arc<RwLock<T>>)> {
        let footprint = value.footprint();
        let value = Arc::new(RwLock::new(value));
        let slots = self.locks.slots.lock();
        if waves.is_some_and(|waves| waves != slots.account.statistics().waves) {
            return Err(Error::Present(address));
        }
        let id = add(slots, Slot::new(address, value.clone(), membership, phase, footprint))?;
        Ok((id, value))
    }

    /// A new entry, dirty.
    pub fn insert<T: Entry>(&self, address: u64, value: T, membership: Membership) -> Result<()> {
        self.add(address, value, membership, Phase::Dirty, None).map(drop)
    }

    /// The entry from now on, dirty: a new one, or another value for one that is here.
    pub fn put<T: Entry>(&self, address: u64, value: T, membership: Membership) -> Result<()> {
        let footprint = value.footprint();
        let mut slots = self.locks.slots.lock();
        let Some((id, Slot { value: old, .. })) = slots.touch(address, membership.owner) else {
            slots.account.missed();
            let slot = Slot::new(address, Arc::new(RwLock::new(value)), membership, Phase::Dirty, footprint);
            return add(slots, slot).map(drop);
        };
        let old = old.clone();
        drop(slots);
        let mut old = Exclusive { cache: self.clone(), id, value: typed(address, old)?.write_arc(), changed: false };
        *old = value;
        Ok(())
    }

    /// Forgets all blocks that begin in a range without writing them: their space was freed. An error if one is being changed or being written.
    pub fn forget(&self, range: Range<u64>) -> Result<()> {
        let blocks = self.locks.slots.lock().blocks_in(range);
        blocks.into_iter().try_for_each(|block| self.remove(block))
    }

    /// Forgets an entry without writing it: its space was freed. An error if it is being changed or being written. A thread that reads it
    /// goes on with the value that it has.
    pub fn remove(&self, address: u64) -> Result<()> {
        let mut slots = self.locks.slots.lock();
        let id = slots.id(address)?;
        if slots.get(address).is_some_and(Slot::is_busy) {
            return Err(Error::Busy(address));
        }
        let removed = slots.remove(id);
        drop(slots);
        drop(removed);
        Ok(())
    }

    /// Makes `parent` wait: it is not written while `child` is dirty, and stays in the cache while it has children. The dependency
    /// ends when the child leaves the cache, or by [`Cache::release`].
    pub fn depend(&self, parent: u64, child: u64) -> Result<()> {
        self.locks.slots.lock().depend(parent, child)
    }

    /// Ends a dependency.
    pub fn release(&self, parent: u64, child: u64) -> Result<()> {
        self.locks.slots.lock().release(parent, child)
    }

    pub(crate) fn changed(&self, id: Id, footprint: usize) {
        let mut slots = self.locks.slots.lock();
        slots.weigh(id, footprint);
        let legal = slots.happen(id, Event::Change);
        debug_assert!(legal.is_ok(), "{legal:?}");
    }

    /// The phase of an entry that is here.
    pub fn phase(&self, address: u64) -> Option<Phase> {
        self.locks.slots.lock().get(address).map(|slot| slot.phase)
    }

    /// The addresses of the entries of an object, in rising order.
    pub fn entries_of(&self, owner: Owner) -> Vec<u64> {
        let mut slots = self.locks.slots.lock();
        let mut addresses: Vec<_> =
            slots.of(owner).into_iter().filter_map(|id| slots.slot(id).map(|slot| slot.address)).collect();
        addresses.sort_unstable();
        addresses
    }

    /// Evicts all entries of an object that may leave; says how many stay.
    pub fn evict(&self, owner: Owner) -> usize {
        let mut slots = self.locks.slots.lock();
        let mut gone = Vec::new();
        loop {
            // A parent may leave when its children have.
            let leaving: Vec<Id> = slots.of(owner).into_iter().filter(|&id| slots.may_leave(id)).collect();
            if leaving.is_empty() {
                break;
            }
            gone.extend(leaving.into_iter().filter_map(|id| slots.remove(id)));
        }
        let left = slots.of(owner).len();
        drop(slots);
        drop(gone);
        left
    }

    /// Whether the entries that are not clean, which cannot be evicted, take more than the budget allows: time to flush, at the end of the
    /// operation.
    pub fn wants_flush(&self) -> bool {
        self.locks.slots.lock().account.wants_flush()
    }

    /// What the cache did so far.
    pub fn statistics(&self) -> Statistics {
        self.locks.slots.lock().account.statistics()
    }
}

/// The value of the entry at `address`, of the type that the caller expects.
fn typed<T: Entry>(address: u64, value: Arc<dyn Value>) -> Result<Arc<RwLock<T>>> {
    let value: Arc<dyn Any + Send + Sync> = value;
    value.downcast::<RwLock<T>>().map_err(|_| Error::Type(address))
}

/// Adds an entry, for which others may have to leave.
fn add(mut slots: MutexGuard<'_, Slots>, slot: Slot) -> Result<Id> {
    let id = slots.add(slot)?;
    let evicted = slots.make_room(1);
    drop(slots);
    drop(evicted); // values are freed when the lock is gone
    Ok(id)
}
