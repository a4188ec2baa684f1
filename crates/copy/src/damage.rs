//! What cannot be read of the source of a copy.

use hyperslab_object::PathId;
use hyperslab_session::{Error, Lost, Result};

use crate::tree::Copier;

/// Why a step of a copy failed: only what is wrong with the source can be left out.
pub(super) enum Trouble {
    /// The source cannot be read.
    Source(Error),
    /// The target cannot be written, or something is asked for that cannot be.
    Target(Error),
}

impl Trouble {
    /// The error, whichever side it is of.
    pub(super) fn into_error(self) -> Error {
        match self {
            Trouble::Source(why) | Trouble::Target(why) => why,
        }
    }
}

impl From<Error> for Trouble {
    fn from(why: Error) -> Trouble {
        Trouble::Target(why)
    }
}

/// The result of a step.
pub(super) type Step<T> = std::result::Result<T, Trouble>;

/// Something that is read from the source of a copy.
pub(super) trait OfSource<T> {
    /// An error is one of the source.
    fn of_source(self) -> Step<T>;
}

impl<T, E: Into<Error>> OfSource<T> for std::result::Result<T, E> {
    fn of_source(self) -> Step<T> {
        self.map_err(|why| Trouble::Source(why.into()))
    }
}

impl Copier<'_> {
    /// Notes what is wrong with the source of a step; the step is left out. All else is an error at once.
    pub(super) fn leave_out<T>(&mut self, step: Step<T>, path: impl FnOnce(&Self) -> String) -> Result<Option<T>> {
        match step {
            Ok(done) => Ok(Some(done)),
            Err(Trouble::Source(why)) => {
                let path = path(self);
                self.lost.push(Lost::new(path, why));
                Ok(None)
            }
            Err(Trouble::Target(why)) => Err(why),
        }
    }

    /// The path of an object as text.
    pub(super) fn path(&self, path: PathId) -> String {
        String::from_utf8_lossy(&self.paths.get(path)).into_owned()
    }

    /// An error if something was left out, unless that is allowed.
    pub(super) fn is_whole(&mut self) -> Result<()> {
        match self.skips || self.lost.is_empty() {
            true => Ok(()),
            false => Err(Error::Damaged(std::mem::take(&mut self.lost))),
        }
    }
}
