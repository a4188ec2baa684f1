//! Random operations on many datasets through tiny caches, beside arrays in memory.

use std::sync::Arc;

use fastrand::Rng;
use hyperslab::{
    AllocTime, CacheConfig, CachePolicy, Dataset, File, LibVersion, OpenOptions, ReadAhead,
    driver::Memory,
    filter::{Pipeline, Registry, Step},
    space::{Op, Slab, Space},
};

/// An array in memory, and the dataset that must be equal to it.
struct Twin {
    name: String,
    dims: [u64; 2],
    /// Nothing if it is not stored in chunks.
    chunk: Option<[u64; 2]>,
    fill: i32,
    values: Vec<i32>,
    /// Dropped and opened again now and then.
    dataset: Option<Dataset>,
}

impl Twin {
    fn create(file: &File, nth: usize, rng: &mut Rng) -> Twin {
        let (dims, chunk) = ([rng.u64(1..40), rng.u64(1..40)], [rng.u64(1..9), rng.u64(1..9)]);
        let (fill, name, kind) = (rng.i32(-3..3), format!("d{nth}-{}", rng.u32(..)), rng.u8(..8));
        let mut new = file.root().unwrap().new_dataset::<i32>().shape(dims);
        new = match kind {
            0 => new.contiguous(),
            1 => new.compact(),
            _ => {
                let max = [[None, None], [None, Some(40)], [Some(40), Some(40)]][rng.usize(..3)];
                new.max_shape(max).chunks(chunk)
            }
        };
        if fill != 0 {
            new = new.fill_value(fill);
        }
        new = match kind {
            2..4 => new.shuffle().deflate(1),
            4 => new.fletcher32(),
            _ => new,
        };
        new = match rng.u8(..4) {
            0 => new.alloc_time(AllocTime::Early),
            1 if kind != 1 => new.alloc_time(AllocTime::Late),
            _ => new,
        };
        let dataset = Some(new.create(&name).unwrap());
        let values = vec![fill; (dims[0] * dims[1]) as usize];
        Twin { name, dims, chunk: (kind > 1).then_some(chunk), fill, values, dataset }
    }

    fn dataset(&mut self, file: &File) -> Dataset {
        self.dataset.get_or_insert_with(|| file.dataset(&self.name).unwrap()).clone()
    }

    fn selection(&self, rng: &mut Rng) -> (Space, Vec<usize>) {
        let mut space = Space::simple(&self.dims).unwrap();
        if rng.u8(..4) == 0 {
            let points: Vec<[u64; 2]> =
                (0..rng.usize(1..30)).map(|_| [rng.u64(..self.dims[0]), rng.u64(..self.dims[1])]).collect();
            space.select_points(points.iter().flatten().copied().collect::<Vec<_>>().as_slice()).unwrap();
            return (space, points.iter().map(|at| (at[0] * self.dims[1] + at[1]) as usize).collect());
        }
        let mut side = |dim: u64| {
            let start = rng.u64(..dim);
            let stride = rng.u64(1..4);
            let count = rng.u64(1..=(dim - start).div_ceil(stride));
            Slab::new(start, stride, count, 1)
        };
        let slabs = [side(self.dims[0]), side(self.dims[1])];
        space.select_hyperslab(Op::Set, &slabs).unwrap();
        let along = |slab: &Slab| (0..slab.count).map(|nth| slab.start + nth * slab.stride).collect::<Vec<_>>();
        let places = along(&slabs[0])
            .into_iter()
            .flat_map(|row| along(&slabs[1]).into_iter().map(move |column| (row * self.dims[1] + column) as usize));
        (space, places.collect())
    }

    fn resize(&mut self, dims: [u64; 2]) {
        let mut values = vec![self.fill; (dims[0] * dims[1]) as usize];
        for row in 0..dims[0].min(self.dims[0]) {
            for column in 0..dims[1].min(self.dims[1]) {
                values[(row * dims[1] + column) as usize] = self.values[(row * self.dims[1] + column) as usize];
            }
        }
        (self.values, self.dims) = (values, dims);
    }

    /// Which elements of the array are in a chunk, in its order; nothing for those outside.
    fn inside(&self, chunk: [u64; 2], place: [u64; 2]) -> impl Iterator<Item = Option<usize>> + use<> {
        let dims = self.dims;
        (0..chunk[0] * chunk[1]).map(move |nth| {
            let (row, column) = (place[0] * chunk[0] + nth / chunk[1], place[1] * chunk[1] + nth % chunk[1]);
            (row < dims[0] && column < dims[1]).then_some((row * dims[1] + column) as usize)
        })
    }

    /// Any chunk: its shape, and its place in the grid.
    fn some_chunk(&self, rng: &mut Rng) -> Option<([u64; 2], [u64; 2])> {
        let chunk = self.chunk?;
        Some((chunk, [0, 1].map(|dim| rng.u64(..self.dims[dim].div_ceil(chunk[dim])))))
    }

    /// A chunk as it is stored.
    fn read_chunk(&self, dataset: &Dataset, (chunk, place): ([u64; 2], [u64; 2])) {
        let Some((mask, stored)) = dataset.read_chunk(place).unwrap() else {
            // It was never written.
            let mut inside = self.inside(chunk, place).flatten();
            return assert!(inside.all(|at| self.values[at] == self.fill), "{}", self.name);
        };
        let (mut bytes, len) = (Vec::new(), 4 * (chunk[0] * chunk[1]) as usize);
        let (pipeline, registry) = (pipeline(dataset), Registry::default());
        pipeline.decode(&registry, &stored, mask, len, &mut bytes, &mut Vec::new()).unwrap();
        for (at, bytes) in self.inside(chunk, place).zip(bytes.chunks_exact(4)) {
            let value = i32::from_le_bytes(bytes.try_into().unwrap());
            assert!(at.is_none_or(|at| self.values[at] == value), "{} {place:?}", self.name);
        }
    }

    /// A chunk past the filters; some of them are left out.
    fn write_chunk(&mut self, dataset: &Dataset, (chunk, place): ([u64; 2], [u64; 2]), rng: &mut Rng) {
        let mut bytes = Vec::new();
        for at in self.inside(chunk, place) {
            let value = at.map_or(self.fill, |_| rng.i32(..));
            at.into_iter().for_each(|at| self.values[at] = value);
            bytes.extend(value.to_le_bytes());
        }
        let (pipeline, mut stored) = (pipeline(dataset), Vec::new());
        let skip = rng.u32(..1 << pipeline.steps().len());
        let mask = pipeline.encode(&Registry::default(), &bytes, skip, &mut stored, &mut Vec::new()).unwrap();
        dataset.write_chunk(place, mask, &stored).unwrap();
    }

    fn step(&mut self, file: &File, rng: &mut Rng) {
        let dataset = self.dataset(file);
        let dataset = if rng.u8(..5) == 0 { dataset.past_cache() } else { dataset };
        match rng.u8(..23) {
            0..7 => {
                let (selection, places) = self.selection(rng);
                let values: Vec<i32> = places.iter().map(|_| rng.i32(..)).collect();
                dataset.write_selection(&selection, &values).unwrap();
                places.iter().zip(values).for_each(|(place, value)| self.values[*place] = value);
            }
            7..14 => {
                let (selection, places) = self.selection(rng);
                let wanted: Vec<i32> = places.iter().map(|place| self.values[*place]).collect();
                assert_eq!(dataset.read_selection::<i32>(&selection).unwrap(), wanted, "{}", self.name);
            }
            14 => {
                let dims = [rng.u64(1..40), rng.u64(1..40)];
                if dataset.resize(dims).is_ok() {
                    self.resize(dims);
                }
            }
            15 => dataset.flush().unwrap(),
            16 => dataset.evict().unwrap(),
            17..19 => {
                let (selection, places) = self.selection(rng);
                dataset.write_fill(&selection).unwrap();
                places.iter().for_each(|place| self.values[*place] = self.fill);
            }
            19 => self.some_chunk(rng).into_iter().for_each(|chunk| self.read_chunk(&dataset, chunk)),
            20 => self.some_chunk(rng).into_iter().for_each(|chunk| self.write_chunk(&dataset, chunk, rng)),
            _ => self.dataset = None,
        }
    }

    fn check(&mut self, file: &File) {
        assert_eq!(self.dataset(file).shape(), self.dims);
        assert_eq!(self.dataset(file).read::<i32>().unwrap(), self.values, "{}", self.name);
    }
}

/// The filters of a dataset, as a caller of `write_chunk` has them.
fn pipeline(dataset: &Dataset) -> Pipeline {
    let steps = dataset.filters().iter();
    Pipeline::new(steps.map(|step| Step::mandatory(step.id, step.params.clone())).collect()).unwrap()
}

fn config(rng: &mut Rng) -> CacheConfig {
    let policies = [CachePolicy::Lru, CachePolicy::Mru, CachePolicy::Lfu, CachePolicy::S3Fifo];
    let bytes = [0, 256, 1000, 4096, 1 << 20][rng.usize(..5)];
    let limit = [usize::MAX, 0, 700, 3000][rng.usize(..4)];
    let config = CacheConfig::default().bytes(bytes).policy(policies[rng.usize(..4)]).reserve(rng.usize(..600));
    // A chunk that a job in the background has stays when a limit becomes smaller.
    let ahead = rng.bool();
    config.dataset_limit(limit).read_ahead(ahead).encode_ahead(ahead)
}

fn open(storage: &Arc<Memory>, rng: &mut Rng) -> (File, CacheConfig) {
    let cache = config(rng);
    (OpenOptions::new().read_write().cache(cache).open_on(storage.clone()).unwrap(), cache)
}

#[test]
fn the_file_is_equal_to_arrays_in_memory() {
    for seed in 0..hyperslab_workshop::cases("HYPERSLAB_CACHE_SEEDS", 24) {
        let mut rng = Rng::with_seed(seed);
        let storage = Arc::new(Memory::new());
        let low = [LibVersion::Earliest, LibVersion::V110, LibVersion::V114][rng.usize(..3)];
        let cache = config(&mut rng);
        let new = OpenOptions::new().create().truncate().libver_min(low).cache(cache);
        let (mut file, mut cache) = (new.open_on(storage.clone()).unwrap(), cache);
        let mut twins: Vec<Twin> = (0..8).map(|nth| Twin::create(&file, nth, &mut rng)).collect();
        for _ in 0..400 {
            let nth = rng.usize(..twins.len());
            match rng.u8(..60) {
                0 => file.flush().unwrap(),
                1 => {
                    file.root().unwrap().delete(&twins[nth].name).unwrap();
                    twins[nth] = Twin::create(&file, nth, &mut rng);
                }
                2 => {
                    twins.iter_mut().for_each(|twin| twin.dataset = None);
                    file.close().unwrap();
                    (file, cache) = open(&storage, &mut rng);
                    twins.iter_mut().for_each(|twin| twin.check(&file));
                }
                3 => {
                    let limit = [0, 400, 1500, usize::MAX][rng.usize(..4)];
                    let dataset = twins[nth].dataset(&file);
                    dataset.set_cache_limit(limit).unwrap();
                    dataset.reset_cache_statistics().unwrap();
                }
                _ => twins[nth].step(&file, &mut rng),
            }
            let dataset = twins[nth].dataset(&file).cache_statistics().unwrap();
            let is_within = dataset.bytes <= dataset.limit && dataset.peak_bytes <= dataset.limit;
            assert!(is_within || cache.reads_ahead() != ReadAhead::Off, "seed {seed}: {dataset:?}");
            let (seen, limits) = (file.cache_statistics(), cache.limits());
            assert!(seen.bytes <= limits.quiescent, "seed {seed}: {seen:?} {cache:?}");
            assert!(seen.peak_bytes <= limits.active, "seed {seed}: {seen:?}");
        }
        twins.iter_mut().for_each(|twin| twin.check(&file));
        twins.iter_mut().for_each(|twin| twin.dataset = None);
        file.close().unwrap();
        let file = File::open_driver(storage).unwrap();
        twins.iter_mut().for_each(|twin| twin.check(&file));
    }
}
