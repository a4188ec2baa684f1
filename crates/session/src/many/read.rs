//! Reads of several datasets.

use super::{Part, bring, range_locks};
use crate::{Error, OpenDataset, Result};

/// Reads all parts by their number, under the range locks of all.
pub fn read_together(all: &[Part<'_>], read: &mut dyn FnMut(usize, &OpenDataset) -> Result<()>) -> Result<()> {
    // A read of a virtual dataset waits for the range locks of its sources, and must have none then.
    let (own, others): (Vec<_>, Vec<_>) = (0..).zip(all).partition(|(_, (dataset, _))| !dataset.is_virtual());
    let parts: Vec<_> = own.iter().map(|(_, part)| **part).collect();
    let guards = range_locks::to_read(&parts)?;
    for (nth, (dataset, selection)) in all.iter().enumerate() {
        dataset.check_extent(selection).map_err(|why| Error::part(nth, 0, why))?;
    }
    bring(&parts, false)?;
    for (nth, (dataset, _)) in own {
        read(nth, &dataset.under_lock()).map_err(|why| Error::part(nth, 0, why))?;
    }
    drop(guards);
    others.into_iter().try_for_each(|(nth, (dataset, _))| read(nth, dataset).map_err(|why| Error::part(nth, 0, why)))
}
