//! Writes of several datasets.

use hyperslab_dtype::{Arena, Datatype, Plan};
use hyperslab_space::Space;

use super::{Part, bring, range_locks};
use crate::{Error, OpenDataset, Result};

/// Values for a dataset: all as in [`OpenDataset::write_converted`].
#[derive(Clone, Copy, Debug)]
pub struct PartToWrite<'a> {
    /// Which dataset.
    pub dataset: &'a OpenDataset,
    /// Which values of it.
    pub selection: &'a Space,
    /// What they are in memory.
    pub datatype: &'a Datatype,
    /// Their places in `buf`.
    pub mem_selection: &'a Space,
    /// Where they are.
    pub buf: &'a [u8],
    /// Where what is of variable length is.
    pub arena: &'a Arena,
}

/// Writes the selected values of several datasets. Whatever is wrong with a part is found out before anything is written.
pub fn write_together(parts: &[PartToWrite<'_>]) -> Result<()> {
    check_each(parts, |part| part.check())?;
    // A write to a virtual dataset waits for the range locks of its sources, and must have none then; and parts keep their order.
    if parts.iter().any(|part| part.dataset.is_virtual()) {
        return write_each(parts, |part| part.write());
    }
    let wanted: Vec<Part<'_>> = parts.iter().map(|part| (part.dataset, part.selection)).collect();
    let _guards = range_locks::to_write(&wanted)?;
    check_each(parts, |part| part.dataset.check_extent(part.selection))?;
    bring(&wanted, true)?;
    write_each(parts, |part| PartToWrite { dataset: &part.dataset.under_lock(), ..*part }.write())
}

fn check_each(parts: &[PartToWrite<'_>], check: impl Fn(&PartToWrite<'_>) -> Result<()>) -> Result<()> {
    parts.iter().enumerate().try_for_each(|(nth, part)| check(part).map_err(|why| Error::part(nth, 0, why)))
}

fn write_each(parts: &[PartToWrite<'_>], write: impl Fn(&PartToWrite<'_>) -> Result<()>) -> Result<()> {
    parts.iter().enumerate().try_for_each(|(nth, part)| write(part).map_err(|why| Error::part(nth, nth, why)))
}

impl PartToWrite<'_> {
    /// Refuses what cannot be written, whatever the storage does.
    fn check(&self) -> Result<()> {
        self.dataset.check_write(self.selection, self.datatype.size(), self.mem_selection, self.buf)?;
        Plan::new(self.datatype, self.dataset.stored_datatype())?;
        Ok(())
    }

    fn write(&self) -> Result<()> {
        self.dataset.write_converted(self.selection, self.datatype, self.mem_selection, self.buf, self.arena)
    }
}
