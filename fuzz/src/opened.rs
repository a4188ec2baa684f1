//! Any bytes as an open file, whose structures can be read wherever they are.

use std::sync::Arc;

use hyperslab_base::lookup3;
use hyperslab_driver::Memory;
use hyperslab_file::{OpenFile, OpenOptions, Result};
use hyperslab_hostile::repair::{self, Wrong};

/// Places at which a structure is tried.
const PLACES: usize = 8;
/// How often checksums are put right before the try that counts.
const REPAIRS: usize = 8;
/// The bytes of the superblock.
const SUPERBLOCK: usize = 48;

/// Tries to read a structure at every place that has its signature; what checksums refuse is put right and tried again.
pub(crate) fn at_each(bytes: &[u8], signature: &[u8], read: impl Fn(&OpenFile, u64) -> Result<()>) {
    let places = bytes.windows(signature.len()).enumerate().filter(|(_, window)| *window == signature);
    let places: Vec<u64> = places.map(|(place, _)| place as u64).take(PLACES).collect();
    at_places(bytes, &places, read);
}

/// As [`at_each`], at given places.
pub(crate) fn at_places(bytes: &[u8], places: &[u64], read: impl Fn(&OpenFile, u64) -> Result<()>) {
    let mut bytes = bytes.to_vec();
    for &place in places {
        for _ in 0..REPAIRS {
            let Some(file) = open(&bytes) else { return };
            let Err(why) = read(&file, place) else { break };
            if !repair::checksums(&mut bytes, 0, Wrong::of_file(&why)) {
                break;
            }
        }
    }
}

/// The bytes behind a superblock that says nothing; byte 47 chooses the widths.
fn open(bytes: &[u8]) -> Option<OpenFile> {
    let width = [8, 8, 8, 4, 2][usize::from(*bytes.get(SUPERBLOCK - 1)?) % 5];
    let mut head = b"\x89HDF\r\n\x1a\n\x02".to_vec();
    head.extend([width, width, 0]);
    head.resize(12 + usize::from(width), 0);
    head.resize(12 + 4 * usize::from(width), 0xff);
    head.extend(lookup3(&head).to_le_bytes());
    let mut bytes = bytes.to_vec();
    bytes.get_mut(..head.len())?.copy_from_slice(&head);
    OpenFile::open(Arc::new(Memory::from(bytes)), &OpenOptions::default()).ok()
}
