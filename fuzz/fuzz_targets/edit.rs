//! A whole file in memory, changed here and there, and walked over then. Damage goes to fields that mean something, and checksums are put right.
#![no_main]

use fastrand::Rng;
use hyperslab_hostile::{edit, mutate_file, walk};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|bytes: &[u8]| {
    // The changes follow from the bytes, so that a finding can be seen again.
    let seed = bytes.iter().fold(0u64, |seed, byte| seed.wrapping_mul(31).wrapping_add((*byte).into()));
    let (_, after) = edit(bytes.to_vec(), &mut Rng::with_seed(seed));
    walk(after);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_file(data, size, max_size, seed, fuzzer_mutate)
});
