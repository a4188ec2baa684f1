//! What other writers may write: both types and messages, both versions of an index, edges without filters, and records that no reader takes.

use std::sync::Arc;

use hyperslab::{driver::Memory, s};
use hyperslab_base::lookup3;
use hyperslab_format::message::kind;

use super::{
    defined, options,
    small::{self, Filters, Index, NAME},
};

const POINTS: [u64; 10] = [0, 1, 0, 2, 3, 3, 4, 4, 5, 0];
const VALUES: [i16; 5] = [1, 2, 3, 4, 5];

/// A file whose chunk [0, 0] and others have values.
pub(super) fn file(index: Index, filters: Filters) -> Vec<u8> {
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

/// Chunks that reach over the extent go through no filters.
#[test]
fn edges_may_have_no_filters() {
    for index in [Index::FixedArray, Index::ExtensibleArray, Index::BtreeV2] {
        let empty = small::file(index, Filters::Fletcher32, &[], &[]);
        let bytes = small::with_message(&empty, kind::DATA_LAYOUT, |body| {
            let mut body = body.to_vec();
            body[5] |= 1;
            (kind::DATA_LAYOUT, body)
        });
        let storage = Arc::new(Memory::from(bytes));
        for value in 1..4 {
            let file = options().read_write().open_on(storage.clone()).unwrap();
            let dataset = file.dataset(NAME).unwrap();
            dataset.write_slice(s![2..5, ..], &[value; 21]).unwrap();
            for info in dataset.structured_chunks().unwrap() {
                let chunk = dataset.read_structured_chunk(&info.place).unwrap().unwrap();
                dataset.write_structured_chunk(&info.place, &chunk).unwrap();
            }
            if index == Index::BtreeV2 {
                let error = dataset.resize([8, 9]).unwrap_err();
                assert!(error.to_string().contains("cannot change their size"), "{error}");
            }
            drop(dataset);
            file.close().unwrap();
            let bytes = small::bytes_of(&*storage);
            let dataset = small::open(&bytes).unwrap();
            assert_eq!(dataset.read_slice::<i16>(s![2..5, ..]).unwrap(), [value; 21]);
            assert_eq!((defined(&dataset).len(), dataset.shape()), (21, vec![6, 7]));
            for (coord, entry) in small::entries(&bytes) {
                let is_edge = (0..2).any(|dim| (coord[dim] + 1) * index.chunk()[dim] > [6, 7][dim]);
                for section in entry.sections.iter() {
                    let checksum = section.size - section.unfiltered.unwrap();
                    assert_eq!((checksum, section.mask), if is_edge { (0, 1) } else { (4, 0) }, "{coord:?}");
                }
            }
            let report = hyperslab::check::storage(storage.clone()).unwrap();
            assert_eq!((report.problems().count(), report.lost), (0, 0), "{report:?}");
        }
    }
}
