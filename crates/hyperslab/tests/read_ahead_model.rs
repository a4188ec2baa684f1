//! Reads that go on in one direction, so that chunks are read ahead in the background, between writes, resizes, flushes and evictions: held against arrays in
//! memory, on storage with a latency, in all layouts, with each page strategy.

use std::{sync::Arc, time::Duration};

use fastrand::Rng;
use hyperslab::{
    AllocTime, CacheConfig, Dataset, File, LibVersion, NewDataset, OpenOptions, PageStrategy, ReadAhead,
    driver::{Memory, Throttle},
    s,
};

const MOST: u64 = 2000;
const CHUNK: u64 = 32;

struct Twin {
    fill: i32,
    dataset: Dataset,
    values: Vec<i32>,
    resizes: bool,
}

fn create(file: &File) -> Vec<Twin> {
    let root = file.root().unwrap();
    let new = || root.new_dataset::<i32>().shape([MOST]);
    let limited = || new().max_shape([Some(MOST)]).chunks([CHUNK]);
    let made: [(&str, NewDataset); 7] = [
        ("contiguous", new()),
        ("early", limited().alloc_time(AllocTime::Early)),
        ("fixed", limited()),
        ("unlimited", new().max_shape([None]).chunks([CHUNK])),
        ("filled", limited().fill_value(7)),
        ("filtered", limited().deflate(1)),
        ("summed", new().max_shape([None]).chunks([CHUNK]).fletcher32()),
    ];
    let twin = |(name, new): (&str, NewDataset)| {
        let fill = if name == "filled" { 7 } else { 0 };
        let values = vec![fill; MOST as usize];
        Twin { fill, dataset: new.create(name).unwrap(), values, resizes: name != "contiguous" }
    };
    made.map(twin).into_iter().collect()
}

impl Twin {
    fn len(&self) -> u64 {
        self.values.len() as u64
    }

    /// Reads parts that follow each other, as they are stored or converted, and writes just before the last one now and then.
    fn go_on(&mut self, rng: &mut Rng) {
        let (mut at, step) = (rng.u64(..self.len()), rng.u64(CHUNK / 2..3 * CHUNK));
        let (count, converted) = (rng.u64(3..12), rng.u8(..3) == 0);
        for nth in 0..count {
            let end = (at + step).min(self.len());
            if at >= end {
                return;
            }
            if nth + 1 == count && rng.bool() {
                self.write(rng, at);
            }
            let expected = &self.values[at as usize..end as usize];
            if converted {
                let read = self.dataset.read_slice::<f64>(s![at..end]).unwrap();
                assert!(read.iter().eq(expected.iter().map(|value| f64::from(*value)).collect::<Vec<_>>().iter()));
            } else {
                assert_eq!(
                    self.dataset.read_slice::<i32>(s![at..end]).unwrap(),
                    expected,
                    "{:?}",
                    self.dataset.layout()
                );
            }
            at = end;
        }
    }

    fn write(&mut self, rng: &mut Rng, at: u64) {
        let end = (at + rng.u64(1..5 * CHUNK)).min(self.len());
        let values: Vec<i32> = (at..end).map(|_| rng.i32(..)).collect();
        let handle = if rng.bool() { self.dataset.past_cache() } else { self.dataset.clone() };
        handle.write_slice(s![at..end], &values).unwrap();
        self.values[at as usize..end as usize].copy_from_slice(&values);
    }

    fn step(&mut self, rng: &mut Rng, file: &File) {
        match rng.u8(..12) {
            0 => file.flush().unwrap(),
            1 => self.dataset.evict().unwrap(),
            2..4 if self.resizes => {
                let len = rng.u64(1..=MOST);
                self.dataset.resize([len]).unwrap();
                self.values.resize(len as usize, self.fill);
            }
            4..6 => {
                let at = rng.u64(..self.len());
                self.write(rng, at);
            }
            _ => self.go_on(rng),
        }
    }
}

#[test]
fn what_is_read_ahead_is_as_it_was_written_last() {
    for seed in 0..8 {
        let mut rng = Rng::with_seed(seed);
        let cache = CacheConfig::default().bytes([4096, 16 << 10, 1 << 20][rng.usize(..3)]);
        let cache = cache.read_ahead(ReadAhead::Bytes(rng.usize(500..5000)));
        let storage = Arc::new(Throttle::new(Memory::new()).latency(Duration::from_micros(20)));
        let strategy = PageStrategy::ALL[seed as usize % 4];
        let options = OpenOptions::new().create().truncate().cache(cache).page_buffer(8192).page_strategy(strategy);
        let low = if rng.bool() { LibVersion::V110 } else { LibVersion::Earliest };
        let file = options.libver_min(low).open_on(storage).unwrap();
        let mut twins = create(&file);
        for _ in 0..500 {
            let nth = rng.usize(..twins.len());
            twins[nth].step(&mut rng, &file);
        }
        for twin in twins {
            assert_eq!(twin.dataset.read::<i32>().unwrap(), twin.values);
        }
        file.close().unwrap();
    }
}
