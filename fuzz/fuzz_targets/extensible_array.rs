//! Extensible arrays.
#![no_main]

use hyperslab_fuzz::structures;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| structures::extensible_array(bytes));
