//! What other writers may write: both types and messages, both versions of an index, every kind of selection, and what no reader takes.

use std::{borrow::Cow, collections::BTreeSet, sync::Arc};

use hyperslab::{Dataset, driver::Memory, s};
use hyperslab_base::lookup3;
use hyperslab_chunk::{ChunkCoord, EncodedChunk, Section, Sections};
use hyperslab_format::message::kind;
use hyperslab_space::{Form, LibVersion, Op, Slab, Space, UNLIMITED};

use super::{
    coords, defined, options,
    small::{self, Filters, Index, NAME},
};

const POINTS: [u64; 10] = [0, 1, 0, 2, 3, 3, 4, 4, 5, 0];
const VALUES: [i16; 5] = [1, 2, 3, 4, 5];

fn file(index: Index, filters: Filters) -> Vec<u8> {
    small::file(index, filters, &POINTS, &VALUES)
}

/// The file is read, changed and read again.
#[track_caller]
fn is_read_and_changed(bytes: &[u8]) {
    let dataset = small::open(bytes).unwrap();
    assert_eq!(small::values(&dataset).unwrap(), small::dense(&POINTS, &VALUES));
    let storage = Arc::new(Memory::from(bytes.to_vec()));
    let file = options().read_write().open_on(storage.clone()).unwrap();
    let dataset = file.dataset(NAME).unwrap();
    dataset.write_slice(s![2, 0..7], &[9i16; 7]).unwrap();
    dataset.erase(dataset.slice(s![0, ..]).unwrap().selection()).unwrap();
    drop(dataset);
    file.close().unwrap();
    let mut expected = small::dense(&POINTS, &VALUES);
    expected[..7].fill(0);
    expected[14..21].fill(9);
    let dataset = small::open(&small::bytes_of(&*storage)).unwrap();
    assert_eq!(small::values(&dataset).unwrap(), expected);
    assert_eq!(defined(&dataset).len(), 10);
    let report = hyperslab::check::storage(storage).unwrap();
    assert_eq!((report.problems().count(), report.lost), (0, 0), "{report:?}");
}

#[test]
fn either_type_of_sparse_chunks_is_read() {
    for index in Index::ALL {
        for written in [0, 1] {
            let bytes = small::with_message(&file(index, Filters::Deflate), kind::DATA_LAYOUT, |body| {
                let mut body = body.to_vec();
                assert_eq!(body[..5], [5, 4, 0, 1, 0]);
                body[3] = written;
                (kind::DATA_LAYOUT, body)
            });
            is_read_and_changed(&bytes);
        }
    }
}

#[test]
fn filters_of_sections_stand_in_either_message() {
    for index in Index::ALL {
        for (of_message, version) in
            [(kind::SECTION_FILTERS, 1), (kind::SECTION_FILTERS, 3), (kind::FILTER_PIPELINE, 3)]
        {
            let bytes = small::with_message(&file(index, Filters::Deflate), kind::SECTION_FILTERS, |body| {
                assert_eq!(body[..2], [1, 2]);
                (of_message, [&[version], &body[1..]].concat())
            });
            is_read_and_changed(&bytes);
        }
    }
}

/// Changes all blocks of metadata that begin with a signature, and puts their checksums right. How many there are.
fn change_blocks(bytes: &mut [u8], signature: &[u8; 4], change: impl Fn(&mut [u8])) -> usize {
    let starts: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(signature)).collect();
    for start in &starts {
        let rest = &mut bytes[*start..];
        let is_sealed = |end: &usize| lookup3(&rest[..*end]).to_le_bytes() == rest[*end..*end + 4];
        let end = (4..rest.len() - 3).find(is_sealed).unwrap();
        change(&mut rest[..end]);
        let checksum = lookup3(&rest[..end]);
        rest[end..end + 4].copy_from_slice(&checksum.to_le_bytes());
    }
    starts.len()
}

#[test]
fn indexes_of_either_version_are_read() {
    let blocks: [(Index, &[&[u8; 4]]); 3] = [
        (Index::FixedArray, &[b"FAHD", b"FADB"]),
        (Index::ExtensibleArray, &[b"EAHD", b"EAIB", b"EADB"]),
        (Index::BtreeV2, &[b"BTHD"]),
    ];
    for (index, signatures) in blocks {
        for filters in Filters::ALL {
            let mut bytes = file(index, filters);
            for version in [0, 1] {
                for signature in signatures {
                    let found = change_blocks(&mut bytes, signature, |block| {
                        assert!(version == 1 || block[4] == 1, "version 1 is written");
                        block[4] = version;
                    });
                    assert_eq!(found, 1, "{signature:?}");
                }
                is_read_and_changed(&bytes);
            }
        }
    }
}

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

/// The record of a chunk in its index: where the offset of section 1 stands, behind address, size and, in a tree, the coordinate.
fn change_record(index: Index, change: impl Fn(&mut [u8])) -> Vec<u8> {
    let mut bytes = file(index, Filters::None);
    let (_, entry) = small::entries(&bytes).remove(0);
    let address = entry.address.unwrap().to_le_bytes();
    if index == Index::Single {
        return small::with_message(&bytes, kind::DATA_LAYOUT, |body| {
            let (mut body, at) = (body.to_vec(), body.len() - 18);
            assert_eq!(body[at + 10..], address);
            change(&mut body[at..at + 10]);
            (kind::DATA_LAYOUT, body)
        });
    }
    let signature = match index {
        Index::FixedArray => b"FADB",
        Index::ExtensibleArray => b"EAIB",
        _ => b"BTLF",
    };
    let in_tree = if index == Index::BtreeV2 { 16 } else { 0 };
    let found = change_blocks(&mut bytes, signature, |block| {
        let at = 8 + (0..block.len()).find(|at| block[*at..].starts_with(&address)).unwrap();
        let mut record = [&block[at..at + 2], &block[at + 2 + in_tree..at + 10 + in_tree]].concat();
        change(&mut record);
        block[at..at + 2].copy_from_slice(&record[..2]);
        block[at + 2 + in_tree..at + 10 + in_tree].copy_from_slice(&record[2..]);
    });
    assert_eq!(found, 1);
    bytes
}

#[test]
fn records_that_contradict_themselves_or_the_file_are_refused() {
    // The size has two bytes, the offset of section 1 has eight.
    let falling = |record: &mut [u8]| record[2..].copy_from_slice(&u64::MAX.to_le_bytes());
    let behind = |record: &mut [u8]| record[2..].copy_from_slice(&0xffffu64.to_le_bytes());
    let large = |record: &mut [u8]| record[..2].fill(0xff);
    let empty = |record: &mut [u8]| record[2..].fill(0);
    for index in Index::ALL {
        for (record, why) in [
            (change_record(index, falling), "a section from 0 to 18446744073709551615"),
            (change_record(index, behind), "a section from 0 to 65535"),
            (change_record(index, large), "reaches over the end of the file"),
            (change_record(index, empty), "chunk [0, 0], section "),
        ] {
            let error = small::open(&record).and_then(|dataset| small::values(&dataset)).unwrap_err();
            assert!(error.to_string().contains(why), "{index:?}: {error}");
            assert_eq!(error.kind(), hyperslab::ErrorKind::Malformed, "{error}");
        }
    }
}
