//! Chunks that need no coding earn their place in the cache: parts of them are read and written past it until it pays to have all of them.

use std::collections::HashMap;

use hyperslab_space::Coords;
use parking_lot::Mutex;

/// A chunk is worth its place when so small a part of it was used.
const ENOUGH: u64 = 16;
/// More chunks are not remembered.
const MOST: usize = 4096;

/// The bytes that were used of chunks that are not in the cache.
#[derive(Debug, Default)]
pub(super) struct ReuseCounter(Mutex<HashMap<Coords, u64>>);

impl ReuseCounter {
    /// Counts a use of a chunk of `bytes`. Whether the chunk was used so much before that it is worth its place; then the counting begins anew.
    pub(super) fn count_use(&self, coord: &Coords, used: u64, bytes: u64) -> bool {
        let mut reuse = self.0.lock();
        if let Some(before) = reuse.get_mut(coord) {
            *before = before.saturating_add(used);
            let is_enough = before.saturating_sub(used).saturating_mul(ENOUGH) >= bytes;
            if is_enough {
                reuse.remove(coord);
            }
            return is_enough;
        }
        if reuse.len() == MOST {
            reuse.clear();
        }
        reuse.insert(coord.clone(), used);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_half_is_worth_it_and_the_second_point_is_not() {
        let (reuse, coord) = (ReuseCounter::default(), Coords::from_slice(&[1, 2]));
        assert!(!reuse.count_use(&coord, 50, 100));
        assert!(reuse.count_use(&coord, 50, 100));
        let points = (0..100).position(|_| reuse.count_use(&coord, 1, 100));
        assert_eq!(points, Some(7));
    }
}
