//! Names of compound and enumeration members.

use std::fmt;

use crate::{Error, Result};

/// A name as a file has it: bytes, mostly UTF-8, without a NUL.
///
/// ```
/// use hyperslab_dtype::Name;
/// let name = Name::new("énergie")?;
/// assert_eq!(name.to_string(), "énergie");
/// assert!(Name::new(b"a\0b").is_err());
/// # Ok::<(), hyperslab_dtype::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Box<[u8]>);

impl Name {
    /// A name of these bytes.
    pub fn new(bytes: impl AsRef<[u8]>) -> Result<Name> {
        let bytes = bytes.as_ref();
        if bytes.contains(&0) {
            return Err(Error::invalid("named member", "a name cannot hold a NUL"));
        }
        Ok(Name(bytes.into()))
    }

    /// A name known to hold no NUL.
    pub(crate) fn of_literal(name: &str) -> Name {
        Name(name.as_bytes().into())
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&String::from_utf8_lossy(&self.0), out)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&String::from_utf8_lossy(&self.0), out)
    }
}
