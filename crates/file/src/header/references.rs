//! How many hard links name an object.
//!
//! The count is in the first block as a rule, and changes there.

use hyperslab_format::message::{self, kind};

use super::{Header, HeaderEdit};
use crate::{Error, OpenFile, Result};

impl Header {
    /// How many hard links name the object.
    pub fn references(&self) -> Result<u32> {
        match self.find(kind::REFERENCE_COUNT) {
            Some(found) => message::reference_count(self.body(found)).map_err(Error::at(self.address())),
            None => Ok(self.prefix().references.unwrap_or(1)),
        }
    }

    /// Says how many hard links name the object at `address`.
    pub fn set_references(file: &OpenFile, address: u64, count: u32) -> Result<()> {
        let header = Header::read(file, address)?;
        let mut prefix = header.prefix().clone();
        prefix.references = prefix.references.map(|_| count);
        let body = message::encode_reference_count(count);
        let patched = match (prefix.version, header.find(kind::REFERENCE_COUNT)) {
            (1, None) => header.put_patched(file, prefix, &[])?,
            (2, Some(found)) if count > 1 => header.put_patched(file, prefix, &[(found, &body)])?,
            _ => false,
        };
        if patched {
            return Ok(());
        }
        let mut edit = HeaderEdit::open(file, address)?;
        edit.set_references(count)?;
        edit.save().map(drop)
    }
}
