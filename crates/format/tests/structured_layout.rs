//! The data layout message of structured chunks: bytes worked out by hand from the format, what other writers make of them, and what is refused.

use hyperslab_base::{Fault, Width, Widths};
use hyperslab_format::{
    Result, Section, Sections,
    index::ChunkElement,
    message::{ArrayShape, ChunkIndex, ChunkStructure, DataLayout, Layout, kind},
    version::{CHUNK_TREE, LibVersion, data_layout, structured_chunk_index},
};
use hyperslab_space::Extent;
use proptest::{collection::vec, prelude::*};

use crate::random::{address, agree, bytes, number, several, widths};

/// Sparse chunks of 10×20 elements of 4 bytes, found by a fixed array at 0x1234 with pages of 2^10 elements.
const SPARSE: [u8; 26] = [
    5, 4, 0, // version, class, version of the properties
    1, 0, // type
    0, // flags
    3, 1, 10, 20, 4, // rank + 1, bytes of a size, sizes
    8, 2, 1, 0, // bytes of an offset, sections, checksums
    3, 10, // index
    0x34, 0x12, 0, 0, 0, 0, 0, 0,    // address
    0xaa, // room that was left over
];

/// The only chunk of 1000 sparse elements of 8 bytes, with filters, at 64: 37 bytes of 52, and 400 of 804 without the first filter.
const SINGLE: [u8; 63] = [
    5, 4, 0, // version, class, version of the properties
    1, 0, // type
    3, // flags
    2, 2, 0xe8, 3, 8, 0, // rank + 1, bytes of a size, sizes
    8, 2, 1, 0, // bytes of an offset, sections, checksums
    1, 0xb5, 1, 0, // index, size of the chunk
    37, 0, 0, 0, 0, 0, 0, 0, // offset of section 1
    52, 0, 0, 0, 0, 0, 0, 0, 0x24, 3, 0, 0, 0, 0, 0, 0, // sizes before the filters
    0, 0, 0, 0, 1, 0, 0, 0, // masks
    64, 0, 0, 0, 0, 0, 0, 0, // address
    0xaa, 0xaa, 0xaa, // room that was left over
];

/// Sparse chunks of 5 strings, found by a tree that does not exist yet.
const VLEN: [u8; 32] = [
    5, 4, 0, // version, class, version of the properties
    3, 0, // type
    0, // flags
    2, 1, 5, 16, // rank + 1, bytes of a size, sizes
    8, 3, 3, 0, 1, 2, // bytes of an offset, sections, checksums
    5, 0, 8, 0, 0, 100, 40, // index
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, // address
    0xaa, // room that was left over
];

/// Dense chunks of 300 strings, found by an extensible array at 0x1234.
const DENSE_VLEN: [u8; 31] = [
    5, 4, 0, // version, class, version of the properties
    2, 0, // type
    1, // flags
    2, 2, 44, 1, 16, 0, // rank + 1, bytes of a size, sizes
    8, 2, 2, 0, 1, // bytes of an offset, sections, checksums
    4, 32, 4, 4, 16, 10, // index
    0x34, 0x12, 0, 0, 0, 0, 0, 0, // address
];

fn decode(bytes: &[u8]) -> Result<DataLayout> {
    DataLayout::decode(bytes, Widths::EIGHT)
}

fn structured(structure: ChunkStructure, sizes: &[u64], index: ChunkIndex, address: Option<u64>) -> DataLayout {
    let (&element_size, chunk) = sizes.split_last().unwrap();
    let (structure, chunk) = (Some(structure), chunk.to_vec());
    let layout = Layout::Chunked { structure, chunk, element_size, plain_edges: false, index, address };
    DataLayout { version: 5, old_sizes: Vec::new(), layout }
}

fn with_plain_edges(mut message: DataLayout) -> DataLayout {
    if let Layout::Chunked { plain_edges, .. } = &mut message.layout {
        *plain_edges = true;
    }
    message
}

fn single() -> DataLayout {
    let first = Section { size: 37, mask: 0, unfiltered: Some(52) };
    let second = Section { size: 400, mask: 1, unfiltered: Some(804) };
    let index = ChunkIndex::Single(Sections::new(&[first, second]));
    with_plain_edges(structured(ChunkStructure::Sparse, &[1000, 8], index, Some(64)))
}

/// The bytes and the message stand for each other; each byte of it is needed.
#[track_caller]
fn stand_for(bytes: &[u8], message: &DataLayout) {
    assert_eq!(message.encode(Widths::EIGHT).unwrap(), bytes);
    assert_eq!(&decode(bytes).unwrap(), message);
    for length in 0..bytes.len() {
        assert_eq!(decode(&bytes[..length]).unwrap_err().fault, Fault::Length, "{length} bytes");
    }
}

#[test]
fn sparse_chunks_in_a_fixed_array() {
    let index = ChunkIndex::FixedArray { page_bits: 10 };
    let message = structured(ChunkStructure::Sparse, &[10, 20, 4], index, Some(0x1234));
    stand_for(&SPARSE[..25], &message);
    assert_eq!(decode(&SPARSE).unwrap(), message);
}

#[test]
fn a_single_sparse_chunk_with_filters() {
    stand_for(&SINGLE[..60], &single());
    assert_eq!(decode(&SINGLE).unwrap(), single());
}

#[test]
fn a_single_sparse_chunk_without_filters() {
    let sections = [37, 400].map(|size| Section { size, ..Section::default() });
    let index = ChunkIndex::Single(Sections::new(&sections));
    let mut bytes = [&SINGLE[..28], &SINGLE[52..60]].concat();
    bytes[5] = 0;
    stand_for(&bytes, &structured(ChunkStructure::Sparse, &[1000, 8], index, Some(64)));
    let nothing = ChunkIndex::Single(Some(Sections::nothing(2, false)));
    bytes[17..28].fill(0);
    bytes[28..].fill(0xff);
    stand_for(&bytes, &structured(ChunkStructure::Sparse, &[1000, 8], nothing, None));
}

#[test]
fn sparse_strings_in_a_tree() {
    let message = structured(ChunkStructure::SparseVlen, &[5, 16], CHUNK_TREE, None);
    stand_for(&VLEN[..31], &message);
    assert_eq!(decode(&VLEN).unwrap(), message);
}

#[test]
fn a_single_chunk_of_sparse_strings_has_a_size_of_8_bytes() {
    let sections = [1, 2, 3].map(|size| Section { size, ..Section::default() });
    let index = ChunkIndex::Single(Sections::new(&sections));
    let numbers = [6u64, 1, 3, 64].map(u64::to_le_bytes).concat();
    let bytes = [&VLEN[..16], &[1], &numbers].concat();
    stand_for(&bytes, &structured(ChunkStructure::SparseVlen, &[5, 16], index, Some(64)));
}

#[test]
fn dense_strings_in_an_extensible_array() {
    let shape = ArrayShape { count_bits: 32, in_index: 4, min_blocks: 4, min_elements: 16, page_bits: 10 };
    let index = ChunkIndex::ExtensibleArray(shape);
    let message = structured(ChunkStructure::DenseVlen, &[300, 16], index, Some(0x1234));
    stand_for(&DENSE_VLEN, &with_plain_edges(message));
}

#[test]
fn sections_tell_what_the_type_does_not() {
    for kind in 0..4 {
        for bytes in [&SPARSE[..], &SINGLE, &VLEN, &DENSE_VLEN] {
            let mut foreign = bytes.to_vec();
            foreign[3] = kind;
            assert_eq!(decode(&foreign), decode(bytes));
        }
    }
}

#[test]
fn sizes_may_be_wider_than_they_need_to_be() {
    let wide = [&SPARSE[..7], &[2, 10, 0, 20, 0, 4, 0], &SPARSE[11..]].concat();
    assert_eq!(decode(&wide), decode(&SPARSE));
}

#[track_caller]
fn refused(bytes: &[u8], changes: &[(usize, u8)], why: &str) {
    let mut bytes = bytes.to_vec();
    changes.iter().for_each(|&(at, byte)| bytes[at] = byte);
    assert_eq!(decode(&bytes).unwrap_err().to_string(), format!("data layout message, {why}"));
}

#[test]
fn malformed_messages_are_refused() {
    for version in [3, 4] {
        refused(&SPARSE, &[(0, version)], "at byte 2: unknown class 4");
    }
    refused(&SPARSE, &[(1, 5)], "at byte 2: unknown class 5");
    refused(&SPARSE, &[(2, 1)], "at byte 2: unknown version 1");
    refused(&SPARSE, &[(3, 4)], "at byte 5: structured chunks of the unknown type 4");
    refused(&SPARSE, &[(4, 1)], "at byte 5: structured chunks of the unknown type 257");
    refused(&SPARSE, &[(5, 5)], "at byte 6: unknown flags 0x5");
    refused(&SPARSE, &[(7, 0)], "at byte 8: sizes of 0 bytes");
    refused(&SPARSE, &[(7, 9)], "at byte 8: sizes of 9 bytes");
    refused(&SPARSE, &[(8, 0)], "at byte 25: a chunk of [0, 20] elements of 4 bytes");
    refused(&SPARSE, &[(10, 0)], "at byte 25: a chunk of [10, 20] elements of 0 bytes");
    refused(&SPARSE, &[(11, 4)], "at byte 12: offsets of sections of 4 bytes");
    refused(&SPARSE, &[(12, 1)], "at byte 15: unknown structure: 1 sections, checksums in [0]");
    refused(&SPARSE, &[(12, 3)], "at byte 15: unknown structure: 3 sections, checksums in [0]");
    refused(&SPARSE, &[(14, 1)], "at byte 15: unknown structure: 2 sections, checksums in [1]");
    refused(&SPARSE, &[(13, 0)], "at byte 14: unknown structure: 2 sections, checksums in []");
    refused(&VLEN, &[(15, 1)], "at byte 16: unknown structure: 3 sections, checksums in [0, 1, 1]");
    refused(&SPARSE, &[(15, 0)], "at byte 16: chunk index 0, which is not for structured chunks");
    refused(&SPARSE, &[(15, 2)], "at byte 16: chunk index 2, which is not for structured chunks");
    refused(&SPARSE, &[(15, 6)], "at byte 16: unknown chunk index 6");
    let scalar = [&SPARSE[..6], &[1, 1, 4], &SPARSE[11..]].concat();
    refused(&scalar, &[], "at byte 23: a chunk of [] elements of 4 bytes");
    let nothing = [&SPARSE[..6], &[0, 1], &SPARSE[11..]].concat();
    refused(&nothing, &[], "at byte 22: a chunk of [] elements of 0 bytes");
    // Section 1 begins behind the end of the chunk.
    refused(&SINGLE, &[(21, 2)], "at byte 28: a section from 0 to 549 in a chunk of 437 bytes");
}

#[test]
fn messages_that_no_reader_understands_are_not_written() {
    let refused = |message: &DataLayout, why: &str| {
        let told = message.encode(Widths::EIGHT).unwrap_err().to_string();
        assert_eq!(told, format!("data layout message, {why}"));
    };
    for version in 1..=4 {
        let older = DataLayout { version, ..single() };
        refused(&older, &format!("class: version {version} has no place for it"));
    }
    let sparse = |index| structured(ChunkStructure::Sparse, &[5, 4], index, None);
    for index in [ChunkIndex::Implicit, ChunkIndex::BtreeV1] {
        refused(&sparse(index), "index: structured chunks cannot have this one");
    }
    for sections in [None, Some(Sections::one(4, 0)), Some(Sections::nothing(3, true))] {
        refused(&sparse(ChunkIndex::Single(sections)), "index: it must tell the 2 sections of the chunk");
    }
    let section = |size, mask| Section { size, mask, unfiltered: None };
    let masked = ChunkIndex::Single(Sections::new(&[section(1, 0), section(2, 1)]));
    refused(&sparse(masked), "size before the filters: sections with filters have one, no others");
    let large = ChunkIndex::Single(Sections::new(&[section(1, 0), section(1 << 24, 0)]));
    refused(&sparse(large), "size of the chunk: 16777217 does not fit 2 bytes");
    let empty = structured(ChunkStructure::Sparse, &[0, 4], CHUNK_TREE, None);
    refused(&empty, "size: a chunk of [0] elements of 4 bytes");
    let mut dense = single();
    if let Layout::Chunked { structure, .. } = &mut dense.layout {
        *structure = None;
    }
    refused(&dense, "index: several sections in a dense chunk");
}

#[test]
fn structures() {
    let all = [ChunkStructure::Sparse, ChunkStructure::SparseVlen, ChunkStructure::DenseVlen];
    assert_eq!(all.map(ChunkStructure::is_sparse), [true, true, false]);
    assert_eq!(all.map(ChunkStructure::has_vlen), [false, true, true]);
    assert_eq!(all.map(ChunkStructure::sections), [2, 3, 2]);
    for (dense_bytes, bytes) in [
        (0, 2),
        (1, 2),
        (255, 2),
        (256, 3),
        (65_535, 3),
        (65_536, 4),
        (u64::from(u32::MAX), 5),
        (1 << 32, 6),
        ((1 << 48) - 1, 7),
        (1 << 48, 8),
        (1 << 56, 8),
        (u64::MAX, 8),
    ] {
        let widths = all.map(|structure| structure.size_width(dense_bytes).bytes());
        assert_eq!(widths, [bytes, 8, bytes], "{dense_bytes}");
    }
}

#[test]
fn choices_for_new_datasets() {
    let index = |dims: &[u64], max: &[Option<u64>], filtered| {
        let extent = Extent::with_max(dims, max).unwrap();
        structured_chunk_index(&extent, &[5, 5], ChunkStructure::DenseVlen, filtered)
    };
    for filtered in [false, true] {
        let single = ChunkIndex::Single(Some(Sections::nothing(2, filtered)));
        assert_eq!(index(&[5, 5], &[Some(5), Some(5)], filtered), single);
        assert_eq!(index(&[5, 5], &[Some(5), Some(9)], filtered), ChunkIndex::FixedArray { page_bits: 10 });
        assert!(matches!(index(&[5, 5], &[None, Some(5)], filtered), ChunkIndex::ExtensibleArray(_)));
        assert_eq!(index(&[5, 5], &[None, None], filtered), CHUNK_TREE);
    }
    for libver_min in [LibVersion::Earliest, LibVersion::V18, LibVersion::V114, LibVersion::V200] {
        assert_eq!(data_layout(libver_min, &single().layout, false), 5);
    }
    let element = ChunkElement::Structured { size_width: Width::W8, sections: 3, filtered: true };
    assert_eq!(element.nothing().sections, Sections::nothing(3, true));
    assert_eq!((kind::SECTION_FILTERS, kind::UNKNOWN), (0x19, 0x1a));
}

fn any_structured() -> BoxedStrategy<DataLayout> {
    let structure =
        prop_oneof![Just(ChunkStructure::Sparse), Just(ChunkStructure::SparseVlen), Just(ChunkStructure::DenseVlen)];
    structure
        .prop_flat_map(|structure| {
            let index = prop_oneof![
                any::<bool>()
                    .prop_flat_map(move |filtered| several(structure.sections(), filtered))
                    .prop_map(|sections| ChunkIndex::Single(Some(sections))),
                Just(ChunkIndex::FixedArray { page_bits: 9 }),
                Just(CHUNK_TREE),
            ];
            (Just(structure), vec(1..1u64 << 40, 2..5), index, address(), any::<bool>())
        })
        .prop_map(|(structure, sizes, index, address, plain_edges)| {
            let message = structured(structure, &sizes, index, address);
            if plain_edges { with_plain_edges(message) } else { message }
        })
        .boxed()
}

proptest! {
    #[test]
    fn what_is_written_is_read(message in any_structured(), widths in widths()) {
        agree(&message, message.encode(widths), |bytes| {
            assert!((0..bytes.len()).all(|length| DataLayout::decode(&bytes[..length], widths).is_err()));
            DataLayout::decode(bytes, widths)
        });
    }

    #[test]
    fn damaged_messages_do_no_harm(message in any_structured(), at: prop::sample::Index, byte: u8, widths in widths()) {
        if let Ok(mut bytes) = message.encode(widths) {
            *at.get_mut(&mut bytes) = byte;
            if let Ok(found) = DataLayout::decode(&bytes, widths) {
                agree(&found, found.encode(widths), |bytes| DataLayout::decode(bytes, widths));
            }
        }
    }

    #[test]
    fn bytes_without_meaning_do_no_harm(rest in bytes(80), count in number(), widths in widths()) {
        let _ = DataLayout::decode(&[&[5u8, 4][..], &rest].concat(), widths);
        let head = [&SPARSE[..11], &[8, 2, 1, 0, 1], &count.to_le_bytes()].concat();
        let _ = DataLayout::decode(&[head, rest].concat(), widths);
    }
}
