//! Which requests of a dataset run at once: readers together, writers alone where they overlap others; in the order in which they came.

use std::{collections::VecDeque, fmt, sync::Arc};

use hyperslab_space::{Coords, Space};

use crate::sync::{Condvar, Mutex, Rank};

/// Part of a dataset: a box that holds all that a request touches, or everything, its size included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockRange {
    /// From the first to the last index of each dimension.
    Box(Coords, Coords),
    /// Everything.
    Whole,
}

impl LockRange {
    /// What holds a selection.
    pub fn of(selection: &Space) -> LockRange {
        match selection.bounds() {
            Some((low, high)) => LockRange::Box(low.as_slice().into(), high.as_slice().into()),
            None => LockRange::Whole,
        }
    }

    fn overlaps(&self, other: &LockRange) -> bool {
        let (LockRange::Box(low, high), LockRange::Box(from, to)) = (self, other) else { return true };
        let apart = |((low, high), (from, to)): ((&u64, &u64), (&u64, &u64))| high < from || to < low;
        !low.iter().zip(high).zip(from.iter().zip(to)).any(apart)
    }
}

/// The requests of one dataset.
pub(crate) struct RangeLock {
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    /// In the order in which they came; those that run, too.
    tickets: VecDeque<Ticket>,
    next: u64,
}

struct Ticket {
    number: u64,
    area: LockRange,
    writes: bool,
    /// How many that came before are in the way.
    before: usize,
    /// Told when none is any more, if it waits. Each has its own, so that no thread is woken for nothing.
    free: Option<Arc<Condvar>>,
}

impl Ticket {
    fn is_in_the_way_of(&self, later: &Ticket) -> bool {
        (self.writes || later.writes) && self.area.overlaps(&later.area)
    }
}

impl Default for RangeLock {
    fn default() -> RangeLock {
        RangeLock { queue: Mutex::new(Rank::RangeLock, Queue::default()) }
    }
}

impl RangeLock {
    /// Waits until nothing that came before is in the way. Whatever comes later and is in the way waits until the turn ends.
    pub(crate) fn enter(&self, area: LockRange, writes: bool) -> RangeGuard<'_> {
        let mut queue = self.queue.lock();
        let mut ticket = queue.ticket(area, writes);
        let number = ticket.number;
        let free = (ticket.before > 0).then(Arc::<Condvar>::default);
        ticket.free.clone_from(&free);
        queue.tickets.push_back(ticket);
        if let Some(free) = free {
            while queue.must_wait(number) {
                free.wait(&mut queue);
            }
        }
        RangeGuard { turns: self, number }
    }

    /// The turn, if nothing that came before is in the way now, whether it runs or waits.
    pub(crate) fn try_enter(&self, area: LockRange, writes: bool) -> Option<RangeGuard<'_>> {
        let mut queue = self.queue.lock();
        let ticket = queue.ticket(area, writes);
        let number = ticket.number;
        if ticket.before > 0 {
            return None;
        }
        queue.tickets.push_back(ticket);
        Some(RangeGuard { turns: self, number })
    }
}

impl Queue {
    fn ticket(&mut self, area: LockRange, writes: bool) -> Ticket {
        let mut ticket = Ticket { number: self.next, area, writes, before: 0, free: None };
        ticket.before = self.tickets.iter().filter(|other| other.is_in_the_way_of(&ticket)).count();
        self.next += 1;
        ticket
    }

    /// Where a ticket is: they are in the order of their numbers.
    fn find(&self, number: u64) -> Option<usize> {
        self.tickets.binary_search_by_key(&number, |ticket| ticket.number).ok()
    }

    fn must_wait(&self, number: u64) -> bool {
        self.find(number).and_then(|at| self.tickets.get(at)).is_some_and(|ticket| ticket.before > 0)
    }

    /// A turn has ended: requests that waited for nothing else may go.
    fn end(&mut self, number: u64) {
        let Some((at, ended)) = self.find(number).and_then(|at| Some((at, self.tickets.remove(at)?))) else { return };
        for later in self.tickets.iter_mut().skip(at).filter(|later| ended.is_in_the_way_of(later)) {
            later.before -= 1;
            if later.before == 0 {
                later.free.iter().for_each(|free| free.notify_all());
            }
        }
    }
}

/// A request that runs.
pub struct RangeGuard<'a> {
    turns: &'a RangeLock,
    number: u64,
}

impl Drop for RangeGuard<'_> {
    fn drop(&mut self) {
        self.turns.queue.lock().end(self.number);
    }
}

impl fmt::Debug for RangeLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RangeLock").field("inside", &self.queue.lock().tickets.len()).finish()
    }
}
