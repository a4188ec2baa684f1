//! Slots by number, in a row. A number tells where its slot is, so that finding one is no search.
//!
//! ```text
//!  number:  | generation, 32 bits | cell, 32 bits |
//!  cells:  | slot, next, last | free | slot, next, last | …      the row goes from slot to slot
//! ```
//!
//! A cell is used again when its slot is gone, with another generation: a number that was given out once never names another slot.

use crate::Id;

/// Slots by number; the one in front of the row is the next that eviction looks at.
pub(crate) struct Slab<T> {
    cells: Vec<Cell<T>>,
    /// Cells without slots.
    free: Vec<u32>,
    /// Both ends of the row.
    front: Option<u32>,
    back: Option<u32>,
}

struct Cell<T> {
    /// How many slots were here before.
    generation: u32,
    slot: Option<T>,
    /// The neighbours in the row.
    before: Option<u32>,
    after: Option<u32>,
}

impl Id {
    fn new(generation: u32, cell: u32) -> Id {
        Id(u64::from(generation) << 32 | u64::from(cell))
    }

    fn cell(self) -> u32 {
        self.0 as u32
    }

    fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { cells: Vec::new(), free: Vec::new(), front: None, back: None }
    }
}

impl<T> Slab<T> {
    pub(crate) fn len(&self) -> usize {
        self.cells.len() - self.free.len()
    }

    pub(crate) fn get(&self, id: Id) -> Option<&T> {
        let cell = self.cells.get(id.cell() as usize)?;
        cell.slot.as_ref().filter(|_| cell.generation == id.generation())
    }

    pub(crate) fn get_mut(&mut self, id: Id) -> Option<&mut T> {
        let cell = self.cells.get_mut(id.cell() as usize)?;
        cell.slot.as_mut().filter(|_| cell.generation == id.generation())
    }

    /// Adds a slot at the back of the row.
    pub(crate) fn insert(&mut self, slot: T) -> Id {
        let nth = self.free.pop().unwrap_or_else(|| {
            self.cells.push(Cell { generation: 0, slot: None, before: None, after: None });
            (self.cells.len() - 1) as u32
        });
        let generation = self.cells.get_mut(nth as usize).map_or(0, |cell| {
            cell.slot = Some(slot);
            cell.generation
        });
        self.join(nth);
        Id::new(generation, nth)
    }

    /// Takes a slot out.
    pub(crate) fn remove(&mut self, id: Id) -> Option<T> {
        self.get(id)?;
        self.part(id.cell());
        let cell = self.cells.get_mut(id.cell() as usize)?;
        cell.generation = cell.generation.wrapping_add(1);
        self.free.push(id.cell());
        cell.slot.take()
    }

    /// The slot in front.
    pub(crate) fn front(&self) -> Option<Id> {
        let nth = self.front?;
        Some(Id::new(self.cells.get(nth as usize)?.generation, nth))
    }

    /// Puts a slot at the back of the row.
    pub(crate) fn move_to_back(&mut self, id: Id) {
        if self.get(id).is_some() {
            self.part(id.cell());
            self.join(id.cell());
        }
    }

    /// All slots, in no order.
    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.cells.iter().filter_map(|cell| cell.slot.as_ref())
    }

    /// Puts a cell at the back of the row, in which it is not.
    fn join(&mut self, nth: u32) {
        let back = self.back.replace(nth);
        match back.and_then(|back| self.cells.get_mut(back as usize)) {
            Some(back) => back.after = Some(nth),
            None => self.front = Some(nth),
        }
        if let Some(cell) = self.cells.get_mut(nth as usize) {
            (cell.before, cell.after) = (back, None);
        }
    }

    /// Takes a cell out of the row.
    fn part(&mut self, nth: u32) {
        let Some(cell) = self.cells.get_mut(nth as usize) else { return };
        let (before, after) = (cell.before.take(), cell.after.take());
        match before.and_then(|before| self.cells.get_mut(before as usize)) {
            Some(neighbour) => neighbour.after = after,
            None => self.front = after,
        }
        match after.and_then(|after| self.cells.get_mut(after as usize)) {
            Some(neighbour) => neighbour.before = before,
            None => self.back = before,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Slots come, go and move back, beside a row of them all.
    #[test]
    fn the_row_is_that_of_a_list_and_numbers_name_one_slot_for_ever() {
        let (mut slab, mut twin, mut gone, mut state) = (Slab::default(), VecDeque::new(), Vec::new(), 3u64);
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for step in 0..20_000 {
            match (random(5), twin.len()) {
                (0..2, _) | (_, 0) => twin.push_back((slab.insert(step), step)),
                (2, _) => {
                    let (id, address) = twin.pop_front().unwrap();
                    slab.move_to_back(id);
                    twin.push_back((id, address));
                }
                (_, count) => {
                    let (id, address) = twin.remove(random(count)).unwrap();
                    assert_eq!(slab.remove(id), Some(address));
                    gone.push(id);
                }
            }
            assert_eq!((slab.front(), slab.len()), (twin.front().map(|(id, _)| *id), twin.len()));
            let last = gone.last();
            assert!(last.is_none_or(|&id| slab.get(id).is_none() && slab.get_mut(id).is_none()));
        }
        assert!(gone.iter().all(|&id| slab.get(id).is_none()));
        assert!(twin.iter().all(|(id, address)| slab.get(*id) == Some(address)));
        assert_eq!(slab.values().count(), twin.len());
    }
}
