//! The local heap: the names of an old-style group.

use std::cmp::Ordering;

use hyperslab_file::{Error, OpenFile, Result};
use hyperslab_format::heap;

const WHAT: &str = "local heap";

/// A local heap with its data.
#[derive(Clone, Debug)]
pub struct LocalHeap {
    address: u64,
    data: Vec<u8>,
}

impl LocalHeap {
    /// Reads the heap.
    pub fn open(file: &OpenFile, address: u64) -> Result<LocalHeap> {
        let widths = file.widths();
        let head = file.metadata(WHAT, address, heap::LocalHeap::size(widths) as u64)?;
        let head = heap::LocalHeap::decode(&head, widths).map_err(Error::at(address))?;
        let data = match head.data {
            Some(data) => file.metadata(WHAT, data, head.size)?,
            None => Vec::new(),
        };
        Ok(LocalHeap { address, data })
    }

    /// The string at a place in the heap, without the zero that ends it.
    pub fn string(&self, place: u64) -> Result<&[u8]> {
        self.rest(place).map(up_to_zero)
    }

    /// How the string at a place stands to a name. Looks at no more bytes than the name has: strings of a bad heap may be as long as
    /// the file.
    pub fn compare(&self, place: u64, name: &[u8]) -> Result<Ordering> {
        let rest = self.rest(place)?;
        Ok(up_to_zero(rest.get(..=name.len()).unwrap_or(rest)).cmp(name))
    }

    /// Everything from a place on.
    fn rest(&self, place: u64) -> Result<&[u8]> {
        let start = usize::try_from(place).unwrap_or(usize::MAX);
        let rest = self.data.get(start..).filter(|rest| !rest.is_empty());
        rest.ok_or_else(|| Error::broken(WHAT, self.address, format!("no string at {place}")))
    }
}

fn up_to_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or(bytes)
}
