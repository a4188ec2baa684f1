//! A chunk of one hundred bytes, for tests of the cache.

use hyperslab_cache::Footprint;
use hyperslab_space::Coords;

/// What a chunk of these tests takes.
pub(crate) const BYTES: usize = 100;

pub(crate) struct Hundred;

impl Footprint for Hundred {
    type Source = ();
    type Encoded = Vec<u8>;

    fn footprint(&self) -> usize {
        BYTES
    }

    fn encoded_footprint(encoded: &Vec<u8>) -> usize {
        encoded.capacity()
    }
}

/// The place of a chunk in a grid of one dimension.
pub(crate) fn at(coord: u64) -> Coords {
    Coords::from_slice(&[coord])
}
