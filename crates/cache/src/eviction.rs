//! Eviction: how chunks leave, so that others can come.

use std::{collections::HashSet, sync::Arc};

use crate::{
    Cache, Footprint, Grant, Partition, Pinned, WriteBack,
    budget::NoRoom,
    partition_eviction::{Claiming, MORE},
    partition_state::PartitionState,
};

/// What came of asking for memory.
pub enum Eviction<'a, V: Footprint> {
    /// There is room.
    Granted(Grant<'a>),
    /// There is when these are written.
    Dirty(Vec<WriteBack<V>>),
    /// There is none: chunks that could not be written are in the way, or all that the dataset may have is in use.
    Full,
}

/// A round through the partitions, least recently used first.
struct Round {
    spare_reserve: bool,
    /// Those that were asked, and have no more to give.
    passed: HashSet<u64>,
}

impl Round {
    fn new(spare_reserve: bool) -> Round {
        Round { spare_reserve, passed: HashSet::new() }
    }
}

impl<V: Footprint> Cache<V> {
    /// Lets chunks leave until there is room for so many bytes more of a partition, which then are granted. If some must be written first, they are handed
    /// back: the caller writes them and asks again. A partition at its limit makes room itself; else partitions keep their reserve, as long as that suffices.
    pub fn make_room<'a>(&'a self, partition: &'a Partition<V>, bytes: usize) -> Eviction<'a, V> {
        let claim = match partition.inner.claim(bytes) {
            Claiming::Claimed(claim) => claim,
            Claiming::Dirty(dirty) => return Eviction::Dirty(dirty),
            Claiming::Full => return Eviction::Full,
        };
        loop {
            let seen = match self.shared.budget.try_grant(bytes) {
                Ok(grant) => return Eviction::Granted(grant.within(claim)),
                Err(seen) => seen,
            };
            let (dirty, any) = self.evict(bytes);
            if !dirty.is_empty() {
                return Eviction::Dirty(dirty);
            }
            // If all that is here is pinned, other threads must let go first.
            if !any {
                match self.shared.budget.grant_or_wait(bytes, seen, &partition.inner.counters) {
                    Ok(grant) => return Eviction::Granted(grant.within(claim)),
                    Err(NoRoom::Full) => return Eviction::Full,
                    Err(NoRoom::Retry) => {}
                }
            }
        }
    }

    /// The same, if that needs no waiting and nothing must be written. For work in the background.
    pub fn try_room<'a>(&'a self, partition: &'a Partition<V>, bytes: usize) -> Option<Grant<'a>> {
        let claim = match partition.inner.claim(bytes) {
            Claiming::Claimed(claim) => claim,
            Claiming::Dirty(dirty) => return put_back(dirty),
            Claiming::Full => return None,
        };
        loop {
            if let Ok(grant) = self.shared.budget.try_grant(bytes) {
                return Some(grant.within(claim));
            }
            let (dirty, any) = self.evict(bytes);
            if !any || !dirty.is_empty() {
                return put_back(dirty);
            }
        }
    }

    /// Evicts; what must be written first, and whether anything has left.
    fn evict(&self, bytes: usize) -> (Vec<WriteBack<V>>, bool) {
        let (mut dirty, mut any) = (Vec::new(), false);
        let mut coming = 0; // what those that must be written give back
        let mut reserves_hold = true;
        for spare_reserve in [true, false] {
            let mut round = Round::new(spare_reserve);
            let wanted = |coming| self.shared.budget.excess(bytes).saturating_sub(coming);
            while let Some(partitions) = self.next_in(&mut round, wanted(coming)) {
                for partition in partitions {
                    let is_wanted = |more| wanted(coming + more) > 0 && partition.surplus(spare_reserve) > more;
                    let (left, more) = partition.evict_while(&mut dirty, is_wanted);
                    any |= left;
                    if more > 0 {
                        (coming, reserves_hold) = (coming + more, spare_reserve);
                    }
                }
            }
        }
        if !any && dirty.is_empty() {
            // Chunks that stay take no more than was reserved for them.
            any = self.unwritten_partitions().iter().filter(|partition| partition.inner.drop_encoded()).count() > 0;
        }
        if let Some(size) = dirty.last().map(WriteBack::footprint).filter(|size| *size > 0) {
            // In a full cache there would never be room for copies that are encoded ahead of time, and each chunk that comes would wait for one that is
            // encoded and written alone. So a few more go with those that must.
            let more = self.limits().quiescent / MORE / size * size;
            self.take_more(bytes.saturating_add(more), coming, Round::new(reserves_hold), &mut dirty);
        }
        (dirty, any)
    }

    /// Lets more chunks leave in a round, until there is room for so many bytes when those that are `coming` have left; as long as there is memory for what
    /// they are encoded to.
    fn take_more(&self, bytes: usize, mut coming: usize, mut round: Round, dirty: &mut Vec<WriteBack<V>>) {
        let wanted = |coming| self.shared.budget.excess(bytes).saturating_sub(coming);
        while let Some(partitions) = self.next_in(&mut round, wanted(coming)) {
            for partition in partitions {
                let on_the_way = dirty.iter().filter(|taken| taken.is_in(&partition)).map(WriteBack::footprint);
                let (on_the_way, before) = (on_the_way.sum::<usize>(), coming);
                coming += partition.take_more_while(dirty, |more| {
                    wanted(before + more) > 0 && partition.surplus(round.spare_reserve) > on_the_way + more
                });
            }
        }
    }

    /// The next partitions of a round, as many as can give so much together; those after them are not even looked at.
    fn next_in(&self, round: &mut Round, wanted: usize) -> Option<Vec<Arc<PartitionState<V>>>> {
        let (mut found, mut surplus) = (Vec::new(), 0);
        for partition in self.ranking.lock().values() {
            if surplus >= wanted {
                break;
            }
            let has = partition.surplus(round.spare_reserve);
            if has > 0 && round.passed.insert(partition.number) {
                surplus += has;
                found.push(partition.clone());
            }
        }
        Some(found).filter(|found| !found.is_empty())
    }

    /// Whether some chunks that are dirty and not encoded will have to leave soon: three quarters of the room are taken. Cheap to ask.
    pub fn is_crowded(&self) -> bool {
        let is_full = |(taken, _): (usize, usize)| taken / 3 > self.limits().quiescent / 4;
        self.shared.is_any_dirty() && is_full(self.shared.budget.taken())
    }

    /// Dirty chunks that no thread has and that are not encoded yet, of about so many bytes, in the order in which they would leave: to be
    /// [encoded ahead of time](Pinned::encode_ahead). The caller must not wait for anything while it has them, because other threads wait for them.
    pub fn near_exit(&self, bytes: usize) -> Vec<Pinned<V>> {
        let (mut found, mut left) = (Vec::new(), bytes);
        // As they are evicted: first what is beyond the reserves.
        for spare_reserve in [true, false] {
            let mut round = Round::new(spare_reserve);
            while let Some(partitions) = self.next_in(&mut round, left) {
                for partition in partitions {
                    found.extend(partition.near_exit(partition.surplus(spare_reserve), &mut left));
                }
            }
        }
        found
    }

    /// Lets chunks leave that need not be written, as long as more are here than may be.
    pub(crate) fn trim(&self) {
        for spare_reserve in [true, false] {
            let mut round = Round::new(spare_reserve);
            while let Some(partitions) = self.next_in(&mut round, self.shared.budget.excess(0)) {
                for partition in partitions {
                    let wanted = || self.shared.budget.excess(0) > 0 && partition.surplus(spare_reserve) > 0;
                    for coord in partition.in_order().iter().take_while(|_| wanted()) {
                        partition.leave(coord);
                    }
                }
            }
        }
    }
}

/// Chunks that were to be written stay, each as the next that leaves: so the first comes last. There is no room then.
fn put_back<T, V: Footprint>(dirty: Vec<WriteBack<V>>) -> Option<T> {
    dirty.into_iter().rev().for_each(drop);
    None
}
