//! Parts of a file that could not be read.

use std::fmt;

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

/// A few of the parts that are lost, in words.
pub(super) fn words(lost: &[Lost]) -> String {
    const SHOWN: usize = 3;
    let mut words = lost.iter().take(SHOWN).map(Lost::to_string).collect::<Vec<_>>().join("; ");
    if lost.len() > SHOWN {
        words.push_str(&format!("; and {} more", lost.len() - SHOWN));
    }
    words
}
