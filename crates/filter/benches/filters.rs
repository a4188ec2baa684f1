//! How fast each filter encodes and decodes a chunk of 1 MiB. The figures in `docs/filters.md` are from here.

#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hyperslab_filter::*;

const CHUNK: usize = 1 << 20;

/// Noisy waves: 32-bit floats that a detector might have.
fn waves() -> Vec<u8> {
    let mut noise = 1u32;
    let value = |n: u32| {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((n as f32 * 0.001).sin() * 100.0 + (noise >> 25) as f32 * 0.01).to_le_bytes()
    };
    (0..CHUNK as u32 / 4).flat_map(value).collect()
}

fn chains() -> Vec<(&'static str, Vec<Step>)> {
    let shuffle = || Step::optional(Shuffle::ID, Shuffle::params(4));
    let one = |id, params| vec![Step::optional(id, params)];
    vec![
        ("shuffle 2", one(Shuffle::ID, Shuffle::params(2))),
        ("shuffle 4", vec![shuffle()]),
        ("shuffle 8", one(Shuffle::ID, Shuffle::params(8))),
        ("shuffle 12", one(Shuffle::ID, Shuffle::params(12))),
        ("fletcher32", one(Fletcher32::ID, Fletcher32::params())),
        ("shuffle+deflate 4", vec![shuffle(), Step::optional(Deflate::ID, Deflate::params(4))]),
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
