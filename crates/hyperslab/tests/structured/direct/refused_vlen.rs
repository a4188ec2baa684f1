//! Chunks with values of variable length that no reader could convert.

use hyperslab::{Dataset, Storable, StructuredChunk, s, space::Form};

use super::{
    super::{file, small},
    checked, through_filters,
};

/// A slot: offset and bytes.
fn slot(offset: u64, bytes: u64) -> Vec<u8> {
    [offset.to_le_bytes(), bytes.to_le_bytes()].concat()
}

/// A sparse chunk of four elements in which one is defined.
fn chunk(dataset: &Dataset, slot: &[u8], segments: &[u8]) -> StructuredChunk {
    let selection = small::points_of(&[4], &[2]).encode(Form::Smallest).unwrap();
    through_filters(dataset, &[checked(&selection), checked(slot), checked(segments)], 0)
}

/// A sparse dataset with a value that waits in the cache.
fn dataset<T: Storable>(filtered: bool, value: &T) -> Dataset {
    let new = file().root().unwrap().new_dataset::<T>().shape([8]).chunks([4]).sparse();
    let dataset = if filtered { new.deflate(1) } else { new }.create("a").unwrap();
    dataset.write_slice(s![1], std::slice::from_ref(value)).unwrap();
    dataset
}

#[test]
fn slots_and_segments_that_do_not_belong_together() {
    for filtered in [false, true] {
        let dataset = dataset::<Vec<u16>>(filtered, &vec![7]);
        let segments = [0, 0, 0, 0, 1, 0, 2, 0];
        for (slot, segments, section) in [
            (slot(4, 6), &segments[..], 1),
            (slot(8, 2), &segments, 1),
            (slot(0, 2), &segments, 1),
            (slot(u64::MAX, 2), &segments, 1),
            (slot(4, u64::MAX), &segments, 1),
            (slot(4, 3), &segments, 2),
            (slot(0, 0), &segments[..3], 2),
            (slot(0, 0)[..9].to_vec(), &segments, 1),
            (Vec::new(), &segments, 1),
        ] {
            let why = dataset.write_structured_chunk([0], &chunk(&dataset, &slot, segments)).unwrap_err();
            let text = why.to_string();
            assert!(text.contains("chunk [0], section "), "{slot:?}: {text}");
            // Section 2 is named for what is too short, and for bytes that are no elements.
            assert!(section == 1 || text.contains("section 2: "), "{slot:?}: {text}");
            assert_eq!(dataset.read::<Vec<u16>>().unwrap()[..3], [vec![], vec![7], vec![]], "{slot:?}");
        }
        dataset.write_structured_chunk([0], &chunk(&dataset, &slot(4, 4), &segments)).unwrap();
        assert_eq!(dataset.read::<Vec<u16>>().unwrap()[..3], [vec![], vec![], vec![1, 2]]);
        dataset.write_structured_chunk([1], &chunk(&dataset, &slot(0, 0), &[0; 4])).unwrap();
        assert!(dataset.read::<Vec<u16>>().unwrap()[6].is_empty());
        assert_eq!(super::defined(&dataset), [[2], [6]]);
    }
}

#[test]
fn sequences_in_sequences_that_end_early() {
    let dataset = dataset::<Vec<Vec<u16>>>(true, &vec![vec![7]]);
    let right = [&[0; 4][..], &2u64.to_le_bytes(), &[1, 0, 2, 0], &u64::MAX.to_le_bytes()].concat();
    let bytes = right.len() as u64 - 4;
    for cut in [1, 2, 7, 8, 9, 10, 12, 13] {
        let refused = chunk(&dataset, &slot(4, bytes - cut), &right[..right.len() - cut as usize]);
        // Without the last sequence, a null one, the others are whole.
        let written = dataset.write_structured_chunk([0], &refused);
        assert_eq!(written.is_ok(), cut == 8, "{cut}");
        if let Err(why) = written {
            assert!(why.to_string().contains("chunk [0], section 2: "), "{why}");
        }
    }
    let endless = [&[0; 4][..], &(u64::MAX - 1).to_le_bytes(), &[1, 0, 2, 0]].concat();
    let refused = chunk(&dataset, &slot(4, 12), &endless);
    assert!(dataset.write_structured_chunk([0], &refused).unwrap_err().to_string().contains("section 2: "));
    dataset.write_structured_chunk([0], &chunk(&dataset, &slot(4, bytes), &right)).unwrap();
    assert_eq!(dataset.read_slice::<Vec<Vec<u16>>>(s![2]).unwrap(), [vec![vec![1, 2], vec![]]]);
}

#[test]
fn checksums_of_all_sections() {
    let dataset = dataset::<String>(false, &"there".to_string());
    let right = dataset.read_structured_chunk([0]).unwrap().unwrap();
    for number in 0..3 {
        for at in 0..right.sections[number].bytes.len() {
            let mut spoiled = right.clone();
            spoiled.sections[number].bytes[at] ^= 1 << (at % 8);
            let why = dataset.write_structured_chunk([0], &spoiled).unwrap_err().to_string();
            assert!(why.contains(&format!("chunk [0], section {number}: ")), "{at}: {why}");
        }
    }
    assert_eq!(dataset.read_slice::<String>(s![1]).unwrap(), ["there"]);
}

#[test]
fn dense_chunks_have_all_of_their_elements() {
    let new = file().root().unwrap().new_dataset::<String>().shape([7]).chunks([4]).vlen_in_chunks();
    let dataset = new.create("a").unwrap();
    dataset.write_slice(s![0..2], &["a".to_string(), "b".into()]).unwrap();
    let right = dataset.read_structured_chunk([0]).unwrap().unwrap();
    let mut few = right.clone();
    few.sections[0].bytes = checked(&right.sections[0].bytes[..48]);
    few.sections[0].unfiltered = 52;
    let why = dataset.write_structured_chunk([0], &few).unwrap_err().to_string();
    assert!(why.contains("section 0: 48 bytes for 4 elements"), "{why}");
    // The last chunk reaches over the edge, and has four elements as well.
    dataset.write_structured_chunk([1], &right).unwrap();
    assert_eq!(dataset.read::<String>().unwrap(), ["a", "b", "", "", "a", "b", ""]);
}
