//! Reads of several datasets.

use super::{Part, bring, turns};
use crate::{Error, OpenDataset, Result};

/// Reads all parts by their number, when it is the turn for all.
pub fn read_together(all: &[Part<'_>], read: &mut dyn FnMut(usize, &OpenDataset) -> Result<()>) -> Result<()> {
    // A read of a virtual dataset waits for the turns of its sources, and must have none then.
    let (own, others): (Vec<_>, Vec<_>) = (0..).zip(all).partition(|(_, (dataset, _))| !dataset.is_virtual());
    let parts: Vec<_> = own.iter().map(|(_, part)| **part).collect();
    let turns = turns::to_read(&parts)?;
    for (nth, (dataset, selection)) in all.iter().enumerate() {
        dataset.check_extent(selection).map_err(|why| Error::part(nth, 0, why))?;
    }
    bring(&parts, false)?;
    for (nth, (dataset, _)) in own {
        read(nth, &dataset.in_turn()).map_err(|why| Error::part(nth, 0, why))?;
    }
    drop(turns);
    others.into_iter().try_for_each(|(nth, (dataset, _))| read(nth, dataset).map_err(|why| Error::part(nth, 0, why)))
}
