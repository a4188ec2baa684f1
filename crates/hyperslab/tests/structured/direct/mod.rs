//! Structured chunks past the filters: read, told of, written and refused, beside values that go through the cache.

mod model;
mod refused;
mod refused_vlen;
mod threads;

use hyperslab::{
    Dataset, EncodedSection, ErrorKind, FilterStep, NewDataset, StructuredChunk,
    filter::{Pipeline, Registry, Step},
    s,
    space::{Form, Space},
};
use hyperslab_base::lookup3;

use super::{defined, file, small};

/// The filters of a section, as a caller has them.
fn pipeline(dataset: &Dataset, number: usize) -> Pipeline {
    let steps = dataset.section_filters().map_or(&[][..], |filters| filters.of(number as u8)).iter();
    let step = |step: &FilterStep| match step.flags & 1 {
        0 => Step::mandatory(step.id, step.params.clone()),
        _ => Step::optional(step.id, step.params.clone()),
    };
    Pipeline::new(steps.map(step).collect()).unwrap()
}

/// A section before its filters.
fn before_filters(dataset: &Dataset, number: usize, section: &EncodedSection) -> Vec<u8> {
    let (mut raw, EncodedSection { bytes, mask, unfiltered }) = (Vec::new(), section);
    let decoded = pipeline(dataset, number).decode(
        &Registry::default(),
        bytes,
        *mask,
        *unfiltered as usize,
        &mut raw,
        &mut Vec::new(),
    );
    assert_eq!(decoded.unwrap() as u64, *unfiltered);
    raw
}

/// Sections that go through the filters, but for those of `skip`.
fn through_filters(dataset: &Dataset, sections: &[Vec<u8>], skip: u32) -> StructuredChunk {
    let section = |(number, raw): (usize, &Vec<u8>)| {
        let (mut bytes, unfiltered) = (Vec::new(), raw.len() as u64);
        let encoded = pipeline(dataset, number).encode(&Registry::default(), raw, skip, &mut bytes, &mut Vec::new());
        EncodedSection { bytes, mask: encoded.unwrap(), unfiltered }
    };
    StructuredChunk { sections: sections.iter().enumerate().map(section).collect() }
}

/// Bytes with their checksum.
fn checked(bytes: &[u8]) -> Vec<u8> {
    [bytes, &lookup3(bytes).to_le_bytes()].concat()
}

/// A sparse chunk of values of fixed size, whose sections skip some filters.
pub(super) fn sparse_chunk(dataset: &Dataset, defined: &Space, values: &[i16], skip: u32) -> StructuredChunk {
    let values: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    through_filters(dataset, &[checked(&defined.encode(Form::Smallest).unwrap()), values], skip)
}

/// A dataset of 6 × 7 elements in chunks of 4 × 3, without values.
fn grid(filtered: impl FnOnce(NewDataset) -> NewDataset) -> Dataset {
    let new = file().root().unwrap().new_dataset::<i16>().shape([6, 7]).max_shape([None, Some(7)]).chunks([4, 3]);
    filtered(new.sparse()).create("a").unwrap()
}

#[test]
fn what_the_cache_has_is_read_and_replaced() {
    let dataset = grid(|new| new.deflate(1));
    dataset.write_slice(s![1, 0..2], &[5i16, 6]).unwrap();
    // Nothing is flushed yet.
    let chunk = dataset.read_structured_chunk([0, 0]).unwrap().unwrap();
    assert_eq!(before_filters(&dataset, 1, &chunk.sections[1]), [5, 0, 6, 0]);
    dataset.write_slice(s![1, 0..2], &[7i16, 8]).unwrap();
    dataset.write_slice(s![4, 4], &[9i16]).unwrap();
    dataset.write_structured_chunk([0, 0], &chunk).unwrap();
    dataset.file().flush().unwrap();
    dataset.evict().unwrap();
    assert_eq!(dataset.read_slice::<i16>(s![1, 0..3]).unwrap(), [5, 6, 0]);
    assert_eq!(defined(&dataset), [[1, 0], [1, 1], [4, 4]]);
}

#[test]
fn chunks_are_told_of_by_place_and_by_number() {
    let dataset = grid(|new| new.shuffle().fletcher32());
    for (row, column) in [(5, 6), (0, 4), (1, 0), (5, 0)] {
        dataset.write_slice(s![row, column], &[1i16]).unwrap();
    }
    let all: Vec<_> = dataset.structured_chunks().unwrap().collect();
    let places: Vec<_> = all.iter().map(|info| info.place.as_slice()).collect();
    assert_eq!(places, [[0, 0], [0, 1], [1, 0], [1, 2]]);
    for (number, info) in all.iter().enumerate() {
        assert_eq!(dataset.structured_chunk_info(&info.place).unwrap().as_ref(), Some(info));
        assert_eq!(dataset.structured_chunk_info_by_number(number as u64).unwrap().as_ref(), Some(info));
        let chunk = dataset.read_structured_chunk(&info.place).unwrap().unwrap();
        assert_eq!((info.size, info.sections[1].offset), (chunk.bytes(), chunk.sections[0].bytes.len() as u64));
        for (told, section) in info.sections.iter().zip(&chunk.sections) {
            let found = (section.bytes.len() as u64, section.unfiltered, section.mask);
            assert_eq!((told.size, told.unfiltered, told.mask), found);
        }
    }
    assert_eq!(dataset.structured_chunk_info_by_number(4).unwrap(), None);
    assert_eq!(dataset.structured_chunk_info_by_number(u64::MAX).unwrap(), None);
    assert_eq!(dataset.structured_chunk_info([1, 1]).unwrap(), None);
    assert!(dataset.structured_chunk_info([2, 0]).is_err());
}

#[test]
fn the_file_has_the_sections_where_it_is_told() {
    let bytes = small::file(small::Index::BtreeV2, small::Filters::Deflate, &[0, 0, 5, 6], &[3, 4]);
    let dataset = small::open(&bytes).unwrap();
    for info in dataset.structured_chunks().unwrap() {
        let chunk = dataset.read_structured_chunk(&info.place).unwrap().unwrap();
        for (told, section) in info.sections.iter().zip(&chunk.sections) {
            let start = (info.address + told.offset) as usize;
            assert_eq!(bytes[start..start + told.size as usize], section.bytes);
        }
    }
}

#[test]
fn a_chunk_of_no_elements_leaves_the_index() {
    for filtered in [|new: NewDataset| new, |new: NewDataset| new.deflate(9)] {
        let dataset = grid(filtered);
        dataset.write(&[1i16; 42]).unwrap();
        let mut none = Space::simple(&[4, 3]).unwrap();
        none.select_none();
        // One is in the file, one in the cache, one nowhere.
        dataset.file().flush().unwrap();
        dataset.write_slice(s![0, 0], &[2i16]).unwrap();
        dataset.erase(dataset.slice(s![4.., 6..]).unwrap().selection()).unwrap();
        for place in [[0, 0], [0, 1], [1, 2]] {
            dataset.write_structured_chunk(place, &sparse_chunk(&dataset, &none, &[], 0)).unwrap();
            assert_eq!(dataset.read_structured_chunk(place).unwrap(), None);
        }
        let places: Vec<_> = dataset.structured_chunks().unwrap().map(|info| info.place).collect();
        assert_eq!(places, [[0, 2], [1, 0], [1, 1]]);
        assert_eq!(dataset.stored_size().unwrap().chunks, Some(3));
    }
}

#[test]
fn points_in_any_order_are_stored_as_they_are_given() {
    let dataset = grid(|new| new);
    let points = small::points_of(&[4, 3], &[3, 2, 0, 1, 2, 0]);
    let section = checked(&points.encode_as_points().unwrap());
    let chunk = through_filters(&dataset, &[section.clone(), vec![1, 0, 2, 0, 3, 0]], 0);
    dataset.write_structured_chunk([0, 1], &chunk).unwrap();
    assert_eq!(dataset.read_structured_chunk([0, 1]).unwrap().unwrap().sections[0].bytes, section);
    let read = dataset.read_slice::<i16>(s![0..4, 3..6]).unwrap();
    assert_eq!(read, [0, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 1]);
}

#[test]
fn each_kind_of_chunks_names_the_calls_for_it() {
    let sparse = grid(|new| new);
    let root = sparse.file().root().unwrap();
    let dense = root.new_dataset::<i16>().shape([6]).chunks([3]).create("dense").unwrap();
    let plain = root.new_dataset::<i16>().write("plain", &[1, 2]).unwrap();
    for refused in [sparse.read_chunk([0, 0]).map(drop), sparse.write_chunk([0, 0], 0, &[0; 24])] {
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("read_structured_chunk") && text.contains("write_structured_chunk"), "{text}");
    }
    for dataset in [&dense, &plain] {
        for refused in [
            dataset.read_structured_chunk([0]).map(drop),
            dataset.write_structured_chunk([0], &StructuredChunk::default()),
            dataset.structured_chunk_info([0]).map(drop),
            dataset.structured_chunk_info_by_number(0).map(drop),
            dataset.structured_chunks().map(drop),
        ] {
            let why = refused.unwrap_err();
            assert_eq!(why.kind(), ErrorKind::InvalidArgument);
            assert!(why.to_string().contains("read_chunk and write_chunk"), "{why}");
        }
    }
}
