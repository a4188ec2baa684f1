//! Hostile bytes as a selection of an extent that is well formed.
#![no_main]

use arbitrary::Arbitrary;
use hyperslab_fuzz::{survives_every_form, survives_questions};
use hyperslab_space::{Extent, Space};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input {
    dims: Vec<u32>,
    bytes: Vec<u8>,
}

fuzz_target!(|input: Input| {
    let dims: Vec<u64> = input.dims.iter().take(5).map(|&size| size.into()).collect();
    let Ok(extent) = Extent::simple(&dims) else { return };
    if let Ok((space, taken)) = Space::decode_selection(extent, &input.bytes) {
        assert!(taken <= input.bytes.len());
        survives_questions(&space);
        survives_every_form(&space);
    }
});
