//! Steps with fitting parameters, of every built-in filter, for chunks of so many elements of so many bytes.

use hyperslab_filter::*;
use proptest::prelude::*;

/// Any lossless step for a chunk of 4-byte numbers, of which there are two or more. Those that want to know the length must come first in a pipeline.
pub(crate) fn first_step(elements: u32) -> impl Strategy<Value = Step> {
    let number = SzipType { size: 4, big_endian: false, precision: 32, offset: 0 };
    let szip = (any::<bool>(), 1..=(elements / 2).min(16))
        .prop_map(move |(nn, half)| (Szip::ID, Szip::params(&[u64::from(elements)], number, nn, half * 2).unwrap()));
    let whole = NbitType::Number { size: 4, big_endian: true, precision: 32, offset: 0 };
    let pair = NbitType::Compound {
        size: 4,
        members: vec![(0, NbitType::Opaque { size: 1 }), (1, NbitType::Opaque { size: 3 })],
    };
    let nbit =
        prop_oneof![Just(whole), Just(pair)].prop_map(move |of| (Nbit::ID, Nbit::params(elements, &of).unwrap()));
    let kind = prop_oneof![Just(ScaleOffsetKind::Signed), Just(ScaleOffsetKind::Unsigned)];
    let scaleoffset = (kind, any::<bool>(), prop::option::of(any::<[u8; 4]>())).prop_map(move |(kind, big, fill)| {
        let of = ScaleOffsetType { kind, size: 4, big_endian: big };
        (ScaleOffset::ID, ScaleOffset::params(elements, of, 0, fill.as_ref().map(|fill| &fill[..])).unwrap())
    });
    let vbz = (0u32..2, prop::sample::select(vec![1, 2, 4]), any::<bool>(), 0u32..4)
        .prop_map(|(version, size, differences, level)| (Vbz::ID, Vbz::params(version, size, differences, level)));
    with_option(prop_oneof![szip, nbit, scaleoffset, vbz].boxed())
}

/// Any step that takes any bytes.
pub(crate) fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![Just(1u32), Just(2), Just(3), Just(4), Just(8), Just(12), Just(16), 1u32..80];
    let codecs = prop::sample::select(vec![
        BloscCodec::BloscLz,
        BloscCodec::Lz4,
        BloscCodec::Lz4Hc,
        BloscCodec::Snappy,
        BloscCodec::Zlib,
        BloscCodec::Zstd,
    ]);
    let codecs2 = prop::sample::select(vec![BloscCodec::BloscLz, BloscCodec::Lz4, BloscCodec::Zlib, BloscCodec::Zstd]);
    let shuffle = prop::sample::select(vec![BloscShuffle::None, BloscShuffle::Byte, BloscShuffle::Bit]);
    let stages = vec![Blosc2Stage::None, Blosc2Stage::Shuffle, Blosc2Stage::Bitshuffle, Blosc2Stage::Delta];
    let bits =
        prop_oneof![Just(BitshuffleCodec::None), Just(BitshuffleCodec::Lz4), (1u32..6).prop_map(BitshuffleCodec::Zstd)];
    with_option(
        prop_oneof![
            (0u32..=9).prop_map(|level| (Deflate::ID, Deflate::params(level))),
            size.clone().prop_map(|size| (Shuffle::ID, Shuffle::params(size))),
            Just((Fletcher32::ID, Fletcher32::params())),
            (1u32..=9).prop_map(|level| (Bzip2::ID, Bzip2::params(level))),
            Just((Lzf::ID, Lzf::params(0))),
            (0u32..5000).prop_map(|block| (Lz4::ID, Lz4::params(block))),
            (1u32..6).prop_map(|level| (Zstd::ID, Zstd::params(level))),
            (0u32..2, 0u32..2, any::<bool>(), 0u32..4).prop_map(|(version, size, differences, level)| {
                (Vbz::ID, Vbz::params(version, size, differences, level))
            }),
            // One byte, since the elements must come out even whatever stands before.
            (0u32..40, bits).prop_map(|(block, codec)| (Bitshuffle::ID, Bitshuffle::params(1, block * 8, codec))),
            (size.clone(), 0u32..=8, shuffle, codecs)
                .prop_map(|(size, level, shuffle, codec)| (Blosc::ID, Blosc::params(size, 0, level, shuffle, codec))),
            (size, 0u32..=8, prop::sample::select(stages), codecs2).prop_map(|(size, level, stage, codec)| {
                (Blosc2::ID, Blosc2::params(size, size, &[1], level, stage, codec))
            }),
        ]
        .boxed(),
    )
}

fn with_option(step: BoxedStrategy<(u16, Vec<u32>)>) -> impl Strategy<Value = Step> {
    // Mandatory ones may refuse data that does not get smaller.
    step.prop_map(|(id, params)| Step::optional(id, params))
}

/// Bytes that look like data: noise, small numbers, ramps, runs.
pub(crate) fn data(elements: u32) -> impl Strategy<Value = Vec<u8>> {
    (any::<u32>(), 0u32..32, 0u32..8, any::<bool>()).prop_map(move |(seed, shift, run, ramp)| {
        let mut noise = seed | 1;
        let mut last = 0;
        let value = |n: u32| {
            if n.is_multiple_of(1 << run) {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                last = noise >> shift;
            }
            if ramp { (last % 5).wrapping_add(n * 3) } else { last }.to_le_bytes()
        };
        (0..elements).flat_map(value).collect()
    })
}
