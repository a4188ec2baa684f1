//! Storage that fails, a dataset that cannot be stored, and others that can.

use std::sync::Arc;

use fastrand::Rng;
use hyperslab::{
    CacheConfig, Dataset, File, OpenOptions,
    driver::{Driver, Fault, Memory, Transfer},
    filter::Lzf,
};

pub(crate) const CHUNK: usize = 4096;
pub(crate) const CHUNKS: usize = 16;
/// No cache, one of a few chunks, and one that has all.
pub(crate) const CACHES: [usize; 3] = [0, 6 * CHUNK, 64 << 20];

pub(crate) type Disk = Arc<Fault<Memory>>;

pub(crate) fn positions() -> u64 {
    hyperslab_workshop::cases("HYPERSLAB_FULL", 40)
}

pub(crate) fn disk() -> Disk {
    Arc::new(Fault::new(Memory::new()))
}

pub(crate) fn create(disk: &Disk, cache: usize) -> File {
    let config = CacheConfig::default().bytes(cache).reserve(0);
    OpenOptions::new().create().truncate().cache(config).open_on(disk.clone()).unwrap()
}

/// The file as it is on the disk now, opened by another process that knows nothing of this one's memory.
pub(crate) fn stored(disk: &Disk) -> File {
    loop {
        let len = disk.len(&Transfer::default()).unwrap();
        let mut bytes = vec![0; len as usize];
        let read = disk.read_at(0, &mut bytes, &Transfer::default());
        // A thread that writes may have changed the length meanwhile.
        if disk.len(&Transfer::default()).unwrap() == len {
            read.unwrap();
            return File::open_driver(Arc::new(Memory::from(bytes))).unwrap();
        }
    }
}

pub(crate) fn noise(seed: u64) -> Vec<u8> {
    let mut rng = Rng::with_seed(seed);
    (0..CHUNK).map(|_| rng.u8(..)).collect()
}

/// A dataset with a filter that refuses noise and may not be left out. All of it is zeros in the file.
pub(crate) fn picky(file: &File) -> Dataset {
    let new = file.root().unwrap().new_dataset::<u8>().shape([(CHUNK * CHUNKS) as u64]).max_shape([None]);
    let new = new.chunks([CHUNK as u64]).mandatory_filter(Lzf::ID, &Lzf::params(CHUNK as u32));
    let dataset = new.create("picky").unwrap();
    dataset.write(&vec![0u8; CHUNK * CHUNKS]).unwrap();
    dataset
}

/// Puts noise into a chunk, in two parts: the chunk waits in the cache, if there is one.
pub(crate) fn spoil(dataset: &Dataset, nth: usize) -> hyperslab::Result<()> {
    let (from, noise) = ((nth * CHUNK) as u64, noise(nth as u64));
    let half = CHUNK / 2;
    dataset.write_slice(from..from + half as u64, &noise[..half])?;
    dataset.write_slice(from + half as u64..from + CHUNK as u64, &noise[half..])
}

/// Another dataset, and what it must be.
pub(crate) struct Good {
    pub(crate) dataset: Dataset,
    pub(crate) values: Vec<i32>,
}

impl Good {
    pub(crate) fn new(file: &File, name: &str) -> Good {
        let count = CHUNK / 4 * CHUNKS;
        let new = file.root().unwrap().new_dataset::<i32>().shape([count as u64]).chunks([CHUNK as u64 / 4]);
        Good { dataset: new.deflate(1).create(name).unwrap(), values: vec![0; count] }
    }

    /// Writes a part and reads another one.
    pub(crate) fn step(&mut self, rng: &mut Rng) -> hyperslab::Result<()> {
        let (start, count) = (rng.usize(..self.values.len()), rng.usize(1..500));
        let end = (start + count).min(self.values.len());
        let values: Vec<i32> = (start..end).map(|_| rng.i32(..)).collect();
        self.dataset.write_slice(start as u64..end as u64, &values)?;
        self.values[start..end].copy_from_slice(&values);
        let start = rng.usize(..self.values.len());
        let end = (start + count).min(self.values.len());
        assert_eq!(self.dataset.read_slice::<i32>(start as u64..end as u64)?, self.values[start..end]);
        Ok(())
    }

    pub(crate) fn assert_in(&self, file: &File, name: &str) {
        assert!(file.dataset(name).unwrap().read::<i32>().unwrap() == self.values, "{name}");
    }
}
