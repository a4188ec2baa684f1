//! The section filters message: bytes worked out by hand from the format, what other writers make of them, and what is refused.

use hyperslab_base::Fault;
use hyperslab_format::message::{DatasetFilters, FilterPipeline, FilterStep, SectionFilters, kind};
use proptest::prelude::*;

use crate::random::bytes;

/// Shuffle of 4 bytes and deflate at level 6 for section 0, filter 32015 with a name for section 1.
const MESSAGE: [u8; 48] = [
    1, 2, // version, sections
    0, 2, 20, 0, // section, filters, bytes
    2, 0, 0, 0, 1, 0, 4, 0, 0, 0, // shuffle
    1, 0, 1, 0, 1, 0, 6, 0, 0, 0, // deflate, which a chunk may be without
    1, 1, 17, 0, // section, filters, bytes
    0x0f, 0x7d, 5, 0, 0, 0, 1, 0, b'z', b's', b't', b'd', 0, 3, 0, 0, 0,    // zstd
    0xaa, // room that was left over
];

fn step(id: u16, name: &[u8], flags: u16, param: u32) -> FilterStep {
    FilterStep { id, name: name.to_vec(), flags, params: vec![param] }
}

fn filters() -> SectionFilters {
    let packed = vec![step(2, b"", 0, 4), step(1, b"", 1, 6)];
    SectionFilters { sections: vec![(0, packed), (1, vec![step(32_015, b"zstd", 0, 3)])] }
}

#[test]
fn filters_of_two_sections() {
    assert_eq!(filters().encode().unwrap(), &MESSAGE[..47]);
    assert_eq!(SectionFilters::decode(&MESSAGE).unwrap(), filters());
    for length in 0..47 {
        assert_eq!(SectionFilters::decode(&MESSAGE[..length]).unwrap_err().fault, Fault::Length, "{length} bytes");
    }
}

#[test]
fn pipelines_of_sections() {
    let filters = filters();
    assert_eq!(filters.of(0), [step(2, b"", 0, 4), step(1, b"", 1, 6)]);
    assert_eq!(filters.of(1), [step(32_015, b"zstd", 0, 3)]);
    assert!(filters.of(2).is_empty() && !filters.is_empty());
    let none = SectionFilters { sections: vec![(1, Vec::new())] };
    assert!(none.is_empty() && SectionFilters::default().is_empty());
    assert_eq!(none.encode().unwrap(), [1, 1, 1, 0, 0, 0]);
    assert_eq!(SectionFilters::decode(&[1, 1, 1, 0, 0, 0]).unwrap(), none);
}

#[test]
fn the_type_of_the_message_or_its_version_tells_what_filters_are_for() {
    let sections = DatasetFilters::Sections(filters());
    assert_eq!(sections.message_kind(), kind::SECTION_FILTERS);
    assert_eq!(sections.encode().unwrap(), &MESSAGE[..47]);
    assert_eq!((sections.is_empty(), sections.pipeline()), (false, None));
    let mut third = MESSAGE;
    third[0] = 3;
    for (kind, bytes) in
        [(kind::SECTION_FILTERS, &MESSAGE), (kind::SECTION_FILTERS, &third), (kind::FILTER_PIPELINE, &third)]
    {
        assert_eq!(DatasetFilters::decode(kind, bytes).unwrap(), sections);
    }
    for version in 1..=2 {
        let pipeline = FilterPipeline::of_version(version, vec![step(1, b"", 0, 6)]);
        let chunk = DatasetFilters::Chunk(pipeline.clone());
        assert_eq!((chunk.message_kind(), chunk.is_empty()), (kind::FILTER_PIPELINE, false));
        assert_eq!(chunk.pipeline(), Some(&pipeline));
        let bytes = chunk.encode().unwrap();
        assert_eq!(bytes, pipeline.encode().unwrap());
        assert_eq!(DatasetFilters::decode(kind::FILTER_PIPELINE, &bytes).unwrap(), chunk);
    }
    assert!(DatasetFilters::default().is_empty());
    assert_eq!(DatasetFilters::default(), DatasetFilters::Chunk(FilterPipeline::default()));
    for (kind, version) in [(kind::SECTION_FILTERS, 2), (kind::FILTER_PIPELINE, 4), (kind::FILTER_PIPELINE, 0)] {
        assert_eq!(DatasetFilters::decode(kind, &[version, 0]).unwrap_err().fault, Fault::Version);
    }
    assert_eq!(FilterPipeline::decode(&third).unwrap_err().fault, Fault::Version);
}

#[test]
fn malformed_messages_are_refused() {
    let refused = |changes: &[(usize, u8)], why: &str| {
        let mut bytes = MESSAGE;
        changes.iter().for_each(|&(at, byte)| bytes[at] = byte);
        let told = SectionFilters::decode(&bytes).unwrap_err().to_string();
        assert_eq!(told, format!("section filters message, {why}"));
    };
    refused(&[(0, 0)], "at byte 0: unknown version 0");
    refused(&[(0, 2)], "at byte 0: unknown version 2");
    refused(&[(0, 4)], "at byte 0: unknown version 4");
    refused(&[(2, 3)], "at byte 3: filters of section 3, but chunks have 3 at most");
    refused(&[(26, 3)], "at byte 27: filters of section 3, but chunks have 3 at most");
    refused(&[(26, 0)], "at byte 27: filters of section 0 behind those of section 0");
    refused(&[(2, 2)], "at byte 27: filters of section 1 behind those of section 2");
    refused(&[(3, 33)], "at byte 6: 33 filters, more than 32");
    refused(&[(3, 1)], "at byte 16: 1 filters of 10 bytes where 20 are told");
    refused(&[(4, 19)], "at byte 26: 2 filters of 20 bytes where 19 are told");
    refused(&[(5, 1)], "at byte 26: 2 filters of 20 bytes where 276 are told");
    refused(&[(1, 3)], "at byte 48: filters of section 170, but chunks have 3 at most");
}

#[test]
fn messages_that_no_reader_understands_are_not_written() {
    let refused = |sections: Vec<(u8, Vec<FilterStep>)>, why: &str| {
        let told = SectionFilters { sections }.encode().unwrap_err().to_string();
        assert_eq!(told, format!("section filters message, {why}"));
    };
    refused(vec![(3, Vec::new())], "section: filters of section 3, but chunks have 3 at most");
    refused(vec![(1, Vec::new()), (1, Vec::new())], "section: filters of section 1 behind those of section 1");
    refused(vec![(0, vec![step(2, b"", 0, 4); 33])], "filters: 33, more than 32");
    refused(vec![(0, vec![step(1, b"deflate", 0, 4)])], "name: version 2 has no place for the name of filter 1");
    let long = FilterStep { params: vec![0; 10_000], ..step(1, b"", 0, 0) };
    refused(vec![(0, vec![long; 2])], "bytes of the filters: 80012 does not fit 2 bytes");
}

proptest! {
    #[test]
    fn damaged_messages_do_no_harm(at in 0..48usize, byte: u8, rest in bytes(80)) {
        let mut bytes = MESSAGE;
        bytes[at] = byte;
        for bytes in [&bytes[..], &[&MESSAGE[..at], &rest].concat()] {
            if let Ok(found) = SectionFilters::decode(bytes) {
                prop_assert_eq!(SectionFilters::decode(&found.encode().unwrap()).unwrap(), found);
            }
        }
    }
}
