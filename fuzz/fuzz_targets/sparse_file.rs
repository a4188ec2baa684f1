//! The sections of a sparse chunk: any bytes as its selection, under a right checksum, and as its values. The file is walked over, changed and walked over again.
#![no_main]

use fastrand::Rng;
use hyperslab_base::lookup3;
use hyperslab_hostile::{edit, sparse_file, walk};
use libfuzzer_sys::fuzz_target;

/// The most values that a chunk gets: those of all its elements, and some more.
const VALUES: usize = 1_300;

fuzz_target!(|bytes: &[u8]| {
    let Some((head, selection)) = bytes.split_first_chunk() else { return };
    let values = vec![1; usize::from(u16::from_le_bytes(*head)) % VALUES];
    let Ok(file) = sparse_file(selection, &values) else { return };
    walk(file.clone());
    // The changes follow from the bytes, so that a finding can be seen again.
    let (_, after) = edit(file, &mut Rng::with_seed(lookup3(selection).into()));
    walk(after);
});
