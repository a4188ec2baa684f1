//! How fast each filter encodes and decodes a chunk of 1 MiB. The figures in `docs/filters.md` are from here.

#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hyperslab_filter::*;

const CHUNK: usize = 1 << 20;

/// Noisy waves: 32-bit floats that a detector might have, without their last 9 bits, so that n-bit loses nothing.
fn waves() -> Vec<u8> {
    let mut noise = 1u32;
    let value = |n: u32| {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let wave = (n as f32 * 0.001).sin() * 100.0 + (noise >> 25) as f32 * 0.01;
        (wave.to_bits() & !0x1ff).to_le_bytes()
    };
    (0..CHUNK as u32 / 4).flat_map(value).collect()
}

fn chains() -> Vec<(&'static str, Vec<Step>)> {
    let shuffle = || Step::optional(Shuffle::ID, Shuffle::params(4));
    let one = |id, params| vec![Step::optional(id, params)];
    let elements = CHUNK as u32 / 4;
    let number = SzipType { size: 4, big_endian: false, precision: 32, offset: 0 };
    let narrow = NbitType::Number { size: 4, big_endian: false, precision: 32 - 9, offset: 9 };
    let integer = ScaleOffsetType { kind: ScaleOffsetKind::Unsigned, size: 4, big_endian: false };
    vec![
        ("shuffle 2", one(Shuffle::ID, Shuffle::params(2))),
        ("shuffle 4", vec![shuffle()]),
        ("shuffle 8", one(Shuffle::ID, Shuffle::params(8))),
        ("shuffle 12", one(Shuffle::ID, Shuffle::params(12))),
        ("fletcher32", one(Fletcher32::ID, Fletcher32::params())),
        ("deflate 4", one(Deflate::ID, Deflate::params(4))),
        ("shuffle+deflate 4", vec![shuffle(), Step::optional(Deflate::ID, Deflate::params(4))]),
        ("shuffle+lzf", vec![shuffle(), Step::optional(Lzf::ID, Lzf::params(CHUNK as u32))]),
        ("shuffle+lz4", vec![shuffle(), Step::optional(Lz4::ID, Lz4::params(0))]),
        ("shuffle+zstd 3", vec![shuffle(), Step::optional(Zstd::ID, Zstd::params(3))]),
        ("shuffle+bzip2 9", vec![shuffle(), Step::optional(Bzip2::ID, Bzip2::params(9))]),
        ("bitshuffle", one(Bitshuffle::ID, Bitshuffle::params(4, 0, BitshuffleCodec::None))),
        ("bitshuffle lz4", one(Bitshuffle::ID, Bitshuffle::params(4, 0, BitshuffleCodec::Lz4))),
        ("bitshuffle zstd 3", one(Bitshuffle::ID, Bitshuffle::params(4, 0, BitshuffleCodec::Zstd(3)))),
        ("blosc lz4", one(Blosc::ID, Blosc::params(4, CHUNK as u32, 5, BloscShuffle::Byte, BloscCodec::Lz4))),
        ("blosc blosclz", one(Blosc::ID, Blosc::params(4, CHUNK as u32, 5, BloscShuffle::Byte, BloscCodec::BloscLz))),
        ("blosc2 zstd", one(Blosc2::ID, Blosc2::params(4, 4, &[elements], 3, Blosc2Stage::Shuffle, BloscCodec::Zstd))),
        ("szip", one(Szip::ID, Szip::params(&[u64::from(elements)], number, true, 16).unwrap_or_default())),
        ("nbit", one(Nbit::ID, Nbit::params(elements, &narrow).unwrap_or_default())),
        ("scaleoffset", one(ScaleOffset::ID, ScaleOffset::params(elements, integer, 0, None).unwrap_or_default())),
    ]
}

fn filters(c: &mut Criterion) {
    let registry = Registry::default();
    let raw = waves();
    for (name, steps) in chains() {
        let pipeline = Pipeline::new(steps).unwrap();
        let (mut stored, mut out, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Bytes(CHUNK as u64)).sample_size(20);
        let mask = pipeline.encode(&registry, &raw, 0, &mut stored, &mut scratch).unwrap();
        group.bench_function("encode", |b| {
            b.iter(|| pipeline.encode(&registry, &raw, 0, &mut out, &mut scratch).unwrap());
        });
        group.bench_function("decode", |b| {
            b.iter(|| pipeline.decode(&registry, &stored, mask, CHUNK, &mut out, &mut scratch).unwrap());
        });
        assert_eq!(out, raw);
        group.finish();
    }
}

criterion_group!(benches, filters);
criterion_main!(benches);
