//! Parts of a file that could not be read.

use std::{error, fmt, ops::Deref};

use hyperslab_base::ErrorKind;

use crate::Error;

/// A part of a file that could not be read when it was copied.
#[derive(Debug)]
#[non_exhaustive]
pub struct Lost {
    /// The path of the object; that of an attribute is behind an `@`.
    pub path: String,
    /// Why it could not be read.
    pub why: Box<Error>,
}

impl Lost {
    /// What is at a path could not be read.
    pub fn new(path: String, why: Error) -> Lost {
        Lost { path, why: Box::new(why) }
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.why)
    }
}

/// All parts that could not be read, in the order in which they were met. As an error it is that of the first of them.
#[derive(Debug)]
pub struct LostParts(Vec<Lost>);

impl LostParts {
    /// The kind of the first part's error.
    pub fn kind(&self) -> ErrorKind {
        self.0.first().map_or(ErrorKind::Malformed, |lost| lost.why.kind())
    }
}

impl From<Vec<Lost>> for LostParts {
    fn from(lost: Vec<Lost>) -> LostParts {
        LostParts(lost)
    }
}

impl Deref for LostParts {
    type Target = [Lost];

    fn deref(&self) -> &[Lost] {
        &self.0
    }
}

impl fmt::Display for LostParts {
    /// A few of them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 3;
        for (nth, lost) in self.0.iter().take(SHOWN).enumerate() {
            write!(f, "{}{lost}", if nth == 0 { "" } else { "; " })?;
        }
        match self.0.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl error::Error for LostParts {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.0.first().map(|lost| &*lost.why as &dyn error::Error)
    }
}
