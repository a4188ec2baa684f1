//! How many bytes the cache holds, how many requests may take, and which threads wait for them.

use std::collections::VecDeque;

use crate::{
    Demand, Grant, Limits, Reservation,
    counters::{Counters, WaitsFor},
    sync::{
        Condvar, Mutex, Rank,
        atomic::{AtomicUsize, Ordering},
    },
    unreserved_pins::UnreservedPins,
    write_failure::Unwritable,
};

/// The account of one cache.
#[derive(Debug)]
pub(crate) struct Budget {
    account: Mutex<Account>,
    /// Told when something may have left, or when a thread begins to wait for others.
    freed: Condvar,
    unreserved: UnreservedPins,
    /// How many wait for room.
    waiting: AtomicUsize,
}

#[derive(Debug)]
struct Account {
    limits: Limits,
    /// What chunks take now.
    resident: usize,
    /// What chunks will take that are being loaded or made.
    granted: usize,
    /// What the chunks of running requests may take together: they are pinned, or will be there soon.
    reserved: usize,
    /// What running requests may take beside chunks.
    aside: usize,
    /// The most that was taken.
    peak: usize,
    /// Whether more may be taken than the limits say: one was lowered, a request needs more than there is, or a chunk has grown.
    excused: bool,
    /// How many have a reservation, and how many of them wait for room.
    holders: usize,
    stuck: usize,
    /// The requests that wait for a reservation, in the order in which they came.
    queue: VecDeque<u64>,
    next: u64,
    /// How many had a reservation that they no longer have.
    ended: u64,
    /// Part of what is resident: chunks that cannot leave, because they could not be written.
    unwritable: Unwritable,
}

/// Why there is no room for chunks that come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// Something may have left meanwhile: look again.
    Retry,
    /// Chunks that cannot be written are in the way, and nothing else can leave.
    Full,
}

/// What had ended when a thread began to look for chunks that could leave. If more has by now, it is worth to look again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    unreserved: u64,
    reservations: u64,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Budget {
        let (resident, granted, reserved, aside, peak, holders, stuck, next, ended) = Default::default();
        let (excused, queue, unwritable) = (false, VecDeque::new(), Unwritable::default());
        let account = Account {
            limits,
            resident,
            granted,
            reserved,
            aside,
            peak,
            excused,
            holders,
            stuck,
            queue,
            next,
            ended,
            unwritable,
        };
        let (freed, unreserved, waiting) = Default::default();
        Budget { account: Mutex::new(Rank::Budget, account), freed, unreserved, waiting }
    }

    /// Waits until a request can have all that it needs, beside the others that have. Ask before chunks are pinned, never while some are: then
    /// no thread waits for one that waits. A demand above the limit is met when no other request has anything.
    /// A wait is counted.
    pub(crate) fn reserve(&self, demand: Demand, counters: &Counters) -> Reservation<'_> {
        let mut account = self.account.lock();
        let ticket = account.next;
        account.next += 1;
        account.queue.push_back(ticket);
        let mut wait = None;
        while account.queue.front() != Some(&ticket) || !account.has_room_for(demand) {
            wait.get_or_insert_with(|| counters.wait(WaitsFor::Memory));
            self.freed.wait(&mut account);
        }
        account.queue.pop_front();
        account.reserve(demand);
        // The next one may fit as well.
        self.freed.notify_all();
        Reservation { budget: self, demand }
    }

    /// A reservation, if it can be had now, within the limits and without overtaking another request.
    pub(crate) fn try_reserve(&self, demand: Demand) -> Option<Reservation<'_>> {
        let mut account = self.account.lock();
        if !account.queue.is_empty() || !account.fits(demand) {
            return None;
        }
        account.reserve(demand);
        Some(Reservation { budget: self, demand })
    }

    /// Whether so much may be taken beside chunks, until it is given back.
    pub(crate) fn lend(&self, aside: usize) -> bool {
        self.try_reserve(Demand { chunks: 0, aside }).map(std::mem::forget).is_some()
    }

    pub(crate) fn give_back(&self, aside: usize) {
        self.take_back(Demand { chunks: 0, aside });
    }

    /// A request has ended.
    pub(crate) fn take_back(&self, demand: Demand) {
        let mut account = self.account.lock();
        account.holders -= 1;
        account.ended += 1;
        account.reserved -= demand.chunks;
        account.aside -= demand.aside;
        account.measure();
        self.freed.notify_all();
    }

    /// Room for chunks that come, if there is some; if not, what must be known to wait for it.
    pub(crate) fn try_grant(&self, bytes: usize) -> Result<Grant<'_>, Seen> {
        let mut account = self.account.lock();
        if account.excess(bytes) > 0 {
            return Err(Seen { unreserved: self.unreserved.ended(), reservations: account.ended });
        }
        Ok(self.grant(&mut account, bytes))
    }

    fn grant(&self, account: &mut Account, bytes: usize) -> Grant<'_> {
        account.granted += bytes;
        account.measure();
        Grant { budget: self, bytes, claim: None }
    }

    /// Chunks have come that a grant was for: they take `after` instead of `before`.
    pub(crate) fn adjust(&self, granted: usize, before: usize, after: usize) {
        let mut account = self.account.lock();
        account.granted -= granted;
        account.excused |= after > before + granted;
        account.resident = (account.resident + after).saturating_sub(before);
        account.measure();
        if after < before + granted {
            self.freed.notify_all();
        }
    }

    /// How many bytes must leave so that so many can come.
    pub(crate) fn excess(&self, more: usize) -> usize {
        self.account.lock().excess(more)
    }

    /// Room for chunks that come, or why there is none. `seen` is what [`Budget::try_grant`] said before chunks were looked for that could leave; there were
    /// none.
    ///
    /// What requests have reserved fits the cache, so what is in the way has unreserved pins, which this waits for. When there was none, chunks that
    /// cannot be written are in the way: then there is no room. Or chunks have become larger than what was reserved for them, or one request needs more than
    /// there is. Then there is room when otherwise all threads would wait.
    pub(crate) fn grant_or_wait(&self, bytes: usize, seen: Seen, counters: &Counters) -> Result<Grant<'_>, NoRoom> {
        let mut account = self.account.lock();
        if account.excess(bytes) == 0 {
            return Ok(self.grant(&mut account, bytes));
        }
        if account.ended != seen.reservations {
            return Err(NoRoom::Retry);
        }
        if self.unreserved.were_none_since(seen.unreserved) && account.stuck + 1 >= account.holders {
            if account.unwritable.bytes > 0 {
                return Err(NoRoom::Full);
            }
            account.excused = true;
            return Ok(self.grant(&mut account, bytes));
        }
        // Said before it is asked whether an unreserved pin has ended: a thread that ends one asks in the other order whether a thread waits.
        self.waiting.fetch_add(1, Ordering::SeqCst);
        if self.unreserved.ended() == seen.unreserved {
            let _wait = counters.wait(WaitsFor::Memory);
            account.stuck += 1;
            self.freed.wait(&mut account);
            account.stuck -= 1;
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        Err(NoRoom::Retry)
    }

    /// Chunks could not be written, or can leave again.
    pub(crate) fn recount_unwritable(&self, before: Unwritable, after: Unwritable) {
        if before == after {
            return;
        }
        let unwritable = &mut self.account.lock().unwritable;
        unwritable.bytes = (unwritable.bytes + after.bytes).saturating_sub(before.bytes);
        unwritable.transient = (unwritable.transient + after.transient).saturating_sub(before.transient);
        self.freed.notify_all();
    }

    /// What chunks may take beside those that could not be written.
    pub(crate) fn available(&self) -> usize {
        let account = self.account.lock();
        account.limits.quiescent.saturating_sub(account.unwritable.bytes)
    }

    /// The chunks that could not be written.
    pub(crate) fn unwritable(&self) -> Unwritable {
        self.account.lock().unwritable
    }

    /// A thread is about to pin chunks without a reservation.
    pub(crate) fn begin_unreserved(&self, count: usize) {
        self.unreserved.begin(count as u64);
    }

    /// So many unreserved pins have ended.
    pub(crate) fn end_unreserved(&self, count: usize) {
        self.unreserved.end(count as u64);
        if self.is_awaited() {
            // A thread that is about to wait does, before it is told.
            drop(self.account.lock());
            self.freed.notify_all();
        }
    }

    /// Whether a thread waits for room.
    pub(crate) fn is_awaited(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// Waits for a chunk that another thread loads, which may wait for room.
    pub(crate) fn stuck<T>(&self, wait: impl FnOnce() -> T) -> T {
        self.account.lock().stuck += 1;
        self.freed.notify_all();
        let waited = wait();
        self.account.lock().stuck -= 1;
        waited
    }

    pub(crate) fn limits(&self) -> Limits {
        self.account.lock().limits
    }

    pub(crate) fn set_limits(&self, limits: Limits) {
        let mut account = self.account.lock();
        account.limits = limits;
        account.excused = true;
        account.measure();
        self.freed.notify_all();
    }

    /// What chunks take now, and the most that was taken.
    pub(crate) fn taken(&self) -> (usize, usize) {
        let account = self.account.lock();
        (account.resident, account.peak)
    }

    /// Forgets the most that was taken before now.
    pub(crate) fn reset_peak(&self) {
        let mut account = self.account.lock();
        account.peak = account.resident + account.granted + account.aside;
    }
}

impl Account {
    fn has_room_for(&self, demand: Demand) -> bool {
        let alone = self.reserved == 0 && self.aside == 0;
        alone || self.fits(demand)
    }

    fn fits(&self, demand: Demand) -> bool {
        let Limits { quiescent, active } = self.limits;
        self.reserved + demand.chunks <= quiescent && self.aside + demand.aside <= active.saturating_sub(quiescent)
    }

    fn reserve(&mut self, demand: Demand) {
        self.excused |= !self.fits(demand);
        self.holders += 1;
        self.reserved += demand.chunks;
        self.aside += demand.aside;
        self.measure();
    }

    fn excess(&self, more: usize) -> usize {
        (self.resident + self.granted + more).saturating_sub(self.limits.quiescent)
    }

    fn measure(&mut self) {
        let chunks = self.resident + self.granted;
        self.peak = self.peak.max(chunks + self.aside);
        let is_within = chunks <= self.limits.quiescent && chunks + self.aside <= self.limits.active;
        debug_assert!(is_within || self.excused, "more is taken than may be: {self:?}");
        // Excuses end with the requests that began under them.
        self.excused &= !is_within || self.holders > 0;
    }
}
