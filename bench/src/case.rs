//! What a case is, and what comes of it.

use crate::clock::Times;
use crate::libhdf5::Hdf5;
use anyhow::Result;
use serde::Serialize;

/// What is timed on both sides.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// How many times faster than the other side it should be.
    pub(crate) aim: f64,
    pub(crate) run: Run,
}

/// Times both sides: ours first.
pub(crate) type Run = fn(&Hdf5) -> Result<(Times, Times)>;

/// One line of the table.
#[derive(Serialize)]
pub(crate) struct Timing {
    pub(crate) name: &'static str,
    pub(crate) aim: f64,
    pub(crate) ours: Times,
    pub(crate) theirs: Times,
}

impl Case {
    pub(crate) fn time(&self, hdf5: &Hdf5) -> Result<Timing> {
        let (ours, theirs) = (self.run)(hdf5)?;
        Ok(Timing { name: self.name, aim: self.aim, ours, theirs })
    }
}
