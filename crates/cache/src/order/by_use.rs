//! By the time of the last use.

use hashlink::LinkedHashSet;
use hyperslab_space::Coords;
use rustc_hash::FxBuildHasher;

use super::{Order, Verdict};

/// So many pinned chunks keep their place when they are passed by; more go where those go that were just used, so that they are not
/// asked about each time.
const PASSED: usize = 4;

/// Those that leave first at the front.
#[derive(Debug)]
pub(super) struct ByUse {
    coords: LinkedHashSet<Coords, FxBuildHasher>,
    /// Whether those used last leave first.
    last_first: bool,
}

impl ByUse {
    pub(super) fn new(last_first: bool) -> ByUse {
        ByUse { coords: LinkedHashSet::default(), last_first }
    }

    /// Makes it the last that leaves.
    fn keep(&mut self, coord: &Coords) {
        let _ = if self.last_first { self.coords.to_front(coord) } else { self.coords.to_back(coord) };
    }
}

impl Order for ByUse {
    fn enter(&mut self, coord: &Coords) {
        self.coords.replace(coord.clone());
    }

    fn restore(&mut self, coord: &Coords) {
        self.enter(coord);
        if !self.last_first {
            self.coords.to_front(coord);
        }
    }

    fn touch(&mut self, coord: &Coords) {
        self.coords.to_back(coord);
    }

    fn leave(&mut self, coord: &Coords, _evicted: bool) {
        self.coords.remove(coord);
    }

    fn victim(&mut self, judge: &mut dyn FnMut(&Coords) -> Verdict) -> Option<Coords> {
        let passed = match self.last_first {
            true => passed(self.coords.iter().rev(), judge),
            false => passed(self.coords.iter(), judge),
        };
        passed.held.iter().skip(PASSED).chain(&passed.spared).for_each(|coord| self.keep(coord));
        // No chunk is spared twice.
        passed.found.or_else(|| passed.spared.into_iter().find(|coord| judge(coord) == Verdict::Leave))
    }

    fn walk(&self) -> Box<dyn Iterator<Item = &Coords> + '_> {
        if self.last_first { Box::new(self.coords.iter().rev()) } else { Box::new(self.coords.iter()) }
    }
}

/// Chunks up to the first that leaves.
#[derive(Default)]
struct Passed {
    held: Vec<Coords>,
    spared: Vec<Coords>,
    found: Option<Coords>,
}

fn passed<'a>(coords: impl Iterator<Item = &'a Coords>, judge: &mut dyn FnMut(&Coords) -> Verdict) -> Passed {
    let mut passed = Passed::default();
    for coord in coords {
        match judge(coord) {
            Verdict::Leave => {
                passed.found = Some(coord.clone());
                break;
            }
            Verdict::Spare => passed.spared.push(coord.clone()),
            Verdict::Stay => passed.held.push(coord.clone()),
        }
    }
    passed
}
