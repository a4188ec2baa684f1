//! Checksums put right.
//!
//! A checksum refuses nearly every change before anything behind it is read. Errors tell where a checksum is and what it should be, so that it can be
//! put right and the file tried again: no place in the code knows of fuzzing.

use hyperslab::{Error, dtype::Error as DatatypeError};
use hyperslab_base::{Fault, Malformed};
use hyperslab_chunk::Error as ChunkError;
use hyperslab_file::Error as FileError;
use hyperslab_format::virtual_mapping;

/// A checksum that is wrong.
#[derive(Clone, Copy, Debug)]
pub struct Wrong {
    /// Where the structure is.
    address: u64,
    /// Where the checksum ends in it.
    end: u64,
    stored: u32,
    computed: u32,
    /// Whether it lies somewhere in the heap whose address is known, as a mapping of a virtual dataset does.
    is_in_heap: bool,
}

/// Puts checksums right; whether that changed anything.
///
/// ```
/// use hyperslab_base::{Defect, Fault, Malformed};
/// use hyperslab_hostile::repair::{Wrong, checksums};
/// let fault = Fault::Checksum { stored: 0, computed: 0x107 };
/// let error = Malformed::new(Defect { what: "heap", at: 5, fault, why: "damaged".into() });
/// let mut bytes = vec![0; 8];
/// assert!(checksums(&mut bytes, 0, Wrong::new(2, &error)));
/// assert_eq!(bytes, [0, 0, 0, 7, 1, 0, 0, 0]);
/// ```
pub fn checksums(bytes: &mut [u8], base: u64, wrong: impl IntoIterator<Item = Wrong>) -> bool {
    wrong.into_iter().filter(|wrong| wrong.put_right(bytes, base)).count() > 0
}

impl Wrong {
    /// What is wrong with a structure at an address, if that is its checksum.
    pub fn new(address: u64, why: &Malformed) -> Option<Wrong> {
        let Fault::Checksum { stored, computed } = why.fault else { return None };
        let is_in_heap = why.what == virtual_mapping::WHAT;
        Some(Wrong { address, end: why.at as u64, stored, computed, is_in_heap })
    }

    /// What an error says of a checksum.
    pub fn of(why: &Error) -> Option<Wrong> {
        match why {
            Error::File(why) => Wrong::of_file(why),
            Error::Values(why) => Wrong::of_values(why),
            Error::Malformed(why) => Wrong::new(0, why),
            Error::Datatype(DatatypeError::Heap(why)) => Wrong::of(why.downcast_ref()?),
            Error::At { source, .. } | Error::Part { why: source, .. } => Wrong::of(source),
            _ => None,
        }
    }

    /// What an error of the file layer says of a checksum.
    pub fn of_file(why: &FileError) -> Option<Wrong> {
        match why {
            FileError::Malformed { address, source } => Wrong::new(*address, source),
            _ => None,
        }
    }

    fn of_values(why: &ChunkError) -> Option<Wrong> {
        match why {
            ChunkError::File(why) => Wrong::of_file(why),
            ChunkError::Unwritten { source, .. } => Wrong::of_values(source),
            ChunkError::SourceFailed(why) => Wrong::of(why.downcast_ref()?),
            _ => None,
        }
    }

    fn put_right(&self, bytes: &mut [u8], base: u64) -> bool {
        let (stored, computed) = (self.stored.to_le_bytes(), self.computed.to_le_bytes());
        let place = if self.is_in_heap {
            bytes.windows(4).position(|window| window == stored)
        } else {
            let place = base.checked_add(self.address).and_then(|at| at.checked_add(self.end)?.checked_sub(4));
            place.and_then(|place| usize::try_from(place).ok())
        };
        let field = place.and_then(|place| bytes.get_mut(place..)?.first_chunk_mut());
        match field {
            Some(field) if *field == stored => {
                *field = computed;
                true
            }
            _ => false,
        }
    }
}
