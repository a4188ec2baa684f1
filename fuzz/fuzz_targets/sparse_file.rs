//! The sections of a sparse chunk: any bytes as its selection, under a right checksum, and as its values, or as its slots and what they name where values are of variable
//! length. The file is walked over, changed and walked over again.
#![no_main]

use fastrand::Rng;
use hyperslab_base::lookup3;
use hyperslab_hostile::{edit, sparse_file, sparse_vlen_file, walk};
use libfuzzer_sys::fuzz_target;

/// The most values that a chunk gets: those of all its elements, and some more.
const VALUES: usize = 1_300;

fuzz_target!(|bytes: &[u8]| {
    let Some((head, rest)) = bytes.split_first_chunk() else { return };
    let head = u16::from_le_bytes(*head);
    let file = if head < 1 << 15 {
        sparse_file(rest, &vec![1; usize::from(head) % VALUES])
    } else {
        let (selection, rest) = rest.split_at(usize::from(head & 0xff).min(rest.len()));
        let (slots, segments) = rest.split_at((usize::from((head >> 8) & 0x7f) * 4).min(rest.len()));
        sparse_vlen_file(selection, slots, segments)
    };
    let Ok(file) = file else { return };
    walk(file.clone());
    // The changes follow from the bytes, so that a finding can be seen again.
    let (_, after) = edit(file, &mut Rng::with_seed(lookup3(rest).into()));
    walk(after);
});
