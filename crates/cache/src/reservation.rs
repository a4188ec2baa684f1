//! What requests may take.

use crate::{budget::Budget, share::Claim};

/// What a request asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// Chunks that must be in memory at once.
    pub chunks: usize,
    /// Buffers beside them: stored images.
    pub aside: usize,
}

/// What a request may take, until this is dropped.
#[derive(Debug)]
pub struct Reservation<'a> {
    pub(crate) budget: &'a Budget,
    pub(crate) demand: Demand,
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.budget.take_back(self.demand);
    }
}

/// Room for chunks that come, until they are there.
#[derive(Debug)]
pub struct Grant<'a> {
    pub(crate) budget: &'a Budget,
    pub(crate) bytes: usize,
    /// The same within the share of a dataset.
    pub(crate) claim: Option<Claim<'a>>,
}

impl<'a> Grant<'a> {
    /// With a claim to the share of a dataset, which ends with it.
    pub(crate) fn within(self, claim: Claim<'a>) -> Grant<'a> {
        let mut grant = self;
        grant.claim = Some(claim);
        grant
    }

    /// A chunk is there that takes `after` instead of `before`, counted from now on as its own.
    pub(crate) fn consume(&mut self, before: usize, after: usize) {
        let spent = after.saturating_sub(before).min(self.bytes);
        self.bytes -= spent;
        self.budget.adjust(spent, before, after);
    }

    /// Whether so many bytes are granted, or there is room for what is missing of them.
    pub fn covers(&mut self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        more == 0 || self.claim.as_mut().is_none_or(|claim| claim.try_grow(more)) && self.try_grow(more)
    }

    /// Grants more, if there is room.
    pub(crate) fn try_grow(&mut self, bytes: usize) -> bool {
        let more = self.budget.try_grant(bytes);
        let grown = more.is_ok();
        if let Ok(mut more) = more {
            self.bytes += std::mem::take(&mut more.bytes);
        }
        grown
    }
}

impl Drop for Grant<'_> {
    fn drop(&mut self) {
        self.budget.adjust(self.bytes, 0, 0);
    }
}
