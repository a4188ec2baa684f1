//! By the number of uses; of those used equally often, the one that came first.

use std::collections::{BTreeSet, HashMap};

use hyperslab_space::Coords;

use super::{Order, Verdict};

#[derive(Debug, Default)]
pub(super) struct Lfu {
    uses: HashMap<Coords, (u64, u64)>,
    /// Uses, when it came, and which.
    ranked: BTreeSet<(u64, u64, Coords)>,
    next: u64,
}

impl Order for Lfu {
    fn enter(&mut self, place: &Coords) {
        self.leave(place, false);
        self.uses.insert(place.clone(), (1, self.next));
        self.ranked.insert((1, self.next, place.clone()));
        self.next += 1;
    }

    fn restore(&mut self, place: &Coords) {
        self.leave(place, false);
        // Before those that were restored earlier.
        let came = u64::MAX - self.next;
        self.uses.insert(place.clone(), (0, came));
        self.ranked.insert((0, came, place.clone()));
        self.next += 1;
    }

    fn touch(&mut self, place: &Coords) {
        if let Some((uses, came)) = self.uses.get_mut(place) {
            let key = (*uses, *came, place.clone());
            *uses += 1;
            if self.ranked.remove(&key) {
                self.ranked.insert((key.0 + 1, key.1, key.2));
            }
        }
    }

    fn leave(&mut self, place: &Coords, _evicted: bool) {
        if let Some((uses, came)) = self.uses.remove(place) {
            self.ranked.remove(&(uses, came, place.clone()));
        }
    }

    fn victim(&mut self, judge: &mut dyn FnMut(&Coords) -> Verdict) -> Option<Coords> {
        let mut spared = Vec::new();
        let mut found = None;
        for (_, _, place) in &self.ranked {
            match judge(place) {
                Verdict::Leave => {
                    found = Some(place.clone());
                    break;
                }
                Verdict::Spare => spared.push(place.clone()),
                Verdict::Stay => {}
            }
        }
        spared.iter().for_each(|place| self.touch(place));
        // Nobody is spared twice.
        found.or_else(|| spared.into_iter().find(|place| judge(place) == Verdict::Leave))
    }

    fn walk(&self) -> Box<dyn Iterator<Item = &Coords> + '_> {
        Box::new(self.ranked.iter().map(|(_, _, place)| place))
    }
}
