//! Sections as other writers may write them: every kind and version of a selection, points in any order, skipped filters, and what no reader takes.

use std::{borrow::Cow, collections::BTreeSet};

use hyperslab::{Dataset, s};
use hyperslab_base::lookup3;
use hyperslab_chunk::{ChunkCoord, EncodedChunk, Section, Sections};
use hyperslab_space::{Form, LibVersion, Op, Slab, Space, UNLIMITED};

use super::{
    coords,
    foreign::file,
    small::{self, Filters, Index},
};

/// A chunk of two sections that go through no filters. Section 0 gets its checksum.
fn chunk(selection: &[u8], values: &[i16]) -> EncodedChunk<'static> {
    let checked = [selection, &lookup3(selection).to_le_bytes()].concat();
    let values: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let sections = [checked.len(), values.len()].map(|size| Section { size: size as u64, ..Section::default() });
    let bytes = Cow::Owned([checked, values].concat());
    EncodedChunk::structured(ChunkCoord::from_slice(&[0, 0]), bytes, Sections::new(&sections).unwrap(), false).unwrap()
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
