//! The order in which blocks and objects get into the file.

use std::collections::{BTreeSet, HashMap, HashSet};

use hyperslab_alloc::Span;

/// Pairs of blocks of which one is written before the other.
#[derive(Default)]
pub(crate) struct Orders {
    /// First and later.
    behind: BTreeSet<(u64, u64)>,
    /// Later and first.
    before: BTreeSet<(u64, u64)>,
}

impl Orders {
    pub(crate) fn add(&mut self, first: u64, later: u64) {
        self.behind.insert((first, later));
        self.before.insert((later, first));
    }

    /// What is written before a block, and what after it.
    pub(crate) fn of(&self, block: u64) -> (Vec<u64>, Vec<u64>) {
        let of = |pairs: &BTreeSet<(u64, u64)>| -> Vec<u64> {
            pairs.range((block, 0)..=(block, u64::MAX)).map(|(_, other)| *other).collect()
        };
        (of(&self.before), of(&self.behind))
    }

    /// Forgets a block. What was before it stays before what was behind it: says which pairs that are, first and later.
    pub(crate) fn bridge(&mut self, block: u64) -> Vec<(u64, u64)> {
        let (firsts, laters) = self.of(block);
        for &first in &firsts {
            self.before.remove(&(block, first));
            self.behind.remove(&(first, block));
        }
        for &later in &laters {
            self.behind.remove(&(block, later));
            self.before.remove(&(later, block));
        }
        let bridges = firsts.iter().flat_map(|&first| laters.iter().map(move |&later| (first, later)));
        bridges.inspect(|&(first, later)| self.add(first, later)).collect()
    }

    /// The blocks in a range of addresses that have an order.
    pub(crate) fn within(&self, span: Span) -> BTreeSet<u64> {
        let range = (span.start, 0)..(span.end(), 0);
        self.behind.range(range.clone()).chain(self.before.range(range)).map(|(block, _)| *block).collect()
    }

    /// All pairs, first and later, which are forgotten.
    pub(crate) fn take(&mut self) -> BTreeSet<(u64, u64)> {
        self.before.clear();
        std::mem::take(&mut self.behind)
    }
}

/// What operations since the last flush say about the order of objects.
#[derive(Default)]
pub(crate) struct ObjectOrders {
    /// By object, those that go before it.
    firsts: HashMap<u64, HashSet<u64>>,
    /// All objects that have an order.
    ordered: HashSet<u64>,
}

impl ObjectOrders {
    /// Whether `this` waits for `other`, directly or through others. An object that has blocks which wait for its own may have them the other
    /// way round.
    fn waits(&self, this: u64, other: u64) -> bool {
        if this == other {
            return self.firsts.get(&this).is_some_and(|firsts| firsts.contains(&this));
        }
        let (mut seen, mut open) = (HashSet::from([this]), vec![this]);
        while let Some(object) = open.pop() {
            if object == other {
                return true;
            }
            let firsts = self.firsts.get(&object).into_iter().flatten();
            open.extend(firsts.filter(|&&first| seen.insert(first)));
        }
        false
    }

    /// Lets `first` go before `later`, unless it waits for that; whether it does not.
    pub(crate) fn add(&mut self, first: u64, later: u64) -> bool {
        if self.waits(first, later) {
            return false;
        }
        self.ordered.extend([first, later]);
        self.firsts.entry(later).or_default().insert(first);
        true
    }

    /// Whether an object has an order.
    pub(crate) fn is_ordered(&self, object: u64) -> bool {
        self.ordered.contains(&object)
    }

    pub(crate) fn clear(&mut self) {
        self.firsts.clear();
        self.ordered.clear();
    }
}
