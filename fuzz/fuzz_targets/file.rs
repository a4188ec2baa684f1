//! A whole file in memory, walked over. Damage goes to fields that mean something, and checksums are put right.
#![no_main]

use hyperslab_hostile::{mutate_file, walk};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|bytes: &[u8]| {
    walk(bytes.to_vec());
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_file(data, size, max_size, seed, fuzzer_mutate)
});
