//! By the time of the last use.

use hashlink::LinkedHashSet;
use hyperslab_space::Coords;
use rustc_hash::FxBuildHasher;

use super::{Order, Verdict};

/// So many chunks that somebody has keep their place when they are passed by; more go where those go that were just used, so that they are not
/// asked about each time.
const PASSED: usize = 4;

/// Those that leave first at the front.
#[derive(Debug)]
pub(super) struct ByUse {
    places: LinkedHashSet<Coords, FxBuildHasher>,
    /// Whether those used last leave first.
    last_first: bool,
}

impl ByUse {
    pub(super) fn new(last_first: bool) -> ByUse {
        ByUse { places: LinkedHashSet::default(), last_first }
    }

    /// Makes it the last that leaves.
    fn keep(&mut self, place: &Coords) {
        let _ = if self.last_first { self.places.to_front(place) } else { self.places.to_back(place) };
    }
}

impl Order for ByUse {
    fn enter(&mut self, place: &Coords) {
        self.places.replace(place.clone());
    }

    fn restore(&mut self, place: &Coords) {
        self.enter(place);
        if !self.last_first {
            self.places.to_front(place);
        }
    }

    fn touch(&mut self, place: &Coords) {
        self.places.to_back(place);
    }

    fn leave(&mut self, place: &Coords, _evicted: bool) {
        self.places.remove(place);
    }

    fn victim(&mut self, judge: &mut dyn FnMut(&Coords) -> Verdict) -> Option<Coords> {
        let passed = match self.last_first {
            true => passed(self.places.iter().rev(), judge),
            false => passed(self.places.iter(), judge),
        };
        passed.held.iter().skip(PASSED).chain(&passed.spared).for_each(|place| self.keep(place));
        // Nobody is spared twice.
        passed.found.or_else(|| passed.spared.into_iter().find(|place| judge(place) == Verdict::Leave))
    }

    fn walk(&self) -> Box<dyn Iterator<Item = &Coords> + '_> {
        if self.last_first { Box::new(self.places.iter().rev()) } else { Box::new(self.places.iter()) }
    }
}

/// Chunks up to the first that leaves.
#[derive(Default)]
struct Passed {
    held: Vec<Coords>,
    spared: Vec<Coords>,
    found: Option<Coords>,
}

fn passed<'a>(places: impl Iterator<Item = &'a Coords>, judge: &mut dyn FnMut(&Coords) -> Verdict) -> Passed {
    let mut passed = Passed::default();
    for place in places {
        match judge(place) {
            Verdict::Leave => {
                passed.found = Some(place.clone());
                break;
            }
            Verdict::Spare => passed.spared.push(place.clone()),
            Verdict::Stay => passed.held.push(place.clone()),
        }
    }
    passed
}
