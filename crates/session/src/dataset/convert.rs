//! Conversion of values that need no heap, on all cores.

use hyperslab_driver::cores;
use hyperslab_dtype::{NoHeap, Plan};

use crate::{Error, Result};

/// Bytes that one thread converts at a time.
const BLOCK: usize = 256 << 10;

/// Converts values without variable-length parts, many of them on all cores.
pub fn convert(plan: &Plan, (from, to): (usize, usize), stored: &[u8], places: &mut [u8]) -> Result<()> {
    let (from, to) = (from.max(1), to.max(1));
    let one = |stored: &[u8], places: &mut [u8]| {
        plan.convert(stored.len() / from, stored, places, &NoHeap, &mut NoHeap).map_err(Error::from)
    };
    if stored.len().max(places.len()) <= 2 * BLOCK {
        return one(stored, places);
    }
    let together = (BLOCK / from.max(to)).max(1);
    let blocks = stored.chunks(together * from).zip(places.chunks_mut(together * to));
    let converted =
        cores::map(blocks.collect(), |_: &mut (), (stored, places): (&[u8], &mut [u8])| one(stored, places));
    converted.map(drop)
}
