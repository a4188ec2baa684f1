//! How many bytes the cache holds, how many requests may take, and who waits for them.

use std::collections::VecDeque;

use crate::{
    Limits,
    sync::{Condvar, Mutex, Rank},
};

/// The account of one cache.
#[derive(Debug)]
pub(crate) struct Budget {
    account: Mutex<Account>,
    freed: Condvar,
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
    /// How many have a promise, and how many of them wait for room.
    holders: usize,
    stuck: usize,
    /// Who waits for a promise, in the order in which they came.
    waiting: VecDeque<u64>,
    next: u64,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Chunks that must be in memory at once.
    pub chunks: usize,
    /// Buffers beside them: stored images.
    pub aside: usize,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Budget {
        let (resident, claimed, promised, aside, peak, holders, stuck, next) = Default::default();
        let waiting = VecDeque::new();
        let account = Account { limits, resident, claimed, promised, aside, peak, holders, stuck, waiting, next };
        Budget { account: Mutex::new(Rank::Budget, account), freed: Condvar::default() }
    }

    /// Waits until a request can have all that it needs, beside the others that have. Ask before chunks are pinned, never while some are: then
    /// nobody who waits is waited for. A need above the limit is met when nobody else has anything.
    pub(crate) fn promise(&self, need: Need) -> Promise<'_> {
        let mut account = self.account.lock();
        let ticket = account.next;
        account.next += 1;
        account.waiting.push_back(ticket);
        while account.waiting.front() != Some(&ticket) || !account.has_room_for(need) {
            self.freed.wait(&mut account);
        }
        account.waiting.pop_front();
        account.holders += 1;
        account.promised += need.chunks;
        account.aside += need.aside;
        account.measure();
        // The next one may fit as well.
        self.freed.notify_all();
        Promise { budget: self, need }
    }

    /// Room for chunks that come, if there is some.
    pub(crate) fn try_claim(&self, bytes: usize) -> Option<Claim<'_>> {
        let mut account = self.account.lock();
        (account.excess(bytes) == 0).then(|| self.claim(&mut account, bytes))
    }

    fn claim(&self, account: &mut Account, bytes: usize) -> Claim<'_> {
        account.claimed += bytes;
        account.measure();
        Claim { budget: self, bytes }
    }

    /// How many bytes must leave so that so many can come.
    pub(crate) fn excess(&self, more: usize) -> usize {
        self.account.lock().excess(more)
    }

    /// Room for chunks that come; if there is none, nothing, when something may have left meanwhile. Where everybody would wait, because chunks became
    /// larger than what was promised for them, there is room.
    pub(crate) fn claim_or_wait(&self, bytes: usize) -> Option<Claim<'_>> {
        let mut account = self.account.lock();
        if account.excess(bytes) == 0 || account.stuck + 1 >= account.holders {
            return Some(self.claim(&mut account, bytes));
        }
        account.stuck += 1;
        self.freed.wait(&mut account);
        account.stuck -= 1;
        None
    }

    /// Waits for a chunk that somebody else loads, who may wait for room.
    pub(crate) fn stuck<T>(&self, wait: impl FnOnce() -> T) -> T {
        self.account.lock().stuck += 1;
        self.freed.notify_all();
        let waited = wait();
        self.account.lock().stuck -= 1;
        waited
    }

    /// Chunks take more, or less.
    pub(crate) fn resize(&self, before: usize, after: usize) {
        let mut account = self.account.lock();
        account.resident = (account.resident + after).saturating_sub(before);
        account.measure();
        if after < before {
            self.freed.notify_all();
        }
    }

    pub(crate) fn limits(&self) -> Limits {
        self.account.lock().limits
    }

    pub(crate) fn set_quiescent(&self, bytes: usize) {
        self.account.lock().limits.quiescent = bytes;
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
        let Limits { quiescent, active } = self.limits;
        alone || self.promised + need.chunks <= quiescent && self.aside + need.aside <= active.saturating_sub(quiescent)
    }

    fn excess(&self, more: usize) -> usize {
        (self.resident + self.claimed + more).saturating_sub(self.limits.quiescent)
    }

    fn measure(&mut self) {
        self.peak = self.peak.max(self.resident + self.claimed + self.aside);
    }
}

/// Room for chunks that come, until they are there.
#[derive(Debug)]
pub struct Claim<'a> {
    budget: &'a Budget,
    bytes: usize,
}

impl Claim<'_> {
    /// A chunk is there that takes so many bytes, counted from now on as its own.
    pub(crate) fn spend(&mut self, bytes: usize) {
        let spent = bytes.min(self.bytes);
        self.bytes -= spent;
        self.budget.account.lock().claimed -= spent;
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.budget.account.lock().claimed -= self.bytes;
        self.budget.freed.notify_all();
    }
}

/// What a request may take, until this is dropped.
#[derive(Debug)]
pub struct Promise<'a> {
    budget: &'a Budget,
    need: Need,
}

impl Drop for Promise<'_> {
    fn drop(&mut self) {
        let mut account = self.budget.account.lock();
        account.holders -= 1;
        account.promised -= self.need.chunks;
        account.aside -= self.need.aside;
        self.budget.freed.notify_all();
    }
}
