//! How much memory the cache may take, and how that follows the working set.

/// Limits of the cache. Entries that are dirty, in use or parents stay whatever the budget says; [`Cache::wants_flush`](crate::Cache::wants_flush)
/// tells when they are too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// What the cache starts with, in bytes.
    pub initial: usize,
    /// It never shrinks below this.
    pub least: usize,
    /// It never grows above this.
    pub most: usize,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { initial: 16 << 20, least: 1 << 20, most: 64 << 20 }
    }
}

/// What the cache did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Entries found.
    pub hits: u64,
    /// Entries loaded.
    pub misses: u64,
    /// Entries that made room for others.
    pub evictions: u64,
    /// Blocks written.
    pub written: u64,
    /// Write requests: one per wave.
    pub waves: u64,
    /// The memory of all entries, in bytes.
    pub bytes: usize,
    /// The memory of those that are not clean, in bytes.
    pub unclean: usize,
    /// What they may take now, in bytes.
    pub budget: usize,
}

/// After so many look-ups the budget is looked at.
const EPOCH: u64 = 10_000;

/// Below this share of hits, in percent, a cache that evicts is too small: an operation looks a few entries up many times, and a miss takes as long as
/// hundreds of hits.
const TOO_FEW_HITS: u64 = 99;

/// An entry that takes more than this part of the budget makes it larger, so that all others have as much room as before.
const LARGE: usize = 4;

/// The account of one cache.
#[derive(Debug)]
pub(crate) struct Account {
    limits: Budget,
    total: Statistics,
    epoch: Epoch,
}

/// What happened since the budget was looked at.
#[derive(Debug, Default)]
struct Epoch {
    hits: u64,
    misses: u64,
    evictions: u64,
    /// The most that was in memory.
    peak: usize,
}

impl Default for Account {
    fn default() -> Account {
        Account::new(Budget::default())
    }
}

impl Account {
    pub(crate) fn new(limits: Budget) -> Account {
        let budget = limits.initial.clamp(limits.least, limits.most.max(limits.least));
        Account { limits, total: Statistics { budget, ..Statistics::default() }, epoch: Epoch::default() }
    }

    pub(crate) fn statistics(&self) -> Statistics {
        self.total
    }

    pub(crate) fn add(&mut self, bytes: usize) {
        self.resize(0, bytes);
    }

    pub(crate) fn remove(&mut self, bytes: usize) {
        self.resize(bytes, 0);
    }

    /// An entry takes another number of bytes than before.
    pub(crate) fn resize(&mut self, before: usize, bytes: usize) {
        let Statistics { bytes: total, budget, .. } = &mut self.total;
        *total = total.saturating_sub(before).saturating_add(bytes);
        self.epoch.peak = self.epoch.peak.max(*total);
        let more = bytes.saturating_sub(before);
        if more > *budget / LARGE {
            *budget = budget.saturating_add(more).min(self.limits.most.max(*budget));
        }
    }

    /// An entry of so many bytes is clean no more.
    pub(crate) fn soil(&mut self, bytes: usize) {
        self.total.unclean += bytes;
    }

    /// An entry of so many bytes is clean, or gone.
    pub(crate) fn clean(&mut self, bytes: usize) {
        self.total.unclean = self.total.unclean.saturating_sub(bytes);
    }

    pub(crate) fn found(&mut self) {
        self.total.hits += 1;
        self.epoch.hits += 1;
        self.look();
    }

    pub(crate) fn missed(&mut self) {
        self.total.misses += 1;
        self.epoch.misses += 1;
        self.look();
    }

    pub(crate) fn evicted(&mut self) {
        self.total.evictions += 1;
        self.epoch.evictions += 1;
    }

    pub(crate) fn wrote(&mut self, blocks: usize) {
        self.total.written += blocks as u64;
        self.total.waves += u64::from(blocks > 0);
    }

    /// Whether entries must leave.
    pub(crate) fn wants_room(&self) -> bool {
        self.total.bytes > self.total.budget
    }

    /// Whether too much is not clean. A budget that shrank since little was needed for reading is no reason to write more often.
    pub(crate) fn wants_flush(&self) -> bool {
        self.total.unclean > self.total.budget.max(self.limits.initial)
    }

    /// Misses although entries had to leave: grow. Far more than was ever needed: shrink, slowly.
    fn look(&mut self) {
        let asked = self.epoch.hits + self.epoch.misses;
        if asked < EPOCH {
            return;
        }
        let budget = &mut self.total.budget;
        if self.epoch.evictions > 0 && self.epoch.hits * 100 < asked * TOO_FEW_HITS {
            *budget = budget.saturating_mul(2).min(self.limits.most);
        } else if self.epoch.evictions == 0 && self.epoch.peak < *budget / 2 {
            *budget = (*budget - *budget / 8).max(self.limits.least);
        }
        self.epoch = Epoch { peak: self.total.bytes, ..Epoch::default() };
    }
}
