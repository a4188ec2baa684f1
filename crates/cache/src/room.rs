//! How chunks leave, so that others can come.

use std::{collections::HashSet, sync::Arc};

use crate::{
    Cache, Claim, Footprint, Pinned, Taken,
    budget::NoRoom,
    inner::{Inner, Victim},
};

/// What became of a wish for room.
pub enum Room<'a, V: Footprint> {
    /// There is room.
    Claimed(Claim<'a>),
    /// There is when these are written.
    Dirty(Vec<Taken<V>>),
    /// There is none: chunks that could not be written are in the way.
    Full,
}

/// When chunks must be written to make room, such a part of the cache is written with them.
const MORE: usize = 16;

/// A round through the shelves, least recently used first.
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
    /// Lets chunks leave until there is room for so many bytes more, which then are claimed. If some must be written first, they are handed back:
    /// whoever has written them asks again. Shelves keep their reserve, as long as that suffices.
    pub fn make_room(&self, bytes: usize) -> Room<'_, V> {
        loop {
            let seen = match self.books.budget.try_claim(bytes) {
                Ok(claim) => return Room::Claimed(claim),
                Err(seen) => seen,
            };
            let (dirty, any) = self.evict(bytes);
            if !dirty.is_empty() {
                return Room::Dirty(dirty);
            }
            // If all that is here is in somebody's hands, others must let go first.
            if !any {
                match self.books.budget.claim_or_wait(bytes, seen) {
                    Ok(claim) => return Room::Claimed(claim),
                    Err(NoRoom::Full) => return Room::Full,
                    Err(NoRoom::Retry) => {}
                }
            }
        }
    }

    /// The same, if nobody must be waited for and nothing must be written. For work in the background.
    pub fn try_room(&self, bytes: usize) -> Option<Claim<'_>> {
        loop {
            if let Ok(claim) = self.books.budget.try_claim(bytes) {
                return Some(claim);
            }
            let (dirty, any) = self.evict(bytes);
            if !any || !dirty.is_empty() {
                // Each is the next that leaves then, so the first comes last.
                dirty.into_iter().rev().for_each(drop);
                return None;
            }
        }
    }

    /// Evicts; what must be written first, and whether anything has left.
    fn evict(&self, bytes: usize) -> (Vec<Taken<V>>, bool) {
        let (mut dirty, mut any) = (Vec::new(), false);
        let mut coming = 0; // what those that must be written give back
        let mut reserves_hold = true;
        for spare_reserve in [true, false] {
            let mut round = Round::new(spare_reserve);
            let wanted = |coming| self.books.budget.excess(bytes).saturating_sub(coming);
            while let Some(shelves) = self.next_in(&mut round, wanted(coming)) {
                for shelf in shelves {
                    let mut on_the_way = 0;
                    while wanted(coming) > 0 && shelf.surplus(spare_reserve) > on_the_way {
                        match shelf.victim() {
                            Some(Victim::Gone(gone)) => {
                                any = true;
                                drop(gone);
                            }
                            Some(Victim::Shed) => any = true,
                            Some(Victim::Dirty(taken)) => {
                                let size = taken.footprint();
                                (coming, on_the_way) = (coming + size, on_the_way + size);
                                dirty.push(taken);
                                reserves_hold = spare_reserve;
                            }
                            None => break,
                        }
                    }
                }
            }
        }
        if !any && dirty.is_empty() {
            // Chunks that stay take no more than was promised for them.
            any = self.unwritten_shelves().iter().filter(|shelf| shelf.inner.drop_encoded()).count() > 0;
        }
        if let Some(size) = dirty.last().map(Taken::footprint).filter(|size| *size > 0) {
            // In a full cache there would never be room for copies that are encoded ahead of time, and each chunk that comes would wait for one that is
            // encoded and written alone. So a few more go with those that must.
            let more = self.limits().quiescent / MORE / size * size;
            self.take_more(bytes.saturating_add(more), coming, Round::new(reserves_hold), &mut dirty);
        }
        (dirty, any)
    }

    /// Lets more chunks leave in a round, until there is room for so many bytes when those that are `coming` have left; as long as there is memory for what
    /// they are encoded to.
    fn take_more(&self, bytes: usize, mut coming: usize, mut round: Round, dirty: &mut Vec<Taken<V>>) {
        let (budget, size) = (&self.books.budget, dirty.last().map_or(0, Taken::footprint));
        let wanted = |coming| budget.excess(bytes).saturating_sub(coming);
        while let Some(shelves) = self.next_in(&mut round, wanted(coming)) {
            for shelf in shelves {
                let mut on_the_way: usize =
                    dirty.iter().filter(|taken| taken.is_of(&shelf)).map(Taken::footprint).sum();
                let has_more = |on_the_way| shelf.surplus(round.spare_reserve) > on_the_way;
                while wanted(coming) > 0 && has_more(on_the_way) && budget.lend(size) {
                    match shelf.victim() {
                        Some(Victim::Dirty(taken)) => {
                            coming += taken.footprint();
                            on_the_way += taken.footprint();
                            dirty.push(taken.with(size));
                        }
                        left => {
                            budget.give_back(size);
                            if left.is_none() {
                                break;
                            }
                        }
                    }
                }
            }
        }
    }

    /// The next shelves of a round, as many as can give so much together; those after them are not even looked at.
    fn next_in(&self, round: &mut Round, wanted: usize) -> Option<Vec<Arc<Inner<V>>>> {
        let (mut found, mut surplus) = (Vec::new(), 0);
        for shelf in self.ranking.lock().values() {
            if surplus >= wanted {
                break;
            }
            let has = shelf.surplus(round.spare_reserve);
            if has > 0 && round.passed.insert(shelf.number) {
                surplus += has;
                found.push(shelf.clone());
            }
        }
        Some(found).filter(|found| !found.is_empty())
    }

    /// Whether some chunks that are dirty and not encoded will have to leave soon: three quarters of the room are taken. Cheap to ask.
    pub fn is_crowded(&self) -> bool {
        let is_full = |(taken, _): (usize, usize)| taken / 3 > self.limits().quiescent / 4;
        self.books.is_any_dirty() && is_full(self.books.budget.taken())
    }

    /// Dirty chunks that nobody has and that are not encoded yet, of about so many bytes, in the order in which they would leave: to be
    /// [encoded ahead of time](Pinned::encode_ahead). Whoever has them must not wait for anything: others wait for them.
    pub fn near_exit(&self, bytes: usize) -> Vec<Pinned<V>> {
        let (mut found, mut left) = (Vec::new(), bytes);
        // As they are evicted: first what is beyond the reserves.
        for spare_reserve in [true, false] {
            let mut round = Round::new(spare_reserve);
            while let Some(shelves) = self.next_in(&mut round, left) {
                for shelf in shelves {
                    found.extend(shelf.near_exit(shelf.surplus(spare_reserve), &mut left));
                }
            }
        }
        found
    }

    /// Lets chunks leave that need not be written, as long as more are here than may be.
    pub(crate) fn trim(&self) {
        for spare_reserve in [true, false] {
            let mut round = Round::new(spare_reserve);
            while let Some(shelves) = self.next_in(&mut round, self.books.budget.excess(0)) {
                for shelf in shelves {
                    let wanted = || self.books.budget.excess(0) > 0 && shelf.surplus(spare_reserve) > 0;
                    for place in shelf.in_order().iter().take_while(|_| wanted()) {
                        shelf.leave(place);
                    }
                }
            }
        }
    }
}
