//! What goes through a pipeline comes back: every filter, and random pipelines with random masks.

use std::sync::Arc;

use hyperslab_filter::*;
use proptest::prelude::*;

use crate::steps::{data, first_step, step};

fn comes_back(steps: Vec<Step>, skip: u32, raw: &[u8]) -> std::result::Result<(), TestCaseError> {
    let registry = Registry::default();
    let (mut stored, mut back, mut scratch) = (Vec::new(), vec![7; 3], vec![9; 5]);
    let pipeline = Pipeline::new(steps).unwrap();
    let mask = pipeline.encode(&registry, raw, skip, &mut stored, &mut scratch).unwrap();
    for len in [raw.len(), raw.len() + 1, 3 * raw.len()] {
        let most = pipeline.worst_case(&registry, len as u64).unwrap();
        prop_assert!(stored.len() as u64 <= most, "{} bytes of {}, at most {}", stored.len(), raw.len(), most);
    }
    prop_assert_eq!(mask & skip, skip & ((1 << pipeline.steps().len()) - 1));
    pipeline.decode(&registry, &stored, mask, raw.len(), &mut back, &mut scratch).unwrap();
    prop_assert_eq!(&back, raw);
    let most = pipeline.decoded_bound(&registry, stored.len() as u64, mask).unwrap();
    prop_assert!(raw.len() as u64 <= most, "{} bytes of {}, at most {}", raw.len(), stored.len(), most);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_filter((step, raw) in (2u32..2000).prop_flat_map(|n| (step(), data(n)))) {
        comes_back(vec![step], 0, &raw)?;
    }

    #[test]
    fn one_filter_that_knows_the_chunk((step, raw) in (2u32..2000).prop_flat_map(|n| (first_step(n), data(n)))) {
        comes_back(vec![step], 0, &raw)?;
    }

    #[test]
    fn odd_lengths(step in step(), raw in prop::collection::vec(0u8..5, 0..300)) {
        comes_back(vec![step], 0, &raw)?;
    }

    #[test]
    fn pipelines_with_masks(
        (first, rest, raw) in (2u32..800).prop_flat_map(|n| {
            (prop::option::of(first_step(n)), prop::collection::vec(step(), 0..5), data(n))
        }),
        skip in any::<u32>(),
    ) {
        comes_back(first.into_iter().chain(rest).collect(), skip, &raw)?;
    }
}

/// Blocks of few bytes have a length before each: what another filter then decodes to is several times the data.
#[test]
fn small_blocks_before_other_filters() {
    let raw: Vec<u8> = (0..100_000u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
    let small = [
        Step::mandatory(Lz4::ID, Lz4::params(1)),
        Step::mandatory(Bitshuffle::ID, Bitshuffle::params(1, 8, BitshuffleCodec::Lz4)),
        Step::mandatory(Bitshuffle::ID, Bitshuffle::params(1, 8, BitshuffleCodec::Zstd(1))),
    ];
    for step in small {
        comes_back(vec![step, Step::mandatory(Fletcher32::ID, vec![])], 0, &raw).unwrap();
    }
}

#[test]
fn large_chunks_of_many_blocks() {
    let raw: Vec<u8> = (0..300_000u32).flat_map(|n| (n / 3 * 7 % 100_003).to_le_bytes()).collect();
    for shuffle in [BloscShuffle::None, BloscShuffle::Byte, BloscShuffle::Bit] {
        for codec in [BloscCodec::BloscLz, BloscCodec::Lz4, BloscCodec::Snappy, BloscCodec::Zlib, BloscCodec::Zstd] {
            let params = Blosc::params(4, raw.len() as u32, 5, shuffle, codec);
            comes_back(vec![Step::mandatory(Blosc::ID, params)], 0, &raw).unwrap();
        }
    }
    for stage in [Blosc2Stage::Shuffle, Blosc2Stage::Bitshuffle, Blosc2Stage::Delta] {
        let params = Blosc2::params(4, 4, &[500, 600], 3, stage, BloscCodec::Lz4);
        comes_back(vec![Step::mandatory(Blosc2::ID, params)], 0, &raw).unwrap();
    }
}

#[test]
fn an_optional_filter_that_fails_is_left_out_and_a_mandatory_one_is_an_error() {
    let registry = Registry::default();
    let noise: Vec<u8> = (0..64u32).map(|n| (n * n * 37 + n * 11) as u8).collect();
    let (mut out, mut scratch) = (Vec::new(), Vec::new());
    let steps = vec![Step::optional(Shuffle::ID, vec![2]), Step::optional(Lzf::ID, Lzf::params(64))];
    let mask = Pipeline::new(steps).unwrap().encode(&registry, &noise, 0, &mut out, &mut scratch).unwrap();
    assert_eq!((mask, out.len()), (2, 64));

    let steps = vec![Step::mandatory(Lzf::ID, Lzf::params(64))];
    let error = Pipeline::new(steps).unwrap().encode(&registry, &noise, 0, &mut out, &mut scratch).unwrap_err();
    assert!(error.to_string().contains("does not get smaller"), "{error}");
}

#[test]
fn a_missing_filter_is_named_with_what_to_do() {
    let registry = Registry::default();
    let (mut out, mut scratch) = (Vec::new(), Vec::new());
    let mut missing = |id: u16, name: &str, optional: bool| {
        let pipeline = Pipeline::new(vec![Step { id, optional, name: name.into(), params: vec![] }]).unwrap();
        let read = pipeline.decode(&registry, b"1234", 0, 4, &mut out, &mut scratch).unwrap_err().to_string();
        assert!(pipeline.decode(&registry, b"1234", 1, 4, &mut out, &mut scratch).is_ok());
        (read, pipeline.encode(&registry, b"1234", 0, &mut out, &mut scratch).ok())
    };
    let (error, mask) = missing(32013, "H5Z-ZFP", true);
    for word in ["32013", "zfp", "H5Z-ZFP", "Registry::register"] {
        assert!(error.contains(word), "{error}");
    }
    assert_eq!(mask, Some(1));
    let (error, mask) = missing(4711, "", false);
    assert!(error.contains("4711"), "{error}");
    assert_eq!(mask, None);
}

#[test]
fn a_registered_filter_is_used() {
    struct Inverse;
    impl Filter for Inverse {
        fn id(&self) -> u16 {
            400
        }
        fn name(&self) -> &'static str {
            "inverse"
        }
        fn decode(&self, _: &[u32], input: &[u8], out: &mut Vec<u8>, _: usize) -> std::result::Result<Decoded, Fault> {
            *out = input.iter().map(|byte| !byte).collect();
            Ok(Decoded::Written)
        }
        fn encode(&self, _: &[u32], input: &[u8], out: &mut Vec<u8>) -> std::result::Result<Encoded, Fault> {
            *out = input.iter().map(|byte| !byte).collect();
            Ok(Encoded::Written)
        }
    }
    let mut registry = Registry::default();
    assert!(registry.register(Arc::new(Inverse)).is_none());
    let pipeline = Pipeline::new(vec![Step::mandatory(400, vec![]), Step::mandatory(Fletcher32::ID, vec![])]).unwrap();
    let (mut stored, mut back, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
    pipeline.encode(&registry, &[1, 2, 3], 0, &mut stored, &mut scratch).unwrap();
    assert_eq!(stored[..3], [254, 253, 252]);
    pipeline.decode(&registry, &stored, 0, 3, &mut back, &mut scratch).unwrap();
    assert_eq!(back, [1, 2, 3]);
    // A filter that gives more than it may is caught.
    assert!(matches!(
        pipeline.decode(&registry, &stored, 0, 2, &mut back, &mut scratch),
        Err(Error::Failed { fault: Fault::TooLong(2), .. })
    ));
}

#[test]
fn a_pipeline_has_no_more_steps_than_a_mask_has_bits() {
    let steps = vec![Step::optional(Shuffle::ID, vec![2]); 33];
    assert!(matches!(Pipeline::new(steps.clone()), Err(Error::Steps(33))));
    let pipeline = Pipeline::new(steps[..32].to_vec()).unwrap();
    let (mut out, mut scratch) = (Vec::new(), Vec::new());
    let mask = pipeline.encode(&Registry::default(), b"abcd", u32::MAX, &mut out, &mut scratch).unwrap();
    assert_eq!((mask, &out[..]), (u32::MAX, &b"abcd"[..]));
}
