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
pub(super) struct Earned(Mutex<HashMap<Coords, u64>>);

impl Earned {
    /// Whether a chunk of `bytes` was used so much before that it is worth its place; if not, this use counts for the next.
    pub(super) fn is_enough(&self, place: &Coords, used: u64, bytes: u64) -> bool {
        let mut earned = self.0.lock();
        if let Some(before) = earned.get_mut(place) {
            *before = before.saturating_add(used);
            let is_enough = before.saturating_sub(used).saturating_mul(ENOUGH) >= bytes;
            if is_enough {
                earned.remove(place);
            }
            return is_enough;
        }
        if earned.len() == MOST {
            earned.clear();
        }
        earned.insert(place.clone(), used);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_half_is_worth_it_and_the_second_point_is_not() {
        let (earned, place) = (Earned::default(), Coords::from_slice(&[1, 2]));
        assert!(!earned.is_enough(&place, 50, 100));
        assert!(earned.is_enough(&place, 50, 100));
        let points = (0..100).position(|_| earned.is_enough(&place, 1, 100));
        assert_eq!(points, Some(7));
    }
}
