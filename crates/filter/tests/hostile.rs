//! Bad bytes and bad parameters give an error or other bytes; never a panic, nor more bytes than allowed.

use hyperslab_filter::*;
use proptest::prelude::*;

use crate::steps::{data, first_step, step};

const LIMIT: usize = 20_000;

fn try_decode(id: u16, params: &[u32], input: &[u8], limit: usize) {
    let registry = Registry::default();
    let mut out = Vec::new();
    let filter = registry.get(id).unwrap();
    let result = filter.decode(params, input, &mut out, limit);
    if result.is_ok() {
        assert!(out.len() <= limit);
    }
    let most = filter.decoded_bound(params, input.len() as u64).map_or(limit, |most| limit.min(most as usize));
    // Vectors may double while they grow.
    assert!(out.capacity() <= 2 * most.max(64), "room for {} bytes where {most} are allowed", out.capacity());
}

fn any_id() -> impl Strategy<Value = u16> {
    prop::sample::select(Registry::default().iter().map(|filter| filter.id()).collect::<Vec<_>>())
}

fn small_number() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0u32..9, 2 => 0u32..300, 1 => any::<u32>()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_and_parameters(
        id in any_id(),
        params in prop::collection::vec(small_number(), 0..24),
        input in prop::collection::vec(any::<u8>(), 0..400),
        limit in 0usize..3000,
    ) {
        try_decode(id, &params, &input, limit);
        let _ = Registry::default().get(id).unwrap().encode(&params, &input, &mut Vec::new());
    }

    #[test]
    fn spoiled_encodings(
        (step, raw) in (2u32..600).prop_flat_map(|n| (prop_oneof![first_step(n).boxed(), step().boxed()], data(n))),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0u32..8), 0..6),
        early in 0usize..80,
        cut in prop::option::of(any::<prop::sample::Index>()),
        short in any::<bool>(),
    ) {
        let registry = Registry::default();
        let filter = registry.get(step.id).unwrap();
        let mut stored = Vec::new();
        if filter.encode(&step.params, &raw, &mut stored).unwrap() == Encoded::Written && !stored.is_empty() {
            for (place, bit) in flips {
                // Half of them near the front, where the lengths are.
                let at = if bit % 2 == 0 { place.index(stored.len()) } else { place.index(stored.len().min(early + 1)) };
                stored[at] ^= 1 << bit;
            }
            if let Some(cut) = cut {
                stored.truncate(cut.index(stored.len()));
            }
            try_decode(step.id, &step.params, &stored, if short { raw.len() - 1 } else { raw.len() });
            try_decode(step.id, &step.params, &stored, LIMIT);
        }
    }

    #[test]
    fn spoiled_parameters(
        (step, raw) in (2u32..300).prop_flat_map(|n| (prop_oneof![first_step(n).boxed(), step().boxed()], data(n))),
        changes in prop::collection::vec((any::<prop::sample::Index>(), small_number()), 1..4),
    ) {
        let registry = Registry::default();
        let filter = registry.get(step.id).unwrap();
        let mut stored = Vec::new();
        filter.encode(&step.params, &raw, &mut stored).unwrap();
        let mut params = step.params;
        for (place, value) in changes {
            if !params.is_empty() {
                let at = place.index(params.len());
                params[at] = value;
            }
        }
        try_decode(step.id, &params, &stored, LIMIT);
        let _ = filter.encode(&params, &raw, &mut stored);
    }
}

#[test]
fn a_chunk_that_says_it_is_huge_gets_no_room() {
    let huge_lz4: Vec<u8> = [u64::MAX.to_be_bytes().to_vec(), vec![0x7f; 40]].concat();
    for (id, input) in [
        (Lz4::ID, huge_lz4.clone()),
        (Bitshuffle::ID, huge_lz4),
        (Szip::ID, vec![0xff; 40]),
        (Vbz::ID, vec![0xff; 40]),
        (Blosc::ID, vec![2, 1, 0x11, 4, 0xff, 0xff, 0xff, 0x7f, 0, 0, 1, 0, 40, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 9]),
    ] {
        let params = match id {
            Szip::ID => vec![169, 8, 32, 1024],
            Vbz::ID => Vbz::params(0, 2, true, 0),
            _ => vec![0, 4, 4, 0, 2],
        };
        try_decode(id, &params, &input, LIMIT);
    }
}

/// The length that a chunk tells is not believed where its filter cannot make so many bytes of it.
#[test]
fn a_chunk_of_few_bytes_gets_room_for_what_it_can_be() {
    const GIB: usize = 1 << 30;
    let told = [(GIB as u64).to_be_bytes().to_vec(), 4096u32.to_be_bytes().to_vec(), vec![1; 400]].concat();
    let blosc =
        [vec![2, 1, 0x11 | 1 << 5, 4, 0, 0, 0, 64, 0, 0, 1, 0], 400u32.to_le_bytes().to_vec(), vec![1; 400]].concat();
    let told_le = [(GIB as u32).to_le_bytes().to_vec(), vec![1; 400]].concat();
    // Each value has one bit.
    let scaled = [1u32.to_le_bytes().to_vec(), vec![8], vec![0; 400]].concat();
    let scale = ScaleOffsetType { kind: ScaleOffsetKind::Unsigned, size: 4, big_endian: false };
    let number = NbitType::Number { size: 4, big_endian: false, precision: 3, offset: 0 };
    for (id, params, input, most) in [
        (Bitshuffle::ID, Bitshuffle::params(4, 1024, BitshuffleCodec::Lz4), &told, 412 * 255),
        (Bitshuffle::ID, Bitshuffle::params(4, 1024, BitshuffleCodec::Zstd(1)), &told, 412 << 15),
        (Lz4::ID, Lz4::params(4096), &told, 412 * 255),
        (Blosc::ID, vec![2, 2, 4, 0], &blosc, 416 * 255),
        (Vbz::ID, Vbz::params(0, 4, true, 0), &told_le, 1600),
        (Szip::ID, vec![4, 32, 8, 1024], &told_le, 1 << 20),
        (Nbit::ID, Nbit::params(GIB as u32 / 4, &number).unwrap(), &told_le, 0),
        (ScaleOffset::ID, ScaleOffset::params(GIB as u32 / 4, scale, 0, None).unwrap(), &scaled, 0),
    ] {
        let (registry, mut out) = (Registry::default(), Vec::new());
        let filter = registry.get(id).unwrap();
        filter.decode(&params, input, &mut out, GIB).unwrap_err();
        assert!(out.capacity() <= most, "filter {id} took {} bytes", out.capacity());
    }
}
