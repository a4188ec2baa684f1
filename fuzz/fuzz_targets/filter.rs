//! Every filter with any parameters: hostile bytes, and good ones spoiled.
#![no_main]

use arbitrary::Arbitrary;
use hyperslab_filter::{Encoded, Pipeline, Registry, Step};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::default);

/// The most bytes that a chunk may have.
const LIMIT: usize = 1 << 16;

#[derive(Arbitrary, Debug)]
struct Input {
    filter: u8,
    params: Vec<u32>,
    /// Whether the bytes are encoded before they are spoiled and decoded.
    encode: bool,
    spoil: Vec<(u16, u8)>,
    limit: u16,
    bytes: Vec<u8>,
}

fuzz_target!(|input: Input| {
    let filters: Vec<_> = REGISTRY.iter().collect();
    let filter = filters[usize::from(input.filter) % filters.len()];
    let (mut stored, mut out) = (input.bytes.clone(), Vec::new());
    if input.encode {
        match filter.encode(&input.params, &input.bytes, &mut out) {
            Ok(Encoded::Written) => stored = out.clone(),
            Ok(_) => {}
            Err(_) => return,
        }
        if input.spoil.is_empty() && filter.decode(&input.params, &stored, &mut out, LIMIT).is_err() {
            // Parameters that an encoder takes and a decoder does not are no danger.
            return;
        }
        for (at, value) in &input.spoil {
            let at = usize::from(*at) % stored.len().max(1);
            if let Some(byte) = stored.get_mut(at) {
                *byte ^= value;
            }
        }
    }
    let limit = usize::from(input.limit);
    out = Vec::new();
    if filter.decode(&input.params, &stored, &mut out, limit).is_ok() {
        assert!(out.len() <= limit);
    }
    assert!(out.capacity() <= 2 * limit.max(64), "room for {} bytes where {limit} are allowed", out.capacity());
    let step = Step::mandatory(filter.id(), input.params);
    let pipeline = Pipeline::new(vec![step.clone(), step]).expect("two steps");
    let _ = pipeline.decode(&REGISTRY, &stored, 0, limit, &mut out, &mut Vec::new());
});
