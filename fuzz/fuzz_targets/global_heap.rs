//! Collections of the global heap, and each object as the mapping of a virtual dataset.
#![no_main]

use hyperslab_fuzz::structures;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| structures::global_heap(bytes));
