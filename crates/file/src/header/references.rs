//! How many hard links name an object.
//!
//! The count is in the first block as a rule. A change of it leaves all other blocks and messages as they are, and costs the same however many there are.

use std::sync::Arc;

use hyperslab_format::{
    message::{self, kind},
    object_header,
};

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
        if let Some((first, changed)) = header.counting(count)? {
            return file.put_decoded(address, first, Arc::new(changed));
        }
        let mut edit = HeaderEdit::open(file, address)?;
        edit.set_references(count)?;
        edit.save().map(drop)
    }

    /// The first block and the header with another count, if nothing else changes: no message comes or goes, none is marked.
    fn counting(&self, count: u32) -> Result<Option<(Arc<Vec<u8>>, Header)>> {
        self.check_changeable()?;
        let (counted, body) = (self.find(kind::REFERENCE_COUNT), message::encode_reference_count(count));
        let is_in_place = match (self.prefix().version, counted) {
            (1, None) => true,
            (2, Some(found)) => count > 1 && found.is_in_first_block() && self.body(found).len() == body.len(),
            _ => false,
        };
        if !is_in_place || self.unknown().next().is_some() {
            return Ok(None);
        }
        let mut prefix = self.prefix().clone();
        prefix.references = prefix.references.map(|_| count);
        let framed = self.first_block().map(|found| object_header::Message {
            kind: found.kind,
            flags: found.flags,
            order: found.order,
            body: if found.kind == kind::REFERENCE_COUNT { &body } else { self.body(found) },
        });
        let first = Arc::new(prefix.encode_first(&framed.collect::<Vec<_>>())?);
        Ok(self.with_first(prefix, &first).map(|header| (first, header)))
    }
}
