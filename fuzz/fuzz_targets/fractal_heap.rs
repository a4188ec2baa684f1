//! Fractal heaps: objects under any id.
#![no_main]

use hyperslab_fuzz::structures;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| structures::fractal_heap(bytes));
