//! The global heap: collections of values of any size.

use std::{collections::HashMap, ops::Range};

use hyperslab_file::{Error, OpenFile, Result};
use hyperslab_format::heap::global;

const WHAT: &str = "global heap collection";
/// The size that nearly all collections have.
const GUESS: u64 = 4096;

/// A collection, whole in memory.
#[derive(Debug)]
pub struct Collection {
    address: u64,
    bytes: Vec<u8>,
    objects: HashMap<u16, Range<usize>>,
}

impl Collection {
    /// Reads a collection.
    pub fn read(file: &OpenFile, address: u64) -> Result<Collection> {
        let widths = file.widths();
        let mut bytes = file.metadata_up_to(WHAT, address, GUESS)?;
        let size = global::decode_size(&bytes, widths).map_err(Error::at(address))?;
        if size > bytes.len() as u64 {
            bytes = file.metadata(WHAT, address, size)?;
        }
        bytes.truncate(usize::try_from(size).unwrap_or(usize::MAX));
        let objects = global::decode(&bytes, widths).map_err(Error::at(address))?;
        Ok(Collection { address, bytes, objects: objects.into_iter().collect() })
    }

    /// An object of the collection.
    pub fn get(&self, index: u32) -> Result<&[u8]> {
        let place = u16::try_from(index).ok().and_then(|index| self.objects.get(&index));
        let bytes = place.and_then(|place| self.bytes.get(place.clone()));
        bytes.ok_or_else(|| Error::broken(WHAT, self.address, format!("it has no object {index}")))
    }

    /// How many bytes it takes in memory.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }
}
