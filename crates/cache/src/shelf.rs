//! The chunks of one dataset.

use std::{
    collections::HashMap,
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering},
    },
};

use hyperslab_space::Coords;

use crate::{
    Area, Claim, Footprint, Pinned, Policy, Taken, Turn,
    cache::Books,
    life::{Event, Phase},
    order::{Order, Verdict},
    pinned::{Gone, Hold, Visitors},
    slot::{Exit, Slot},
    statistics::count,
    sync::{Mutex, Rank},
    turns::Turns,
};

/// The chunks of one dataset. Cheap to clone.
pub struct Shelf<V: Footprint> {
    pub(crate) inner: Arc<Inner<V>>,
}

impl<V: Footprint> Clone for Shelf<V> {
    fn clone(&self) -> Shelf<V> {
        Shelf { inner: self.inner.clone() }
    }
}

pub(crate) struct Inner<V: Footprint> {
    pub(crate) home: Arc<V::Home>,
    /// Its number: shelves are entered in this order.
    pub(crate) number: u64,
    /// What it keeps while others have more.
    reserve: AtomicUsize,
    turns: Turns,
    slots: Mutex<Slots<V>>,
    bytes: AtomicUsize,
    pub(crate) books: Arc<Books>,
    /// So that what is pinned finds its shelf.
    this: Weak<Inner<V>>,
}

struct Slots<V> {
    by_place: HashMap<Coords, Arc<Slot<V>>>,
    order: Box<dyn Order>,
}

/// What a shelf has of a chunk.
pub(crate) enum Look<V: Footprint> {
    /// It is there, or somebody loads it.
    Known(Arc<Slot<V>>),
    /// Whoever asked loads it.
    New(Arc<Slot<V>>),
}

impl<V: Footprint> Shelf<V> {
    pub(crate) fn new(home: Arc<V::Home>, number: u64, reserve: usize, policy: Policy, books: Arc<Books>) -> Shelf<V> {
        let slots = Slots { by_place: HashMap::new(), order: policy.order() };
        let inner = Arc::new_cyclic(|this: &Weak<Inner<V>>| Inner {
            home,
            number,
            reserve: AtomicUsize::new(reserve),
            turns: Turns::default(),
            slots: Mutex::new(Rank::Slots, slots),
            bytes: AtomicUsize::new(0),
            books,
            this: this.clone(),
        });
        Shelf { inner }
    }

    /// Its number. Whoever enters several shelves does so in the order of their numbers.
    pub fn number(&self) -> u64 {
        self.inner.number
    }

    /// What it is of.
    pub fn home(&self) -> &Arc<V::Home> {
        &self.inner.home
    }

    /// What it keeps from now on while others have more, in bytes.
    pub fn set_reserve(&self, bytes: usize) {
        self.inner.reserve.store(bytes, Ordering::Relaxed);
    }

    /// Which of its chunks leave first from now on.
    pub fn set_policy(&self, policy: Policy) {
        let mut slots = self.inner.slots.lock();
        let Slots { by_place, order } = &mut *slots;
        *order = policy.order();
        by_place.keys().for_each(|place| order.enter(place));
    }

    /// Waits for the turn of a request: for those that came before, overlap it, and of which one writes.
    pub fn enter(&self, area: Area, writes: bool) -> Turn<'_> {
        self.inner.turns.enter(area, writes)
    }

    /// The turn of a request, if it need not wait. For work in the background.
    pub fn try_enter(&self, area: Area, writes: bool) -> Option<Turn<'_>> {
        self.inner.turns.try_enter(area, writes)
    }

    /// A chunk that is in memory now.
    pub fn peek(&self, place: &Coords) -> Option<Pinned<V>> {
        let mut visitors = Visitors::new(&self.inner, 1);
        let slot = self.inner.slots.lock().by_place.get(place)?.clone();
        let value = slot.value()?;
        Some(Pinned { slot, value, shelf: visitors.next() })
    }

    /// Which chunks are in memory, or will be soon.
    pub fn has(&self, places: &[Coords]) -> Vec<bool> {
        let slots = self.inner.slots.lock();
        places.iter().map(|place| slots.by_place.contains_key(place)).collect()
    }

    /// Whether no chunk is in memory.
    pub fn is_empty(&self) -> bool {
        self.inner.slots.lock().by_place.is_empty()
    }

    /// The places of all chunks in memory.
    pub fn places(&self) -> Vec<Coords> {
        self.inner.slots.lock().by_place.keys().cloned().collect()
    }

    /// Whether it is the same shelf.
    pub fn is(&self, other: &Shelf<V>) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// What its chunks take, in bytes.
    pub fn bytes(&self) -> usize {
        self.inner.bytes.load(Ordering::Relaxed)
    }

    /// Takes all chunks that must be written.
    pub fn take_dirty(&self) -> Vec<Taken<V>> {
        let slots: Vec<_> = self.inner.slots.lock().by_place.values().cloned().collect();
        let mut visitors = Visitors::new(&self.inner, slots.len());
        slots.into_iter().filter_map(|slot| Inner::take(slot, &mut visitors)).collect()
    }

    /// Takes a chunk if it must be written.
    pub fn take(&self, place: &Coords) -> Option<Taken<V>> {
        let slot = self.inner.slots.lock().by_place.get(place)?.clone();
        Inner::take(slot, &mut Visitors::new(&self.inner, 1))
    }

    /// Waits until all chunks that others took are written; whether there were some. They may have been changed since, and then must be
    /// taken once more.
    pub fn wait_written(&self) -> bool {
        let slots: Vec<_> = self.inner.slots.lock().by_place.values().cloned().collect();
        slots.iter().filter(|slot| slot.wait_written()).count() > 0
    }

    /// Forgets all chunks that nobody has: the dataset is no more. Waits for nobody; the others leave as usual.
    pub fn abandon(&self) {
        let mut slots = self.inner.slots.lock();
        let abandon = |slot: &Arc<Slot<V>>| {
            Some(Gone::new(slot.abandon(&self.inner)?, slot.clone(), Hold::visitor(self.inner.clone())))
        };
        let gone: Vec<_> = slots.by_place.values().filter_map(abandon).collect();
        for gone in &gone {
            slots.by_place.remove(gone.place());
            slots.order.leave(gone.place(), false);
        }
        drop(slots);
        drop(gone);
    }

    /// Lets all chunks leave that nobody has and that are in the file; how many are left.
    pub fn evict(&self) -> usize {
        let places = self.places();
        places.iter().for_each(|place| drop(self.inner.evict(place)));
        self.inner.slots.lock().by_place.len()
    }
}

impl<V: Footprint> Inner<V> {
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

    fn take(slot: Arc<Slot<V>>, visitors: &mut Visitors<'_, V>) -> Option<Taken<V>> {
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

    /// What it has beyond its reserve, or at all.
    pub(crate) fn surplus(&self, spare_reserve: bool) -> usize {
        let bytes = self.bytes.load(Ordering::Relaxed);
        bytes.saturating_sub(if spare_reserve { self.reserve.load(Ordering::Relaxed) } else { 0 })
    }

    /// Lets a chunk leave if it may.
    fn evict(&self, place: &Coords) -> Option<Gone<V>> {
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
        let (slot, shelf) = (by_place.get(&place)?.clone(), self.this.upgrade()?);
        match slot.exit(self) {
            Exit::Gone(value) => {
                by_place.remove(&place);
                order.leave(&place, true);
                let shelf = Hold::visitor(shelf);
                drop(slots);
                let gone = Gone::new(value, slot, shelf);
                self.evicted(&gone);
                Some(Victim::Gone(gone))
            }
            Exit::Dirty((value, encoded)) => {
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
        let slots: Vec<_> = self.slots.lock().by_place.values().cloned().collect();
        slots.iter().filter(|slot| slot.drop_encoded(self)).count() > 0
    }

    /// A chunk leaves to make room, if it is in the file and nobody has it.
    pub(crate) fn leave(&self, place: &Coords) {
        if let Some(gone) = self.evict(place) {
            self.evicted(&gone);
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
        self.slots.lock().by_place.values().for_each(|slot| self.books.moved(slot.phase(), Phase::Gone));
    }
}

/// A chunk that leaves.
pub(crate) enum Victim<V: Footprint> {
    /// It did.
    Gone(Gone<V>),
    /// It must be written first.
    Dirty(Taken<V>),
}
