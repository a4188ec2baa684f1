//! Three queues, after "FIFO queues are all you need for cache eviction" (Yang and others, 2023): what is used again while it is in the small one goes on to
//! the main one; what was pushed out of the small one and comes back soon goes there at once.

use hashlink::{LinkedHashMap, LinkedHashSet};
use hyperslab_space::Coords;

use super::{Order, Verdict};

/// The small queue has one in so many chunks.
const SMALL: usize = 10;
/// Uses are counted up to this.
const MOST: u8 = 3;

#[derive(Debug, Default)]
pub(super) struct S3Fifo {
    /// With the uses since they came.
    small: LinkedHashMap<Coords, u8>,
    main: LinkedHashMap<Coords, u8>,
    /// What was pushed out of the small queue lately.
    ghosts: LinkedHashSet<Coords>,
}

impl Order for S3Fifo {
    fn enter(&mut self, coord: &Coords) {
        self.leave(coord, false);
        let queue = if self.ghosts.remove(coord) { &mut self.main } else { &mut self.small };
        queue.insert(coord.clone(), 0);
    }

    fn restore(&mut self, coord: &Coords) {
        self.leave(coord, false);
        let queue = if self.ghosts.remove(coord) { &mut self.small } else { &mut self.main };
        queue.insert(coord.clone(), 0);
        queue.to_front(coord);
    }

    fn touch(&mut self, coord: &Coords) {
        let uses = self.small.get_mut(coord).or_else(|| self.main.get_mut(coord));
        uses.into_iter().for_each(|uses| *uses = (*uses + 1).min(MOST));
    }

    fn leave(&mut self, coord: &Coords, evicted: bool) {
        let was_small = self.small.remove(coord).is_some();
        self.main.remove(coord);
        if was_small && evicted {
            self.ghosts.replace(coord.clone());
        }
        while self.ghosts.len() > (self.small.len() + self.main.len()).max(SMALL) {
            self.ghosts.pop_front();
        }
    }

    fn victim(&mut self, judge: &mut dyn FnMut(&Coords) -> Verdict) -> Option<Coords> {
        // Each chunk has at most so many uses to lose, and one chance to be spared; those of the main queue may be asked again after those of the small one.
        let all = self.small.len() + self.main.len();
        // Chunks of each queue that the judge keeps, one after the other. When a queue has no other chunks, the victim comes from the other queue.
        let (mut small_held, mut main_held) = (0, 0);
        for _ in 0..(usize::from(MOST) + 5) * all {
            let is_large = self.small.len() * SMALL > all && small_held < self.small.len();
            let from_small = !self.small.is_empty() && (is_large || main_held >= self.main.len());
            let (coord, uses) = if from_small { self.small.pop_front() } else { self.main.pop_front() }?;
            if from_small && uses > 0 {
                self.main.insert(coord, 0);
                continue;
            }
            if uses > 0 {
                self.main.insert(coord, uses - 1);
                main_held = 0;
                continue;
            }
            let verdict = judge(&coord);
            let queue = if from_small { &mut self.small } else { &mut self.main };
            queue.insert(coord.clone(), 0);
            match verdict {
                Verdict::Leave => return Some(coord),
                Verdict::Spare => {
                    self.touch(&coord);
                    main_held = 0;
                }
                Verdict::Stay if from_small => small_held += 1,
                Verdict::Stay => main_held += 1,
            }
        }
        None
    }
    fn walk(&self) -> Box<dyn Iterator<Item = &Coords> + '_> {
        // Each use of those in the main queue is one more time that they are passed by; those of the small one that were used go there.
        let main = (0..=MOST).flat_map(|uses| with(&self.main, uses)).collect::<Vec<_>>();
        let used = (1..=MOST).flat_map(|uses| with(&self.small, uses)).collect::<Vec<_>>();
        Box::new(with(&self.small, 0).into_iter().chain(main).chain(used))
    }
}

/// Those of a queue that have so many uses.
fn with(queue: &LinkedHashMap<Coords, u8>, uses: u8) -> Vec<&Coords> {
    queue.iter().filter(|(_, had)| **had == uses).map(|(coord, _)| coord).collect()
}
