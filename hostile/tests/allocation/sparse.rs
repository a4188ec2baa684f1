//! Sparse chunks that would be vast if they were dense: every operation takes memory for their defined elements alone.

use std::{path::Path, sync::Arc};

use fastrand::Rng;
use hyperslab::{
    CacheConfig, ChunkSection, Dataset, ErrorKind, File, LibVersion, OpenOptions, Repack,
    driver::{Driver, Memory, Transfer},
    filter::{Bitshuffle, BitshuffleCodec, BloscCodec, BloscShuffle, Deflate, Lz4, Lzf, Zstd},
    s,
    space::{Form, Space},
};
use hyperslab_base::lookup3;
use hyperslab_hostile::{cause, mutate, repair_file, sparse_file, sparse_seed, walk};

use crate::peak;

/// What the cache may hold, and what the process may take more than before.
const BUDGET: usize = 8 << 20;
const MOST: usize = 16 << 20;

/// Chunks of 4 GiB if they were dense.
const CHUNK: u64 = 65_535;
const SIDE: u64 = 2 * CHUNK;
const POINTS: usize = 4_000;
const NAME: &str = "vast";

fn cache() -> CacheConfig {
    CacheConfig::default().bytes(BUDGET).adaptive(BUDGET, BUDGET)
}

fn options() -> OpenOptions {
    OpenOptions::new().libver_min(LibVersion::V110).cache(cache())
}

fn create(storage: Arc<dyn Driver>, filtered: bool) -> (File, Dataset) {
    let file = options().create_new().open_on(storage).unwrap();
    let new = file.root().unwrap().new_dataset::<u8>().shape([SIDE, SIDE]).max_shape([None, None]);
    let new = new.chunks([CHUNK, CHUNK]).sparse();
    let dataset = if filtered { new.shuffle().deflate(1) } else { new }.create(NAME).unwrap();
    (file, dataset)
}

/// Does something with the file, opened with nothing in memory, and says how much memory that took.
fn small<T>(storage: &Arc<dyn Driver>, what: &str, work: impl FnOnce(&File, &Dataset) -> T) -> T {
    in_file(OpenOptions::new().read_write().cache(cache()).open_on(storage.clone()).unwrap(), what, work)
}

fn in_file<T>(file: File, what: &str, work: impl FnOnce(&File, &Dataset) -> T) -> T {
    let dataset = file.dataset(NAME).unwrap();
    let (result, taken) = peak(|| {
        let result = work(&file, &dataset);
        file.flush().unwrap();
        result
    });
    println!("{what}: {} KiB at most", taken >> 10);
    assert!(taken < MOST, "{what}: {taken} bytes");
    assert!(file.cache_statistics().peak_bytes <= 2 * BUDGET, "{:?}", file.cache_statistics());
    drop(dataset);
    file.close().unwrap();
    result
}

pub(crate) fn vast_chunks_take_what_their_elements_take() {
    for filtered in [false, true] {
        let storage: Arc<dyn Driver> = Arc::new(Memory::new());
        create(storage.clone(), filtered).0.close().unwrap();
        let mut rng = Rng::with_seed(4);
        let points: Vec<u64> = (0..2 * POINTS).map(|_| rng.u64(..SIDE)).collect();
        let some = |dataset: &Dataset, count: usize| {
            let mut space = dataset.space();
            space.select_points(&points[..2 * count]).unwrap();
            space
        };
        small(&storage, "write", |_, dataset| dataset.write_selection(&some(dataset, POINTS), &[7u8; POINTS]).unwrap());
        let values = small(&storage, "read", |_, dataset| dataset.read_selection::<u8>(&some(dataset, 500)).unwrap());
        assert_eq!(values, [7; 500]);
        let count = |_: &File, dataset: &Dataset| dataset.defined(&dataset.space()).unwrap().npoints();
        assert_eq!(small(&storage, "defined", count), POINTS as u64);
        small(&storage, "copy", |file, _| {
            let root = file.root().unwrap();
            root.copy(NAME, &root, "copy").unwrap();
            assert_eq!(count(file, &file.dataset("copy").unwrap()), POINTS as u64);
        });
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("vast-{filtered}.h5"));
        let _ = std::fs::remove_file(&path);
        small(&storage, "repack", |file, _| Repack::new().cache(cache()).run(file, &path).unwrap());
        small(&storage, "compare", |file, dataset| {
            let other = OpenOptions::new().cache(cache()).open(&path).unwrap().dataset(NAME).unwrap();
            assert_eq!(count(file, &other), count(file, dataset));
            let space = dataset.defined(&dataset.space()).unwrap();
            assert_eq!(other.read_selection::<u8>(&space).unwrap(), dataset.read_selection::<u8>(&space).unwrap());
        });
        std::fs::remove_file(path).unwrap();
        small(&storage, "resize", |_, dataset| {
            dataset.resize([SIDE, CHUNK + 10_000]).unwrap();
            dataset.resize([SIDE, SIDE]).unwrap();
        });
        let left = small(&storage, "defined after that", count);
        small(&storage, "erase", |_, dataset| {
            dataset.erase(dataset.slice(s![1_000..SIDE, ..]).unwrap().selection()).unwrap();
        });
        assert!(small(&storage, "defined at the end", count) < left);
        small(&storage, "erase all", |_, dataset| dataset.erase(&dataset.space()).unwrap());
        assert_eq!(small(&storage, "defined then", count), 0);
    }
}

/// Each write makes a segment of the chunk anew, and takes no more than that.
pub(crate) fn a_chunk_grows_point_by_point() {
    let storage: Arc<dyn Driver> = Arc::new(Memory::new());
    create(storage.clone(), true).0.close().unwrap();
    let mut rng = Rng::with_seed(5);
    small(&storage, "100,000 points one by one", |_, dataset| {
        for _ in 0..100_000 {
            dataset.write_slice(s![rng.u64(..CHUNK), rng.u64(..CHUNK)], &[1u8]).unwrap();
        }
    });
    let count = small(&storage, "defined", |_, dataset| dataset.defined(&dataset.space()).unwrap().npoints());
    assert!((99_990..=100_000).contains(&count), "{count}");
}

/// Encoding takes more than chunks do in memory: those with one text each, of which the file has all elements, and those whose places are many and small.
pub(crate) fn encoding_takes_what_the_cache_may_take() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("encoded.h5");
    let remade = |make: &dyn Fn(&File)| {
        let _ = std::fs::remove_file(&path);
        let file = options().create_new().open(&path).unwrap();
        make(&file);
        file.close().unwrap();
        OpenOptions::new().read_write().cache(cache()).open(&path).unwrap()
    };
    for filtered in [false, true] {
        // A chunk has 2 MiB in the file, and less than a KiB in memory.
        let file = remade(&|file| {
            let new = file.root().unwrap().new_dataset::<String>().shape([32 << 17]).chunks([1 << 17]).vlen_in_chunks();
            if filtered { new.deflate(1) } else { new }.create(NAME).unwrap();
        });
        in_file(file, "a text in each of 32 chunks", |_, dataset| {
            for nth in 0..32 {
                dataset.write_slice(s![nth << 17], &["text"]).unwrap();
            }
        });
        let file = OpenOptions::new().cache(cache()).open(&path).unwrap();
        let texts = file.dataset(NAME).unwrap().read_slice::<String>(s![(9 << 17)..(9 << 17) + 2]).unwrap();
        assert_eq!(texts, ["text", ""]);
        drop(file);

        let file = remade(&|file| {
            let new = file.root().unwrap().new_dataset::<u8>().shape([16, 1 << 20]).chunks([1, 1 << 20]).sparse();
            if filtered { new.deflate(1) } else { new }.create(NAME).unwrap();
        });
        in_file(file, "every other element of 16 chunks", |_, dataset| {
            for nth in 0..16 {
                dataset.write_slice(s![nth, 0..(1 << 16); 2], &[nth as u8; 1 << 15]).unwrap();
            }
        });
    }
    std::fs::remove_file(path).unwrap();
}

/// What spoiled files say of their chunks takes no memory before the file is known to have it.
pub(crate) fn spoiled_files_take_little() {
    let (mut rng, seed) = (Rng::with_seed(2), sparse_seed().unwrap());
    for _ in 0..200 {
        let mut bytes = seed.clone();
        mutate(&mut bytes, &seed, seed.len() + 4096, &mut rng);
        repair_file(&mut bytes);
        let (_, taken) = peak(|| walk(bytes));
        assert!(taken < MOST, "{taken} bytes taken");
    }
    // Points and blocks that are told, and not there.
    let extent = Space::simple(&[20, 30]).unwrap().encode(Form::Smallest).unwrap();
    let points = [1, 0, 0, 0, 2, 0, 0, 0, 8, 2, 0, 0, 0];
    let blocks = [2, 0, 0, 0, 3, 0, 0, 0, 0, 8, 2, 0, 0, 0];
    for count in [u64::from(u32::MAX), 1 << 40, u64::MAX] {
        for list in [&points[..], &blocks] {
            let told = [&extent[..extent.len() - 16], list, &count.to_le_bytes()].concat();
            let (report, taken) = peak(|| walk(sparse_file(&told, &[1; 600]).unwrap()));
            assert!(report.errors.iter().any(|error| matches!(cause::section(error), Some((_, 0)))), "{report:?}");
            assert!(taken < MOST, "{taken} bytes taken");
        }
    }
}

/// The file as it is stored.
fn stored(storage: &dyn Driver) -> Vec<u8> {
    let mut bytes = vec![0; storage.len(&Transfer::default()).unwrap() as usize];
    storage.read_at(0, &mut bytes, &Transfer::default()).unwrap();
    bytes
}

/// Puts a number in the place of another one that the file has once.
fn replace(bytes: &mut [u8], old: u64, new: u64) {
    let at = bytes.windows(8).position(|window| window == old.to_le_bytes()).unwrap();
    bytes[at..at + 8].copy_from_slice(&new.to_le_bytes());
}

/// The index says that few bytes are many before the filters: only what the filters can make of them is taken.
pub(crate) fn sections_are_no_larger_than_their_filters_can_make_them() {
    for filter in [Deflate::ID, Zstd::ID, Lzf::ID, Lz4::ID, Bitshuffle::ID] {
        let storage: Arc<dyn Driver> = Arc::new(Memory::new());
        let file = options().create_new().open_on(storage.clone()).unwrap();
        let new = file.root().unwrap().new_dataset::<u8>().shape([SIDE, SIDE]).chunks([CHUNK, CHUNK]).sparse();
        let params = match filter {
            Bitshuffle::ID => Bitshuffle::options(0, BitshuffleCodec::Zstd(1)),
            Lzf::ID => Vec::new(),
            _ => vec![1],
        };
        let dataset = new.filter(filter, &params).section(ChunkSection::Selection).create(NAME).unwrap();
        dataset.write_slice(s![7, 0..777], &[1u8; 777]).unwrap();
        drop(dataset);
        file.close().unwrap();
        for told in [100u64 << 20, 900 << 20, 4_000 << 20] {
            let mut bytes = stored(&*storage);
            replace(&mut bytes, 777, told);
            repair_file(&mut bytes);
            let file = File::open_driver(Arc::new(Memory::from(bytes))).unwrap();
            let dataset = file.dataset(NAME).unwrap();
            let (read, taken) = peak(|| dataset.read_slice::<u8>(s![7, 0..10]));
            let error = read.unwrap_err();
            assert_eq!(cause::section(&error), Some((&[0, 0][..], 1)), "{error}");
            assert!(taken < MOST, "{taken} bytes taken");
        }
    }
}

/// A few bytes tell of a pattern with a thousand million runs. No value is read, and a few bytes of blosc may stand for any number of values.
pub(crate) fn patterns_are_no_longer_than_a_chunk_may_have_runs() {
    let storage: Arc<dyn Driver> = Arc::new(Memory::new());
    let file = OpenOptions::new().libver_min(LibVersion::V110).create_new().open_on(storage.clone()).unwrap();
    let new = file.root().unwrap().new_dataset::<u8>().shape([SIDE, SIDE]).chunks([CHUNK, CHUNK]).sparse();
    let new = new.blosc(1, BloscShuffle::None, BloscCodec::Zstd);
    let dataset = new.section(ChunkSection::Selection).create(NAME).unwrap();
    dataset.write_slice(s![3..10; 2, 5..60_000; 2], &vec![1u8; 4 * 29_998]).unwrap();
    drop(dataset);
    file.close().unwrap();
    let mut bytes = stored(&*storage);
    let pattern: Vec<u8> = [3u16, 2, 4, 1, 5, 2, 29_998, 1].into_iter().flat_map(u16::to_le_bytes).collect();
    let at = bytes.windows(16).position(|window| window == pattern).unwrap();
    bytes[at + 4..at + 6].copy_from_slice(&32_000u16.to_le_bytes());
    // Head, extent and head of the selection come before the pattern, a checksum comes after it.
    let begin = at - 41;
    let checksum = lookup3(&bytes[begin..at + 16]);
    bytes[at + 16..at + 20].copy_from_slice(&checksum.to_le_bytes());
    replace(&mut bytes, 4 * 29_998, 32_000 * 29_998);
    repair_file(&mut bytes);
    let file = File::open_driver(Arc::new(Memory::from(bytes))).unwrap();
    let dataset = file.dataset(NAME).unwrap();
    let (defined, taken) = peak(|| dataset.defined(&dataset.space()));
    let error = defined.unwrap_err();
    assert_eq!((error.kind(), cause::section(&error)), (ErrorKind::Malformed, Some((&[0, 0][..], 0))), "{error}");
    assert!(taken < MOST, "{taken} bytes taken");
}
