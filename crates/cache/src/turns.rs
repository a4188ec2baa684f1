//! Which requests of a dataset run at once: readers together, writers alone where they overlap others; in the order in which they came.

use std::{collections::VecDeque, fmt};

use hyperslab_space::{Coords, Space};

use crate::sync::{Condvar, Mutex, Rank};

/// Part of a dataset: a box that holds all that a request touches, or everything, its size included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Area {
    /// From the first to the last index of each dimension.
    Box(Coords, Coords),
    /// Everything.
    Whole,
}

impl Area {
    /// What holds a selection.
    pub fn of(selection: &Space) -> Area {
        match selection.bounds() {
            Some((low, high)) => Area::Box(low.as_slice().into(), high.as_slice().into()),
            None => Area::Whole,
        }
    }

    fn overlaps(&self, other: &Area) -> bool {
        let (Area::Box(low, high), Area::Box(from, to)) = (self, other) else { return true };
        let apart = |((low, high), (from, to)): ((&u64, &u64), (&u64, &u64))| high < from || to < low;
        !low.iter().zip(high).zip(from.iter().zip(to)).any(apart)
    }
}

/// The requests of one dataset.
pub(crate) struct Turns {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    /// In the order in which they came; those that run, too.
    tickets: VecDeque<Ticket>,
    next: u64,
}

struct Ticket {
    number: u64,
    area: Area,
    writes: bool,
}

impl Ticket {
    fn is_in_the_way_of(&self, other: &Ticket) -> bool {
        self.number < other.number && (self.writes || other.writes) && self.area.overlaps(&other.area)
    }
}

impl Default for Turns {
    fn default() -> Turns {
        Turns { queue: Mutex::new(Rank::Turns, Queue::default()), changed: Condvar::default() }
    }
}

impl Turns {
    /// Waits until nothing that came before is in the way. Whatever comes later and is in the way waits until the turn ends.
    pub(crate) fn enter(&self, area: Area, writes: bool) -> Turn<'_> {
        let mut queue = self.queue.lock();
        let number = queue.next;
        queue.next += 1;
        queue.tickets.push_back(Ticket { number, area, writes });
        while queue.must_wait(number) {
            self.changed.wait(&mut queue);
        }
        Turn { turns: self, number }
    }

    /// The turn, if nothing that came before is in the way now, whether it runs or waits.
    pub(crate) fn try_enter(&self, area: Area, writes: bool) -> Option<Turn<'_>> {
        let mut queue = self.queue.lock();
        let ticket = Ticket { number: queue.next, area, writes };
        if queue.tickets.iter().any(|other| other.is_in_the_way_of(&ticket)) {
            return None;
        }
        queue.next += 1;
        let number = ticket.number;
        queue.tickets.push_back(ticket);
        Some(Turn { turns: self, number })
    }
}

impl Queue {
    fn must_wait(&self, number: u64) -> bool {
        let mine = self.tickets.iter().find(|ticket| ticket.number == number);
        mine.is_some_and(|mine| self.tickets.iter().any(|ticket| ticket.is_in_the_way_of(mine)))
    }
}

/// A request that runs.
pub struct Turn<'a> {
    turns: &'a Turns,
    number: u64,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut queue = self.turns.queue.lock();
        queue.tickets.retain(|ticket| ticket.number != self.number);
        if !queue.tickets.is_empty() {
            self.turns.changed.notify_all();
        }
    }
}

impl fmt::Debug for Turns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turns").field("inside", &self.queue.lock().tickets.len()).finish()
    }
}
