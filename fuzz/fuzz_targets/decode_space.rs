//! Hostile bytes as a whole encoded dataspace.
#![no_main]

use hyperslab_fuzz::{survives_every_form, survives_questions};
use hyperslab_space::Space;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(space) = Space::decode(bytes) {
        survives_questions(&space);
        survives_every_form(&space);
    }
});
