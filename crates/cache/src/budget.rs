//! How many bytes the cache holds, how many requests may take, and who waits for them.

use std::collections::VecDeque;

use crate::{
    Claim, Limits, Need, Promise,
    sync::{
        Condvar, Mutex, Rank,
        atomic::{AtomicUsize, Ordering},
    },
    visits::Visits,
    write_failure::Unwritable,
};

/// The account of one cache.
#[derive(Debug)]
pub(crate) struct Budget {
    account: Mutex<Account>,
    /// Told when something may have left, or when somebody begins to wait for others.
    freed: Condvar,
    visits: Visits,
    /// How many wait for room.
    waiting: AtomicUsize,
}

#[derive(Debug)]
struct Account {
    limits: Limits,
    /// What chunks take now.
    resident: usize,
    /// What chunks will take that are being loaded or made.
    claimed: usize,
    /// What the chunks of running requests may take together: they are pinned, or will be there soon.
    promised: usize,
    /// What running requests may take beside chunks.
    aside: usize,
    /// The most that was taken.
    peak: usize,
    /// Whether more may be taken than the limits say: one was lowered, a request needs more than there is, or a chunk has grown.
    excused: bool,
    /// How many have a promise, and how many of them wait for room.
    holders: usize,
    stuck: usize,
    /// Who waits for a promise, in the order in which they came.
    queue: VecDeque<u64>,
    next: u64,
    /// How many had a promise that they no longer have.
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

/// What had ended when somebody began to look for chunks that could leave. If more has by now, it is worth to look again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    visits: u64,
    promises: u64,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Budget {
        let (resident, claimed, promised, aside, peak, holders, stuck, next, ended) = Default::default();
        let (excused, queue, unwritable) = (false, VecDeque::new(), Unwritable::default());
        let account = Account {
            limits,
            resident,
            claimed,
            promised,
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
        let (freed, visits, waiting) = Default::default();
        Budget { account: Mutex::new(Rank::Budget, account), freed, visits, waiting }
    }

    /// Waits until a request can have all that it needs, beside the others that have. Ask before chunks are pinned, never while some are: then
    /// nobody who waits is waited for. A need above the limit is met when nobody else has anything.
    pub(crate) fn promise(&self, need: Need) -> Promise<'_> {
        let mut account = self.account.lock();
        let ticket = account.next;
        account.next += 1;
        account.queue.push_back(ticket);
        while account.queue.front() != Some(&ticket) || !account.has_room_for(need) {
            self.freed.wait(&mut account);
        }
        account.queue.pop_front();
        account.promise(need);
        // The next one may fit as well.
        self.freed.notify_all();
        Promise { budget: self, need }
    }

    /// A promise, if it can be had now, within the limits and without overtaking anybody.
    pub(crate) fn try_promise(&self, need: Need) -> Option<Promise<'_>> {
        let mut account = self.account.lock();
        if !account.queue.is_empty() || !account.fits(need) {
            return None;
        }
        account.promise(need);
        Some(Promise { budget: self, need })
    }

    /// Whether so much may be taken beside chunks, until it is given back.
    pub(crate) fn lend(&self, aside: usize) -> bool {
        self.try_promise(Need { chunks: 0, aside }).map(std::mem::forget).is_some()
    }

    pub(crate) fn give_back(&self, aside: usize) {
        self.take_back(Need { chunks: 0, aside });
    }

    /// A request has ended.
    pub(crate) fn take_back(&self, need: Need) {
        let mut account = self.account.lock();
        account.holders -= 1;
        account.ended += 1;
        account.promised -= need.chunks;
        account.aside -= need.aside;
        account.measure();
        self.freed.notify_all();
    }

    /// Room for chunks that come, if there is some; if not, what must be known to wait for it.
    pub(crate) fn try_claim(&self, bytes: usize) -> Result<Claim<'_>, Seen> {
        let mut account = self.account.lock();
        if account.excess(bytes) > 0 {
            return Err(Seen { visits: self.visits.ended(), promises: account.ended });
        }
        Ok(self.claim(&mut account, bytes))
    }

    fn claim(&self, account: &mut Account, bytes: usize) -> Claim<'_> {
        account.claimed += bytes;
        account.measure();
        Claim { budget: self, bytes }
    }

    /// Chunks have come that a claim was for: they take `after` instead of `before`.
    pub(crate) fn settle(&self, claimed: usize, before: usize, after: usize) {
        let mut account = self.account.lock();
        account.claimed -= claimed;
        account.excused |= after > before + claimed;
        account.resident = (account.resident + after).saturating_sub(before);
        account.measure();
        if after < before + claimed {
            self.freed.notify_all();
        }
    }

    /// How many bytes must leave so that so many can come.
    pub(crate) fn excess(&self, more: usize) -> usize {
        self.account.lock().excess(more)
    }

    /// Room for chunks that come, or why there is none. `seen` is what [`Budget::try_claim`] said before chunks were looked for that could leave; there were
    /// none.
    ///
    /// What requests were promised fits the cache, so what is in the way is in the hands of visitors, who are waited for. When there was none, chunks that
    /// cannot be written are in the way: then there is no room. Or chunks have become larger than what was promised for them, or one request needs more than
    /// there is. Then there is room when otherwise everybody would wait.
    pub(crate) fn claim_or_wait(&self, bytes: usize, seen: Seen) -> Result<Claim<'_>, NoRoom> {
        let mut account = self.account.lock();
        if account.excess(bytes) == 0 {
            return Ok(self.claim(&mut account, bytes));
        }
        if account.ended != seen.promises {
            return Err(NoRoom::Retry);
        }
        if self.visits.were_none_since(seen.visits) && account.stuck + 1 >= account.holders {
            if account.unwritable.bytes > 0 {
                return Err(NoRoom::Full);
            }
            account.excused = true;
            return Ok(self.claim(&mut account, bytes));
        }
        // Said before it is asked whether a visit has ended: whoever ends one asks in the other order whether somebody waits.
        self.waiting.fetch_add(1, Ordering::SeqCst);
        if self.visits.ended() == seen.visits {
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

    /// Somebody is about to have chunks in hand without a promise.
    pub(crate) fn visit(&self, count: usize) {
        self.visits.begin(count as u64);
    }

    /// Chunks are in hand no longer.
    pub(crate) fn end_visits(&self, count: usize) {
        self.visits.end(count as u64);
        if self.is_awaited() {
            // Whoever is about to wait does, before it is told.
            drop(self.account.lock());
            self.freed.notify_all();
        }
    }

    /// Whether somebody waits for room.
    pub(crate) fn is_awaited(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// Waits for a chunk that somebody else loads, who may wait for room.
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
}

impl Account {
    fn has_room_for(&self, need: Need) -> bool {
        let alone = self.promised == 0 && self.aside == 0;
        alone || self.fits(need)
    }

    fn fits(&self, need: Need) -> bool {
        let Limits { quiescent, active } = self.limits;
        self.promised + need.chunks <= quiescent && self.aside + need.aside <= active.saturating_sub(quiescent)
    }

    fn promise(&mut self, need: Need) {
        self.excused |= !self.fits(need);
        self.holders += 1;
        self.promised += need.chunks;
        self.aside += need.aside;
        self.measure();
    }

    fn excess(&self, more: usize) -> usize {
        (self.resident + self.claimed + more).saturating_sub(self.limits.quiescent)
    }

    fn measure(&mut self) {
        let chunks = self.resident + self.claimed;
        self.peak = self.peak.max(chunks + self.aside);
        let is_within = chunks <= self.limits.quiescent && chunks + self.aside <= self.limits.active;
        debug_assert!(is_within || self.excused, "more is taken than may be: {self:?}");
        // Excuses end with the requests that began under them.
        self.excused &= !is_within || self.holders > 0;
    }
}
