//! The addresses of entries in order, so that a range of them can be asked for.

use std::{collections::BTreeSet, ops::Range};

/// Addresses in order. Those that came since a range was last asked for are put in order then: most operations ask for none.
#[derive(Default)]
pub(crate) struct Addresses {
    ordered: BTreeSet<u64>,
    /// Some may be gone since.
    recent: Vec<u64>,
}

/// If more than this part of all addresses is to be put in order, all are gone through together.
const MANY: usize = 8;
/// So many addresses may always wait to be put in order.
const SOME: usize = 1024;

impl Addresses {
    pub(crate) fn add(&mut self, address: u64) {
        self.recent.push(address);
    }

    /// Whether most of what is not in order is gone: `all` is how many addresses there are.
    pub(crate) fn is_stale(&self, all: usize) -> bool {
        self.recent.len() > 2 * all + SOME
    }

    pub(crate) fn remove(&mut self, address: u64) {
        self.ordered.remove(&address);
    }

    /// The addresses in `range`, and the last one before it. `is_there` says whether one is not gone.
    pub(crate) fn around(&mut self, range: Range<u64>, is_there: impl Fn(&u64) -> bool) -> (Option<u64>, Vec<u64>) {
        let recent = std::mem::take(&mut self.recent).into_iter().filter(is_there);
        match recent.size_hint().1.is_some_and(|most| most > self.ordered.len() / MANY) {
            true => self.ordered.append(&mut recent.collect()),
            false => self.ordered.extend(recent),
        }
        let before = self.ordered.range(..range.start).next_back().copied();
        (before, self.ordered.range(range.start..range.end.max(range.start)).copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Addresses come and go, and ranges are asked for now and then, beside a set that is always in order.
    #[test]
    fn ranges_are_those_of_a_set_in_order() {
        let (mut addresses, mut twin, mut state) = (Addresses::default(), BTreeSet::new(), 7u64);
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..20_000 {
            let address = random(300);
            match random(8) {
                0 => {
                    let range = address..address + random(100);
                    let before = twin.range(..range.start).next_back().copied();
                    let within = twin.range(range.clone()).copied().collect();
                    assert_eq!(addresses.around(range, |address| twin.contains(address)), (before, within));
                }
                1..4 if twin.remove(&address) => addresses.remove(address),
                _ if twin.insert(address) => addresses.add(address),
                _ => {}
            }
        }
    }
}
