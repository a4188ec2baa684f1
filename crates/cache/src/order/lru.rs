//! By the time of the last use.

use hashlink::LinkedHashSet;
use hyperslab_space::Coords;

use super::{Order, Verdict};

/// The one used last at the end; chunks leave from the front.
#[derive(Debug, Default)]
pub(super) struct Lru(LinkedHashSet<Coords>);

impl Order for Lru {
    fn enter(&mut self, place: &Coords) {
        self.0.replace(place.clone());
    }

    fn touch(&mut self, place: &Coords) {
        self.0.to_back(place);
    }

    fn leave(&mut self, place: &Coords, _evicted: bool) {
        self.0.remove(place);
    }

    fn victim(&mut self, judge: &mut dyn FnMut(&Coords) -> Verdict) -> Option<Coords> {
        for _ in 0..2 * self.0.len() {
            let first = self.0.front()?.clone();
            if judge(&first) == Verdict::Leave {
                return Some(first);
            }
            self.0.to_back(&first);
        }
        None
    }
}

/// The one used last at the end; chunks leave from there.
#[derive(Debug, Default)]
pub(super) struct Mru(LinkedHashSet<Coords>);

impl Order for Mru {
    fn enter(&mut self, place: &Coords) {
        self.0.replace(place.clone());
    }

    fn touch(&mut self, place: &Coords) {
        self.0.to_back(place);
    }

    fn leave(&mut self, place: &Coords, _evicted: bool) {
        self.0.remove(place);
    }

    fn victim(&mut self, judge: &mut dyn FnMut(&Coords) -> Verdict) -> Option<Coords> {
        for _ in 0..2 * self.0.len() {
            let last = self.0.back()?.clone();
            if judge(&last) == Verdict::Leave {
                return Some(last);
            }
            self.0.to_front(&last);
        }
        None
    }
}
