//! A whole file in memory, changed here and there, and walked over then. Damage goes to fields that mean something, and checksums are put right.
#![no_main]

use fastrand::Rng;
use hyperslab_hostile::{edit, mutate, repair_file, walk};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|bytes: &[u8]| {
    // The changes follow from the bytes, so that a finding can be seen again.
    let seed = bytes.iter().fold(0u64, |seed, byte| seed.wrapping_mul(31).wrapping_add((*byte).into()));
    let (_, after) = edit(bytes.to_vec(), &mut Rng::with_seed(seed));
    walk(after);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut rng = Rng::with_seed(seed.into());
    let mut bytes = data[..size].to_vec();
    if rng.u8(..4) == 0 {
        let size = fuzzer_mutate(data, size, max_size);
        bytes = data[..size].to_vec();
    } else {
        let other = bytes.clone();
        mutate(&mut bytes, &other, max_size, &mut rng);
    }
    repair_file(&mut bytes);
    data[..bytes.len()].copy_from_slice(&bytes);
    bytes.len()
});
