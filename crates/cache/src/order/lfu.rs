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
    fn enter(&mut self, coord: &Coords) {
        self.leave(coord, false);
        self.uses.insert(coord.clone(), (1, self.next));
        self.ranked.insert((1, self.next, coord.clone()));
        self.next += 1;
    }

    fn restore(&mut self, coord: &Coords) {
        self.leave(coord, false);
        // Before those that were restored earlier.
        let came = u64::MAX - self.next;
        self.uses.insert(coord.clone(), (0, came));
        self.ranked.insert((0, came, coord.clone()));
        self.next += 1;
    }

    fn touch(&mut self, coord: &Coords) {
        if let Some((uses, came)) = self.uses.get_mut(coord) {
            let key = (*uses, *came, coord.clone());
            *uses += 1;
            if self.ranked.remove(&key) {
                self.ranked.insert((key.0 + 1, key.1, key.2));
            }
        }
    }

    fn leave(&mut self, coord: &Coords, _evicted: bool) {
        if let Some((uses, came)) = self.uses.remove(coord) {
            self.ranked.remove(&(uses, came, coord.clone()));
        }
    }

    fn victim(&mut self, judge: &mut dyn FnMut(&Coords) -> Verdict) -> Option<Coords> {
        let mut spared = Vec::new();
        let mut found = None;
        for (_, _, coord) in &self.ranked {
            match judge(coord) {
                Verdict::Leave => {
                    found = Some(coord.clone());
                    break;
                }
                Verdict::Spare => spared.push(coord.clone()),
                Verdict::Stay => {}
            }
        }
        spared.iter().for_each(|coord| self.touch(coord));
        // No chunk is spared twice.
        found.or_else(|| spared.into_iter().find(|coord| judge(coord) == Verdict::Leave))
    }

    fn walk(&self) -> Box<dyn Iterator<Item = &Coords> + '_> {
        Box::new(self.ranked.iter().map(|(_, _, coord)| coord))
    }
}
