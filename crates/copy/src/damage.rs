//! Whose fault it is if a step of a copy fails.

use hyperslab_session::Error;

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
