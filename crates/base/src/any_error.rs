//! Errors that pass through a layer that does not know their type.

use std::{error::Error, fmt};

use crate::ErrorKind;

/// An error that has a kind.
pub trait Classified: Error + Send + Sync + 'static {
    /// What went wrong.
    fn kind(&self) -> ErrorKind;
}

/// An error of a caller's own, passed on by a layer below that knows its kind only. Its text and its causes are those of the error itself.
///
/// ```
/// use hyperslab_base::{AnyError, ErrorKind};
/// let error = AnyError::new(ErrorKind::Malformed, "no such object");
/// assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Malformed, "no such object"));
/// ```
#[derive(Debug)]
pub struct AnyError {
    kind: ErrorKind,
    error: Box<dyn Error + Send + Sync>,
}

impl AnyError {
    /// An error of a kind.
    pub fn new(kind: ErrorKind, error: impl Into<Box<dyn Error + Send + Sync>>) -> AnyError {
        AnyError { kind, error: error.into() }
    }

    /// An error about what is stored in a file. That the same would be no good argument of a caller makes it malformed; other kinds, such as too little memory,
    /// stay.
    ///
    /// ```
    /// use hyperslab_base::{AnyError, ErrorKind};
    /// let refused = AnyError::new(ErrorKind::InvalidArgument, "a rank of 40");
    /// assert_eq!(refused.of_stored().kind(), ErrorKind::Malformed);
    /// let memory = AnyError::new(ErrorKind::OutOfMemory, "no memory for 9 bytes");
    /// assert_eq!(memory.of_stored().kind(), ErrorKind::OutOfMemory);
    /// ```
    #[must_use]
    pub fn of_stored(self) -> AnyError {
        let kind = match self.kind {
            ErrorKind::InvalidArgument
            | ErrorKind::InvalidValue
            | ErrorKind::ExtentMismatch
            | ErrorKind::TypeMismatch => ErrorKind::Malformed,
            kind => kind,
        };
        AnyError { kind, ..self }
    }

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The error itself, if it is of this type.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.error.downcast_ref()
    }

    /// As [`AnyError::downcast_ref`], by value.
    pub fn downcast<E: Error + 'static>(self) -> Result<E, AnyError> {
        let AnyError { kind, error } = self;
        error.downcast().map(|error| *error).map_err(|error| AnyError { kind, error })
    }
}

impl<E: Classified> From<E> for AnyError {
    fn from(error: E) -> AnyError {
        AnyError { kind: error.kind(), error: Box::new(error) }
    }
}

impl fmt::Display for AnyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for AnyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
