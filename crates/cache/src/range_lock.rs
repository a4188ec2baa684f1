//! Which requests of a dataset run at once: readers together, writers alone where they overlap others; in the order in which they came.

use std::{collections::VecDeque, fmt, sync::Arc};

use hyperslab_space::{Coords, Slab, Space};

use crate::{
    counters::{Counters, WaitsFor},
    sync::{Condvar, Mutex, Rank},
};

/// Part of a dataset that holds all that a request touches, or everything, its size included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockRange {
    /// From the first to the last index of each dimension.
    Box(Coords, Coords),
    /// A pattern in each dimension, of which one at least has gaps: requests with other phases pass.
    Pattern(Vec<Slab>),
    /// Everything.
    Whole,
}

impl LockRange {
    /// What holds a selection; nothing if no element is selected.
    pub fn of(selection: &Space) -> Option<LockRange> {
        let has_gaps = |slab: &Slab| slab.count > 1 && slab.stride > slab.block;
        let is_odd = |slab: &Slab| slab.is_empty() || slab.is_unlimited();
        if let Some(slabs) = selection.regular()
            && slabs.iter().any(has_gaps)
            && !slabs.iter().any(is_odd)
        {
            return Some(LockRange::Pattern(slabs.to_vec()));
        }
        let (low, high) = selection.bounds()?;
        Some(LockRange::Box(low.as_slice().into(), high.as_slice().into()))
    }

    /// A box that holds both.
    #[must_use]
    pub fn join(self, other: LockRange) -> LockRange {
        let (Some((low, high)), Some((from, to))) = (self.bounds(), other.bounds()) else { return LockRange::Whole };
        let low = low.iter().zip(&from).map(|(left, right)| *left.min(right)).collect();
        let high = high.iter().zip(&to).map(|(left, right)| *left.max(right)).collect();
        LockRange::Box(low, high)
    }

    fn bounds(self) -> Option<(Coords, Coords)> {
        match self {
            LockRange::Box(low, high) => Some((low, high)),
            LockRange::Pattern(slabs) => {
                Some((slabs.iter().map(|slab| slab.start).collect(), slabs.iter().map(last).collect()))
            }
            LockRange::Whole => None,
        }
    }

    fn overlaps(&self, other: &LockRange) -> bool {
        match (self, other) {
            (LockRange::Box(low, high), LockRange::Box(from, to)) => {
                let apart = |((low, high), (from, to)): ((&u64, &u64), (&u64, &u64))| high < from || to < low;
                !low.iter().zip(high).zip(from.iter().zip(to)).any(apart)
            }
            (LockRange::Pattern(slabs), LockRange::Pattern(others)) => {
                !slabs.iter().zip(others).any(|(slab, other)| are_apart(slab, other))
            }
            (LockRange::Pattern(slabs), LockRange::Box(low, high))
            | (LockRange::Box(low, high), LockRange::Pattern(slabs)) => {
                let sides = low.iter().zip(high).map(|(low, high)| Slab::block(*low, (high - low).saturating_add(1)));
                !slabs.iter().zip(sides).any(|(slab, side)| are_apart(slab, &side))
            }
            (LockRange::Whole, _) | (_, LockRange::Whole) => true,
        }
    }
}

/// The last index of a pattern.
fn last(slab: &Slab) -> u64 {
    let start = slab.start.saturating_add(slab.stride.saturating_mul(slab.count.saturating_sub(1)));
    start.saturating_add(slab.block.saturating_sub(1))
}

/// Whether two patterns surely have no index in common: one ends before the other begins, or their blocks have other places in what both strides are
/// multiples of.
fn are_apart(left: &Slab, right: &Slab) -> bool {
    if last(left) < right.start || last(right) < left.start {
        return true;
    }
    let stride = |slab: &Slab| if slab.count > 1 { slab.stride } else { 0 };
    let step = gcd(stride(left), stride(right));
    if left.block >= step || right.block >= step {
        return false;
    }
    let offset = (right.start % step + step - left.start % step) % step;
    left.block <= offset && offset + right.block <= step
}

fn gcd(left: u64, right: u64) -> u64 {
    if right == 0 { left } else { gcd(right, left % right) }
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
    range: LockRange,
    writes: bool,
    /// How many that came before are in the way.
    before: usize,
    /// Told when none is any more, if it waits. Each has its own, so that no thread is woken for nothing.
    free: Option<Arc<Condvar>>,
}

impl Ticket {
    fn is_in_the_way_of(&self, later: &Ticket) -> bool {
        (self.writes || later.writes) && self.range.overlaps(&later.range)
    }
}

impl Default for RangeLock {
    fn default() -> RangeLock {
        RangeLock { queue: Mutex::new(Rank::RangeLock, Queue::default()) }
    }
}

impl RangeLock {
    /// Waits until nothing that came before is in the way. Whatever comes later and is in the way waits until the guard is dropped.
    /// A wait is counted.
    pub(crate) fn enter(&self, range: LockRange, writes: bool, counters: &Counters) -> RangeGuard<'_> {
        let mut queue = self.queue.lock();
        let mut ticket = queue.ticket(range, writes);
        let number = ticket.number;
        let free = (ticket.before > 0).then(Arc::<Condvar>::default);
        ticket.free.clone_from(&free);
        queue.tickets.push_back(ticket);
        if let Some(free) = free {
            let _wait = counters.wait(WaitsFor::Range);
            while queue.must_wait(number) {
                free.wait(&mut queue);
            }
        }
        RangeGuard { lock: self, number }
    }

    /// The guard, if nothing that came before is in the way now, whether it runs or waits.
    pub(crate) fn try_enter(&self, range: LockRange, writes: bool) -> Option<RangeGuard<'_>> {
        let mut queue = self.queue.lock();
        let ticket = queue.ticket(range, writes);
        let number = ticket.number;
        if ticket.before > 0 {
            return None;
        }
        queue.tickets.push_back(ticket);
        Some(RangeGuard { lock: self, number })
    }
}

impl Queue {
    fn ticket(&mut self, range: LockRange, writes: bool) -> Ticket {
        let mut ticket = Ticket { number: self.next, range, writes, before: 0, free: None };
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

    /// A guard was dropped: requests that waited for nothing else may go.
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
    lock: &'a RangeLock,
    number: u64,
}

impl Drop for RangeGuard<'_> {
    fn drop(&mut self) {
        self.lock.queue.lock().end(self.number);
    }
}

impl fmt::Debug for RangeLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RangeLock").field("inside", &self.queue.lock().tickets.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All patterns with small numbers.
    fn patterns() -> Vec<Slab> {
        let mut patterns = Vec::new();
        for (start, stride) in (0..7).flat_map(|start| (1..6).map(move |stride| (start, stride))) {
            for (count, block) in (1..4).flat_map(|count| (1..=stride).map(move |block| (count, block))) {
                patterns.push(Slab::new(start, stride, count, block));
            }
        }
        patterns
    }

    fn indices(slab: &Slab) -> u64 {
        let starts = (0..slab.count).map(|nth| slab.start + nth * slab.stride);
        starts.flat_map(|start| start..start + slab.block).fold(0, |set, index| set | 1 << index)
    }

    #[test]
    fn patterns_that_pass_each_other_have_no_index_in_common() {
        let (all, mut apart, mut passed) = (patterns(), 0, 0);
        for (left, right) in all.iter().flat_map(|left| all.iter().map(move |right| (left, right))) {
            let is_apart = indices(left) & indices(right) == 0;
            assert!(is_apart || !are_apart(left, right), "{left:?} {right:?}");
            assert_eq!(are_apart(left, right), are_apart(right, left));
            apart += usize::from(is_apart);
            passed += usize::from(are_apart(left, right));
        }
        assert!(passed * 10 > apart * 9, "{passed} of {apart}");
    }

    #[test]
    fn interleaved_rows_pass_and_boxes_around_them_do_not() {
        let rows = |first, stride| LockRange::Pattern(vec![Slab::new(first, stride, 8, 1), Slab::block(0, 100)]);
        let bounds = |low: [u64; 2], high: [u64; 2]| LockRange::Box(low[..].into(), high[..].into());
        assert!(!rows(0, 2).overlaps(&rows(1, 2)) && !rows(0, 4).overlaps(&rows(1, 2)));
        assert!(rows(0, 2).overlaps(&rows(2, 2)) && rows(0, 2).overlaps(&rows(0, 3)));
        assert!(!rows(0, 2).overlaps(&bounds([3, 0], [3, 99])) && rows(0, 2).overlaps(&bounds([3, 0], [4, 99])));
        assert!(!rows(0, 2).overlaps(&bounds([4, 100], [4, 100])) && rows(0, 2).overlaps(&LockRange::Whole));
        assert_eq!(rows(1, 2).join(bounds([3, 50], [20, 120])), bounds([1, 0], [20, 120]));
        let mut selection = Space::simple(&[20, 100]).unwrap();
        selection.select_hyperslab(hyperslab_space::Op::Set, &[Slab::new(1, 2, 8, 1), Slab::block(0, 100)]).unwrap();
        assert_eq!(LockRange::of(&selection), Some(rows(1, 2)));
        selection.select_none();
        assert_eq!(LockRange::of(&selection), None);
    }
}
