//! Chunks that no reader could decode, or that the dataset has no room for: an error, and nothing has changed.

use std::sync::Arc;

use fastrand::Rng;
use hyperslab::{
    Dataset, OpenOptions, StructuredChunk,
    driver::{Damage, Fault, Memory, Target},
    s,
    space::{Form, Space},
};

use super::{
    super::{
        options,
        small::{self, Filters, Index},
    },
    checked, sparse_chunk, through_filters,
};

/// A dataset of which some values are in the file, and others in the cache.
struct Scene {
    storage: Arc<Memory>,
    dataset: Dataset,
    index: Index,
    filters: Filters,
    values: Vec<i16>,
}

impl Scene {
    fn new(index: Index, filters: Filters) -> Scene {
        let storage = Arc::new(Memory::new());
        let (file, dataset) = index.create((small::Kind::Sparse, filters), options(), storage.clone());
        dataset.write_slice(s![0..3, ..], &[1i16; 21]).unwrap();
        file.flush().unwrap();
        dataset.write_slice(s![1..6, 2], &[2i16; 5]).unwrap();
        let values = dataset.read::<i16>().unwrap();
        Scene { storage, dataset, index, filters, values }
    }

    fn chunk(&self, points: &[u64], values: &[i16]) -> StructuredChunk {
        sparse_chunk(&self.dataset, &small::points_of(&self.index.chunk(), points), values, 0)
    }

    /// Two sections, the first one with its checksum.
    fn sections(&self, selection: &[u8], values: &[i16]) -> StructuredChunk {
        let values = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        through_filters(&self.dataset, &[checked(selection), values], 0)
    }

    #[track_caller]
    fn refuses(&self, place: &[u64], chunk: &StructuredChunk, why: &str) {
        let before = small::bytes_of(&*self.storage);
        let text = self.dataset.write_structured_chunk(place, chunk).unwrap_err().to_string();
        assert!(text.contains(why), "{:?}: {text}", self.index);
        assert!(small::bytes_of(&*self.storage) == before, "{:?}: {text}", self.index);
        assert_eq!(self.dataset.read::<i16>().unwrap(), self.values, "{:?}: {text}", self.index);
    }

    /// Afterwards a right chunk is stored, and what was refused has left nothing.
    fn ends(self) {
        let (mut values, place) = (self.values.clone(), [0, 0]);
        self.dataset.write_structured_chunk(place, &self.chunk(&[0, 1, 3, 2], &[7, 8])).unwrap();
        let [rows, columns] = self.index.chunk().map(|side| side as usize);
        (0..rows).for_each(|row| values[row * 7..row * 7 + columns].fill(0));
        (values[1], values[3 * 7 + 2]) = (7, 8);
        let file = self.dataset.file();
        drop(self.dataset);
        file.close().unwrap();
        let dataset = small::open(&small::bytes_of(&*self.storage)).unwrap();
        assert_eq!(dataset.read::<i16>().unwrap(), values);
        let report = hyperslab::check::storage(self.storage).unwrap();
        assert_eq!((report.problems().count(), report.lost), (0, 0), "{report:?}");
    }
}

fn scenes() -> impl Iterator<Item = Scene> {
    Index::ALL.into_iter().flat_map(|index| Filters::ALL.map(|filters| Scene::new(index, filters)))
}

#[test]
fn other_sections_and_places() {
    for scene in scenes() {
        let right = scene.chunk(&[0, 1], &[5]);
        let few = StructuredChunk { sections: right.sections[..1].to_vec() };
        let many = StructuredChunk { sections: [right.sections.clone(), few.sections.clone()].concat() };
        scene.refuses(&[0, 0], &few, "1 sections for chunk [0, 0], where chunks have 2");
        scene.refuses(&[0, 0], &many, "3 sections for chunk [0, 0], where chunks have 2");
        scene.refuses(&[0, 0], &StructuredChunk::default(), "0 sections");
        for place in [&[2, 0][..], &[0, 3], &[u64::MAX, 0], &[0], &[0, 0, 0], &[]] {
            scene.refuses(place, &right, "there is no chunk");
        }
        scene.ends();
    }
}

#[test]
fn selections_that_are_wrong() {
    for scene in scenes() {
        let dims = scene.index.chunk();
        let encoded = |dims: &[u64], points: &[u64]| small::points_of(dims, points).encode_as_points().unwrap();
        let twice = scene.sections(&encoded(&dims, &[2, 1, 0, 0, 2, 1]), &[1, 2, 3]);
        scene.refuses(&[0, 0], &twice, "named twice");
        scene.refuses(&[0, 0], &scene.sections(&encoded(&[9, 9], &[0, 0]), &[1]), "an extent of [9, 9]");
        scene.refuses(&[0, 0], &scene.sections(&encoded(&[12], &[0]), &[1]), "an extent of [12]");
        scene.refuses(&[0, 0], &scene.sections(&encoded(&dims, &[0, 0])[..20], &[1]), "section 0: ");
        scene.refuses(&[0, 0], &scene.sections(b"", &[]), "section 0: ");
        scene.refuses(&[0, 0], &scene.chunk(&[0, 0, 0, 1], &[1]), "section 1: 2 bytes for 2 elements");
        scene.refuses(&[0, 0], &scene.chunk(&[0, 0], &[1, 2]), "section 1: 4 bytes for 1 elements");
        let all = Space::simple(&dims).unwrap().encode(Form::Smallest).unwrap();
        scene.refuses(&[0, 0], &scene.sections(&all, &[1; 999]), "section 1: ");
        scene.ends();
    }
}

#[test]
fn elements_outside_of_the_dataset() {
    for scene in scenes().filter(|scene| scene.index != Index::Single) {
        // The last chunk has 2 × 1 elements of 4 × 3 in the dataset.
        let point = |row, column| scene.chunk(&[row, column], &[5]);
        scene.refuses(
            &[1, 2],
            &point(2, 0),
            "section 0: its elements reach to [3, 1] in the chunk, where the dataset ends at [2, 1]",
        );
        scene.refuses(&[1, 2], &point(0, 1), "resize the dataset first");
        scene.refuses(&[1, 0], &point(3, 2), "[2, 3]");
        let corner = scene.chunk(&[1, 0], &[5]);
        scene.dataset.write_structured_chunk([1, 2], &corner).unwrap();
        assert_eq!(scene.dataset.read_slice::<i16>(s![4.., 6]).unwrap(), [0, 5]);
        if scene.index == Index::BtreeV2 {
            scene.dataset.resize([8, 9]).unwrap();
            scene.dataset.write_structured_chunk([1, 2], &point(3, 2)).unwrap();
            assert_eq!(scene.dataset.read_slice::<i16>(s![6.., 7..]).unwrap(), [0, 0, 0, 5]);
        }
    }
}

#[test]
fn bytes_that_do_not_decode() {
    for scene in scenes() {
        let right = scene.chunk(&[0, 1, 1, 1, 2, 2], &[5, 6, 7]);
        for (section, first) in [(0, 0), (0, 3), (1, 0)] {
            let mut spoiled = right.clone();
            let bytes = &mut spoiled.sections[section].bytes;
            let at = if first == 0 { 0 } else { bytes.len() - first };
            bytes[at] ^= 0x55;
            if section == 0 || scene.filters != Filters::None && spoiled.sections[1].mask == 0 {
                scene.refuses(&[0, 0], &spoiled, &format!("chunk [0, 0], section {section}: "));
            }
        }
        let mut cut = right.clone();
        cut.sections[0].bytes.truncate(9);
        scene.refuses(&[0, 0], &cut, "section 0: ");
        let mut empty = right.clone();
        empty.sections[1].bytes.clear();
        scene.refuses(&[0, 0], &empty, "section 1: ");
        scene.ends();
    }
}

#[test]
fn sizes_and_masks_that_are_wrong() {
    for scene in scenes() {
        let right = scene.chunk(&[0, 1, 1, 1, 2, 2], &[5, 6, 7]);
        for number in 0..2 {
            let unfiltered = right.sections[number].unfiltered;
            for wrong in [unfiltered - 1, unfiltered + 1, unfiltered + 2, 0, u64::MAX, 1 << 40] {
                let mut chunk = right.clone();
                chunk.sections[number].unfiltered = wrong;
                scene.refuses(&[0, 0], &chunk, "chunk [0, 0], section ");
            }
            let mut chunk = right.clone();
            // What shuffle alone makes of values is as long as they are.
            chunk.sections[number].mask ^= if (number, scene.filters) == (1, Filters::Deflate) { 2 } else { 1 };
            let is_plain = scene.filters == Filters::None;
            scene.refuses(
                &[0, 0],
                &chunk,
                if is_plain { "the dataset has no filters" } else { "chunk [0, 0], section " },
            );
        }
        // The index has two bytes for the size of such a chunk.
        let mut large = right.clone();
        large.sections[1].bytes.resize(70_000, 0);
        scene.refuses(&[0, 0], &large, "its index has room for 65535");
        scene.ends();
    }
}

#[test]
fn a_file_that_is_only_read() {
    let bytes = small::file(Index::FixedArray, Filters::None, &[0, 0], &[3]);
    let dataset = small::open(&bytes).unwrap();
    let chunk = dataset.read_structured_chunk([0, 0]).unwrap().unwrap();
    assert!(dataset.write_structured_chunk([0, 1], &chunk).is_err());
    let file = OpenOptions::new().read_write().open_on(Arc::new(Memory::from(bytes))).unwrap();
    let dataset = file.dataset(small::NAME).unwrap();
    dataset.write_structured_chunk([0, 1], &chunk).unwrap();
    assert_eq!(dataset.read_slice::<i16>(s![0, 0..4]).unwrap(), [3, 0, 0, 3]);
}

/// What the cache alone has of a chunk stays until another one is stored in its place.
#[test]
fn a_chunk_that_the_storage_does_not_take() {
    // Such a chunk is too large to wait in memory on its way to the storage.
    const SIDE: usize = 4096;
    for filters in Filters::ALL {
        for position in 0.. {
            let (storage, mut random) = (Arc::new(Fault::new(Memory::new())), Rng::with_seed(position));
            let file = options().create_new().open_on(storage.clone()).unwrap();
            let mut noise = || (0..2 * SIDE).map(|_| random.i32(..)).collect::<Vec<_>>();
            let (mut values, others) = (noise(), noise());
            let write = |name, values: &[i32]| {
                let new = file.root().unwrap().new_dataset::<i32>().shape([2 * SIDE as u64]).chunks([SIDE as u64]);
                filters.of(new.sparse()).write(name, values).unwrap()
            };
            let dataset = write(small::NAME, &values);
            let chunk = write("other", &others).read_structured_chunk([1]).unwrap().unwrap();
            file.flush().unwrap();
            dataset.write_slice(5..8, &[-1, -2, -3]).unwrap();
            values[5..8].copy_from_slice(&[-1, -2, -3]);
            storage.arm_forever(Target::Writes, position, Damage::Fail);
            let written = dataset.write_structured_chunk([0], &chunk);
            storage.disarm();
            if written.is_ok() {
                values[..SIDE].copy_from_slice(&others[SIDE..]);
            }
            assert!(dataset.read::<i32>().unwrap() == values, "{filters:?}, {position}");
            drop(dataset);
            file.close().unwrap();
            let stored = small::open(&small::bytes_of(&*storage)).unwrap();
            assert!(stored.read::<i32>().unwrap() == values, "{filters:?}, {position}");
            if written.is_ok() {
                assert!(position > 0, "nothing was written");
                break;
            }
        }
    }
}
