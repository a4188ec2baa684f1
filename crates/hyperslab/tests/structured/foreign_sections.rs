//! Sections as other writers may write them: every kind and version of a selection, points in any order, skipped filters, and what no reader takes.

use std::{borrow::Cow, collections::BTreeSet};

use hyperslab::{Dataset, s};
use hyperslab_base::lookup3;
use hyperslab_chunk::{ChunkCoord, EncodedChunk, Section, Sections};
use hyperslab_space::{Form, LibVersion, Op, Slab, Space, UNLIMITED};

use super::{
    coords,
    foreign::file,
    small::{self, Filters, Index, Kind},
};

/// A chunk whose sections have no filters, or skipped all of them.
fn chunk_of(sections: &[Vec<u8>], filtered: bool) -> EncodedChunk<'static> {
    let section = |raw: &Vec<u8>| match (filtered, raw.len() as u64) {
        (true, size) => Section { size, mask: u32::MAX, unfiltered: Some(size) },
        (false, size) => Section { size, ..Section::default() },
    };
    let told: Vec<Section> = sections.iter().map(section).collect();
    let bytes = Cow::Owned(sections.concat());
    EncodedChunk::structured(ChunkCoord::from_slice(&[0, 0]), bytes, Sections::new(&told).unwrap(), filtered).unwrap()
}

/// Bytes with their checksum.
fn checked(bytes: &[u8]) -> Vec<u8> {
    [bytes, &lookup3(bytes).to_le_bytes()].concat()
}

/// A chunk of two sections that go through no filters. Section 0 gets its checksum.
fn chunk(selection: &[u8], values: &[i16]) -> EncodedChunk<'static> {
    let values = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    chunk_of(&[checked(selection), values], false)
}

/// The dataset of a file whose chunk [0, 0] has these sections.
fn with(index: Index, selection: &[u8], values: &[i16]) -> Dataset {
    small::open(&small::with_chunk(&file(index, Filters::None), &chunk(selection, values))).unwrap()
}

/// A selection as each library writes it, in the smallest form, and as points.
fn encodings(space: &Space) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = LibVersion::ALL.iter().map(|low| space.encode(*low).unwrap()).collect();
    all.push(space.encode(Form::Smallest).unwrap());
    all.push(space.encode_as_points().unwrap());
    all
}

#[test]
fn selections_of_every_kind_and_version_are_read() {
    let mut versions = BTreeSet::new();
    for index in Index::ALL {
        let dims = index.chunk();
        let mut block = Space::simple(&dims).unwrap();
        block.select_hyperslab(Op::Set, &[Slab::block(1, 2), Slab::block(0, 3)]).unwrap();
        let mut pattern = Space::simple(&dims).unwrap();
        pattern.select_hyperslab(Op::Set, &[Slab::new(0, 2, 2, 1), Slab::new(0, 2, 2, 1)]).unwrap();
        let mut several = block.clone();
        several.select_hyperslab(Op::Or, &[Slab::block(3, 1), Slab::block(1, 1)]).unwrap();
        let points = small::points_of(&dims, &[3, 2, 0, 1, 2, 0]);
        for space in [Space::simple(&dims).unwrap(), block, pattern, several, points] {
            let values: Vec<i16> = (1..=space.npoints() as i16).collect();
            for encoded in encodings(&space) {
                versions.insert(version(&encoded));
                let dataset = with(index, &encoded, &values);
                let view = dataset.slice(s![0..dims[0], 0..dims[1]]).unwrap();
                let found = dataset.defined(view.selection()).unwrap();
                let mut expected = coords(&space);
                for (coord, value) in expected.iter().zip(&values) {
                    let point = dataset.read_slice::<i16>(s![coord[0], coord[1]]).unwrap();
                    assert_eq!(point, [*value], "{index:?}, {space:?} at {coord:?}");
                }
                expected.sort();
                assert_eq!(coords(&found), expected, "{index:?}, {space:?}");
            }
        }
    }
    let all = [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 1)];
    assert_eq!(versions.into_iter().collect::<Vec<_>>(), all, "points 1 and 2, hyperslabs 1 to 3, all");
}

/// The kind and the version of an encoded selection.
fn version(encoded: &[u8]) -> (u8, u8) {
    let extent = u32::from_le_bytes(encoded[3..7].try_into().unwrap()) as usize;
    (encoded[7 + extent], encoded[11 + extent])
}

#[test]
fn a_chunk_of_no_elements_is_read() {
    for index in Index::ALL {
        let mut none = Space::simple(&index.chunk()).unwrap();
        none.select_none();
        let dataset = with(index, &none.encode(LibVersion::Earliest).unwrap(), &[]);
        let corner = dataset.slice(s![0..4, 0..3]).unwrap();
        assert_eq!(dataset.defined(corner.selection()).unwrap().npoints(), 0);
        assert_eq!(dataset.read_slice::<i16>(s![0..4, 0..3]).unwrap(), [0; 12]);
    }
}

#[test]
fn a_section_without_values_of_variable_length_may_be_left_out() {
    for (index, filters) in Index::ALL.into_iter().flat_map(|index| Filters::ALL.map(|filters| (index, filters))) {
        let (context, filtered) = (format!("{index:?}, {filters:?}"), filters != Filters::None);
        let selection = checked(&small::points_of(&index.chunk(), &[1, 2, 3, 0]).encode(LibVersion::V112).unwrap());
        let elements = index.chunk().iter().product::<u64>() as usize;
        let of_kind = |kind: Kind, sections: &[Vec<u8>]| {
            let empty = small::file_of((kind, index, filters), &[], &[]);
            small::open(&small::with_chunk(&empty, &chunk_of(sections, filtered))).unwrap()
        };
        let sparse = of_kind(Kind::SparseVlen, &[selection.clone(), checked(&[0; 32]), Vec::new()]);
        assert_eq!(coords(&sparse.defined(&sparse.space()).unwrap()), [[1, 2], [3, 0]], "{context}");
        assert_eq!(sparse.read::<String>().unwrap(), vec![String::new(); 42], "{context}");
        let dense = of_kind(Kind::DenseVlen, &[checked(&vec![0; 16 * elements]), Vec::new()]);
        assert_eq!(dense.read::<String>().unwrap(), vec![String::new(); 42], "{context}");

        let mut slots = vec![0; 32];
        (slots[0], slots[8]) = (4, 1);
        for (sections, section, why) in [
            (vec![selection.clone(), checked(&slots), Vec::new()], 1, "a value has 1 bytes at 4"),
            (vec![selection.clone(), checked(&[0; 32]), checked(&[])], 2, "how much of it is unused"),
            (vec![selection.clone(), checked(&[0; 32]), vec![0; 3]], 2, "too few for a checksum"),
            (vec![selection.clone(), Vec::new(), Vec::new()], 1, "0 bytes for 2 elements"),
            (vec![Vec::new(), checked(&[0; 32]), Vec::new()], 0, "too few for a checksum"),
        ] {
            let why_not = of_kind(Kind::SparseVlen, &sections).read::<String>().unwrap_err().to_string();
            assert!(why_not.contains(&format!("chunk [0, 0], section {section}: ")), "{context}: {why_not}");
            assert!(why_not.contains(why), "{context}: {why_not}");
        }
    }
}

#[track_caller]
fn refused(index: Index, selection: &[u8], values: &[i16], section: usize, why: &str) {
    let dataset = with(index, selection, values);
    for error in [small::values(&dataset).unwrap_err(), dataset.defined(&dataset.space()).unwrap_err()] {
        let text = error.to_string();
        assert!(text.contains(&format!("chunk [0, 0], section {section}: ")), "{text}");
        assert!(text.contains(why), "{text}");
        assert_eq!(error.kind(), hyperslab::ErrorKind::Malformed, "{text}");
    }
}

#[test]
fn selections_that_contradict_the_chunk_are_refused() {
    for index in Index::ALL {
        let dims = index.chunk();
        let encoded = |points: &[u64]| small::points_of(&dims, points).encode(LibVersion::V112).unwrap();
        refused(index, &encoded(&[2, 1, 0, 0, 2, 1]), &[1, 2, 3], 0, "named twice");
        refused(index, &encoded(&[0, 0, 0, 0]), &[1, 1], 0, "named twice");
        refused(index, &encoded(&[0, 0, 0, 1]), &[1], 1, "2 bytes for 2 elements");
        refused(index, &encoded(&[0, 0]), &[1, 2], 1, "4 bytes for 1 elements");
        let other = small::points_of(&[9, 9], &[0, 0]).encode(LibVersion::V112).unwrap();
        refused(index, &other, &[1], 0, "an extent of [9, 9]");
        let line = small::points_of(&[12], &[0]).encode(LibVersion::V112).unwrap();
        refused(index, &line, &[1], 0, "an extent of [12]");
        let mut outside = encoded(&[0, 0]);
        *outside.last_mut().unwrap() = 8;
        refused(index, &outside, &[1], 0, "");
        let mut endless = Space::simple(&dims).unwrap();
        endless.select_hyperslab(Op::Set, &[Slab::new(0, 1, UNLIMITED, 1), Slab::block(0, 1)]).unwrap();
        refused(index, &endless.encode(LibVersion::V110).unwrap(), &[1], 0, "");
        refused(index, b"", &[1], 0, "");
        refused(index, &encoded(&[0, 0])[..20], &[1], 0, "");
    }
}

/// A chunk whose sections skipped some filters, and tell these sizes before them.
fn masked(index: Index, masks: [u32; 2], unfiltered: [u64; 2]) -> Vec<u8> {
    let plain = chunk(&small::points_of(&index.chunk(), &[1, 2, 3, 0]).encode(LibVersion::V112).unwrap(), &[7, 8]);
    let sections: Vec<Section> = (0..2)
        .map(|nth| Section { mask: masks[nth], unfiltered: Some(unfiltered[nth]), ..plain.sections.get(nth).unwrap() })
        .collect();
    let coord = plain.coord.clone();
    let chunk = EncodedChunk::structured(coord, plain.into_bytes(), Sections::new(&sections).unwrap(), true).unwrap();
    small::with_chunk(&file(index, Filters::Deflate), &chunk)
}

#[test]
fn sections_may_skip_filters_and_tell_their_sizes() {
    // All three of section 0, both of section 1.
    for index in Index::ALL {
        let plain = small::points_of(&index.chunk(), &[1, 2, 3, 0]).encode(LibVersion::V112).unwrap().len() as u64 + 4;
        let dataset = small::open(&masked(index, [7, 3], [plain, 4])).unwrap();
        assert_eq!(dataset.read_slice::<i16>(s![1..4, 0..3]).unwrap(), [0, 0, 7, 0, 0, 0, 8, 0, 0]);
        for (masks, sizes, section) in [
            ([7, 3], [plain, 3], 1),
            ([7, 3], [plain, 6], 1),
            ([7, 3], [plain, u64::MAX], 1),
            ([7, 3], [plain - 1, 4], 0),
            ([7, 3], [plain + 1, 4], 0),
            ([7, 3], [u64::MAX, 4], 0),
            ([0, 3], [plain, 4], 0),
            ([7, 0], [plain, 4], 1),
        ] {
            let error = small::values(&small::open(&masked(index, masks, sizes)).unwrap()).unwrap_err();
            let place = format!("chunk [0, 0], section {section}: ");
            assert!(error.to_string().contains(&place), "{index:?}, {masks:?}, {sizes:?}: {error}");
        }
    }
}
