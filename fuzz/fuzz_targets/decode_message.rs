//! Hostile bytes as the superblock, a header message or another structure that stands alone; the first byte says which.
#![no_main]

use hyperslab_fuzz::messages;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let [kind, widths, body @ ..] = bytes {
        messages::decode(*kind, *widths, body);
    }
});
