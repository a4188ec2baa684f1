//! A shelf: which chunks it has, in which order they leave, and what they take.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicUsize, Ordering},
};

use hyperslab_space::Coords;
use rustc_hash::FxHashMap;

use crate::{
    Claim, Footprint, Pinned, Policy, Taken,
    books::Books,
    life::{Event, Phase},
    order::{Order, Verdict},
    pinned::{Gone, Hold, Visitors},
    slot::{Exit, Slot},
    statistics::count,
    sync::{Mutex, MutexGuard, Rank},
    turns::Turns,
    write_failure::Unwritable,
};

/// A shelf.
pub(crate) struct Inner<V: Footprint> {
    pub(crate) home: Arc<V::Home>,
    /// Its number: shelves are entered in this order.
    pub(crate) number: u64,
    /// What it keeps while others have more.
    pub(crate) reserve: AtomicUsize,
    pub(crate) turns: Turns,
    pub(crate) slots: Mutex<Slots<V>>,
    pub(crate) bytes: AtomicUsize,
    pub(crate) books: Arc<Books>,
    /// So that what is pinned finds its shelf.
    this: Weak<Inner<V>>,
}

/// Its chunks.
pub(crate) struct Slots<V: Footprint> {
    pub(crate) by_place: FxHashMap<Coords, Arc<Slot<V>>>,
    pub(crate) order: Box<dyn Order>,
}

/// What a shelf has of a chunk.
pub(crate) enum Look<V: Footprint> {
    /// It is there, or somebody loads it.
    Known(Arc<Slot<V>>),
    /// Whoever asked loads it.
    New(Arc<Slot<V>>),
}

/// A chunk that leaves.
pub(crate) enum Victim<V: Footprint> {
    /// It did.
    Gone(Gone<V>),
    /// It must be written first.
    Dirty(Taken<V>),
    /// It gave part of itself back, and stays.
    Shed,
}

impl<V: Footprint> Inner<V> {
    pub(crate) fn new(
        home: Arc<V::Home>,
        number: u64,
        reserve: usize,
        policy: Policy,
        books: Arc<Books>,
    ) -> Arc<Inner<V>> {
        let slots = Slots { by_place: FxHashMap::default(), order: policy.order() };
        Arc::new_cyclic(|this: &Weak<Inner<V>>| Inner {
            home,
            number,
            reserve: AtomicUsize::new(reserve),
            turns: Turns::default(),
            slots: Mutex::new(Rank::Slots, slots),
            bytes: AtomicUsize::new(0),
            books,
            this: this.clone(),
        })
    }

    /// The chunk at a place, known, and then perhaps used, or new.
    pub(crate) fn look(&self, place: &Coords, uses: bool) -> Look<V> {
        let mut slots = self.slots.lock();
        if let Some(slot) = slots.by_place.get(place).cloned() {
            if uses {
                slots.order.touch(place);
            }
            return Look::Known(slot);
        }
        let slot = Arc::new(Slot::new(place.clone()));
        slots.by_place.insert(place.clone(), slot.clone());
        slots.order.enter(place);
        Look::New(slot)
    }

    /// The chunks at places, if all are known.
    pub(crate) fn look_all(&self, places: &[Coords]) -> Option<Vec<Arc<Slot<V>>>> {
        let mut slots = self.slots.lock();
        let known = places.iter().map(|place| slots.by_place.get(place).cloned()).collect::<Option<Vec<_>>>()?;
        places.iter().for_each(|place| slots.order.touch(place));
        Some(known)
    }

    pub(crate) fn take(slot: Arc<Slot<V>>, visitors: &mut Visitors<'_, V>) -> Option<Taken<V>> {
        let (value, encoded) = slot.take(visitors.shelf())?;
        Some(Taken::new(Pinned { slot, value, shelf: visitors.next() }, encoded, false))
    }

    /// Whoever loaded a chunk gives up.
    pub(crate) fn give_up(&self, slot: &Arc<Slot<V>>) {
        let mut slots = self.slots.lock();
        if slots.by_place.get(&slot.place).is_some_and(|known| Arc::ptr_eq(known, slot)) {
            slots.by_place.remove(&slot.place);
            slots.order.leave(&slot.place, false);
        }
        drop(slots);
        slot.happen(Event::Leave, self);
    }

    /// Chunks take more, or less.
    pub(crate) fn resize(&self, before: usize, after: usize) {
        if before != after {
            self.recount(before, after);
            self.books.budget.settle(0, before, after);
        }
    }

    /// Chunks take more, or less, in room that was claimed.
    pub(crate) fn settle(&self, claim: &mut Claim<'_>, before: usize, after: usize) {
        self.recount(before, after);
        claim.spend(before, after);
    }

    fn recount(&self, before: usize, after: usize) {
        self.bytes.fetch_add(after, Ordering::Relaxed);
        self.bytes.fetch_sub(before, Ordering::Relaxed);
    }

    /// The chunk at a place went on in its life.
    pub(crate) fn moved(&self, place: &Coords, from: Phase, to: Phase) {
        self.books.moved((self.number, place), from, to);
    }

    /// The chunks whose values are not in the file, and no others, by rising place.
    pub(crate) fn unwritten(&self) -> Vec<Arc<Slot<V>>> {
        let places = self.books.unwritten.of(self.number);
        count(&self.books.counters.dirty_visits, places.len());
        let slots = self.slots.lock();
        // One that is not here any more was written or deleted since.
        let mut unwritten: Vec<_> = places.iter().filter_map(|place| slots.by_place.get(place).cloned()).collect();
        drop(slots);
        unwritten.sort_unstable_by(|left, right| left.place.cmp(&right.place));
        unwritten
    }

    /// What it has beyond its reserve, or at all.
    pub(crate) fn surplus(&self, spare_reserve: bool) -> usize {
        let bytes = self.bytes.load(Ordering::Relaxed);
        bytes.saturating_sub(if spare_reserve { self.reserve.load(Ordering::Relaxed) } else { 0 })
    }

    /// Lets a chunk leave if it may.
    pub(crate) fn evict(&self, place: &Coords) -> Option<Gone<V>> {
        let mut slots = self.slots.lock();
        let slot = slots.by_place.get(place)?.clone();
        let value = slot.leave(self)?;
        slots.by_place.remove(place);
        slots.order.leave(place, true);
        // Before others see that it is gone.
        let shelf = Hold::visitor(self.this.upgrade()?);
        drop(slots);
        Some(Gone::new(value, slot, shelf))
    }

    /// The next chunk to leave, if one may: gone, or taken to be written first.
    pub(crate) fn victim(&self) -> Option<Victim<V>> {
        let mut slots = self.slots.lock();
        let Slots { by_place, order } = &mut *slots;
        let mut judge = |place: &Coords| match by_place.get(place) {
            Some(slot) if !slot.is_free() => Verdict::Stay,
            Some(slot) if slot.spare() => Verdict::Spare,
            _ => Verdict::Leave,
        };
        let place = order.victim(&mut judge)?;
        let slot = by_place.get(&place)?.clone();
        if V::SHEDS
            && let Some(value) = slot.clean_value()
        {
            let pinned = Pinned { slot: slot.clone(), value, shelf: Hold::visitor(self.this.upgrade()?) };
            // The value is locked before the slots.
            drop(slots);
            if pinned.shed() {
                return Some(Victim::Shed);
            }
            drop(pinned);
            slots = self.slots.lock();
        }
        self.exit(slots, slot)
    }

    /// The caller gets a dirty chunk to write, which then leaves. It gets nothing if another thread has the chunk in hand, or if only a part of the chunk was used.
    pub(crate) fn take_whole(&self, slot: Arc<Slot<V>>) -> Option<Taken<V>> {
        let slots = self.slots.lock();
        if slot.is_partly() || !slots.by_place.get(&slot.place).is_some_and(|known| Arc::ptr_eq(known, &slot)) {
            return None;
        }
        match self.exit(slots, slot)? {
            Victim::Dirty(taken) => Some(taken),
            Victim::Gone(_) | Victim::Shed => None,
        }
    }

    /// Lets a chunk of the shelf leave, or takes it to be written first.
    fn exit(&self, mut slots: MutexGuard<'_, Slots<V>>, slot: Arc<Slot<V>>) -> Option<Victim<V>> {
        let shelf = self.this.upgrade()?;
        match slot.exit(self) {
            Exit::Gone(value) => {
                slots.by_place.remove(&slot.place);
                slots.order.leave(&slot.place, true);
                let shelf = Hold::visitor(shelf);
                drop(slots);
                let gone = Gone::new(value, slot, shelf);
                self.evicted(&gone);
                Some(Victim::Gone(gone))
            }
            Exit::Dirty((value, encoded)) => {
                // While it is written, it need not be passed by.
                slots.order.leave(&slot.place, true);
                let shelf = Hold::visitor(shelf);
                drop(slots);
                Some(Victim::Dirty(Taken::new(Pinned { slot, value, shelf }, encoded, true)))
            }
            Exit::Busy => None,
        }
    }

    /// Hands out dirty chunks that nobody has and that are not encoded yet, in the order in which they would leave, as long as there is something `left` to
    /// hand out. Goes past no more than so many bytes of chunks.
    pub(crate) fn near_exit(&self, mut within: usize, left: &mut usize) -> Vec<Pinned<V>> {
        let (slots, mut found) = (self.slots.lock(), Vec::new());
        for place in slots.order.walk() {
            let Some(slot) = slots.by_place.get(place).filter(|_| within > 0 && *left > 0) else { break };
            within = within.saturating_sub(slot.counted());
            let (Some((value, size)), Some(shelf)) = (slot.waits_for_coding(), self.this.upgrade()) else { continue };
            *left = left.saturating_sub(size);
            found.push(Pinned { slot: slot.clone(), value, shelf: Hold::visitor(shelf) });
        }
        found
    }

    /// Drops what was encoded ahead of time; whether there was something.
    pub(crate) fn drop_encoded(&self) -> bool {
        self.unwritten().iter().filter(|slot| slot.drop_encoded(self)).count() > 0
    }

    /// A chunk leaves to make room, if the file has it and no thread holds it. The result says whether the chunk left.
    pub(crate) fn leave(&self, place: &Coords) -> bool {
        let gone = self.evict(place);
        gone.iter().for_each(|gone| self.evicted(gone));
        gone.is_some()
    }

    /// A chunk that was to leave stays: as if it had been `used`, or as the next that leaves.
    pub(crate) fn stay(&self, slot: &Arc<Slot<V>>, used: bool) {
        let mut slots = self.slots.lock();
        if slots.by_place.get(&slot.place).is_some_and(|known| Arc::ptr_eq(known, slot)) {
            if used { slots.order.enter(&slot.place) } else { slots.order.restore(&slot.place) }
        }
    }

    /// A chunk was looked for that is not here.
    pub(crate) fn missed(&self, place: &Coords) {
        if let Some(tuning) = &self.books.tuning {
            tuning.missed(self.number, place);
        }
        self.books.looked(&self.books.counters.misses, 1);
    }

    fn evicted(&self, gone: &Gone<V>) {
        count(&self.books.counters.evictions, 1);
        if let Some(tuning) = &self.books.tuning {
            tuning.left(self.number, gone.place(), gone.bytes(), &self.books.budget);
        }
    }

    /// The places of all chunks, in the order in which they would leave.
    pub(crate) fn in_order(&self) -> Vec<Coords> {
        self.slots.lock().order.walk().cloned().collect()
    }
}

impl<V: Footprint> Drop for Inner<V> {
    /// Chunks that were in somebody's hands when the shelf was closed are freed with it.
    fn drop(&mut self) {
        self.resize(self.bytes.load(Ordering::Relaxed), 0);
        for slot in self.slots.lock().by_place.values() {
            self.moved(&slot.place, slot.phase(), Phase::Gone);
            self.books.budget.recount_unwritable(slot.unwritable(), Unwritable::default());
        }
    }
}
