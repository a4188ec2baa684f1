//! Trees of the second kind, records of every kind.
#![no_main]

use hyperslab_fuzz::structures;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| structures::btree_v2(bytes));
