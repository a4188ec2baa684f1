//! The door of all requests: a selection is one of the extent that the dataset has while the request runs.
//!
//! A request takes its range lock first and checks its selection then. A resize locks the whole dataset, so the extent stays as it
//! was checked until the request is done. Requests that take all values, or a slice, find out the extent themselves: they run again if a
//! resize came between.

use hyperslab_space::{Extent, Space};

use super::OpenDataset;
use crate::{Error, Result};

/// A request that meets so many resizes in a row gives up.
const MOST_TRIES: usize = 1000;

impl OpenDataset {
    /// Refuses a deleted dataset, a selection of another extent, and one that reaches over its extent. The result holds for the request if
    /// the caller holds a range lock, or if the caller holds the state of the dataset.
    pub fn check_extent(&self, selection: &Space) -> Result<()> {
        self.session().check_alive(self.life())?;
        self.inner.storage.with_state(|state| self.check_selection(selection, &state.extent))
    }

    /// As [`OpenDataset::check_extent`], for a caller that holds the state of the dataset.
    pub(super) fn check_selection(&self, selection: &Space, extent: &Extent) -> Result<()> {
        if selection.extent().is_null() != extent.is_null() || selection.dims() != extent.dims() {
            let (extent, selection) = (extent.dims().to_vec(), selection.dims().to_vec());
            return Err(Error::Extent { dataset: self.address(), extent, selection });
        }
        Ok(selection.check_inside()?)
    }

    /// Runs a request that selects in the extent of the moment, again if the dataset was resized before the request had its range lock.
    pub fn with_extent<T>(&self, mut request: impl FnMut() -> Result<T>) -> Result<T> {
        for _ in 0..MOST_TRIES {
            match request() {
                Err(why) if self.was_resized(&why) => {}
                done => return done,
            }
        }
        request()
    }

    /// Whether a request that selected in the extent of the moment failed because the dataset had another one when it got its range lock. By now it may have
    /// the first one again.
    pub(crate) fn was_resized(&self, why: &Error) -> bool {
        matches!(why, Error::Extent { dataset, .. } if *dataset == self.address())
    }
}
