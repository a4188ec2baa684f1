//! Random programs on datasets whose values name objects of the heap, through tiny caches, beside arrays in memory. No object is lost, and none stays that no value
//! names.

use std::{fmt::Debug, sync::Arc};

use fastrand::Rng;
use hyperslab::{
    CacheConfig, Dataset, Element, File, LibVersion, OpenOptions, Storable,
    driver::Memory,
    space::{Op, Slab, Space},
};

use super::collections;

/// A type of values that name objects.
trait Value: Element + Storable + Clone + PartialEq + Debug + 'static {
    fn any(rng: &mut Rng) -> Self;

    /// Changes some members of selected values, and leaves the others.
    fn change_in_part(_: &Dataset, _: &Space, _: &mut [&mut Self], _: &mut Rng) {}
}

fn text(rng: &mut Rng) -> String {
    let most = [1, 8, 60, 300, 5000][rng.usize(..5)];
    let length = rng.usize(..most);
    std::iter::repeat_with(|| rng.alphanumeric()).take(length).collect()
}

impl Value for String {
    fn any(rng: &mut Rng) -> String {
        text(rng)
    }
}

impl Value for Vec<Vec<String>> {
    fn any(rng: &mut Rng) -> Vec<Vec<String>> {
        (0..rng.usize(..3)).map(|_| (0..rng.usize(..3)).map(|_| text(rng)).collect()).collect()
    }
}

#[derive(Clone, Debug, PartialEq, Element)]
struct Note {
    title: String,
    number: i32,
    lines: Vec<String>,
}

/// Some members of a note.
#[derive(Clone, Element)]
struct Title {
    title: String,
}

impl Value for Note {
    fn any(rng: &mut Rng) -> Note {
        Note { title: text(rng), number: rng.i32(..), lines: (0..rng.usize(..3)).map(|_| text(rng)).collect() }
    }

    fn change_in_part(dataset: &Dataset, selection: &Space, values: &mut [&mut Note], rng: &mut Rng) {
        let titles: Vec<Title> = values.iter().map(|_| Title { title: text(rng) }).collect();
        dataset.write_selection(selection, &titles).unwrap();
        values.iter_mut().zip(titles).for_each(|(note, new)| note.title = new.title);
    }
}

/// An array in memory, and the dataset that must be equal to it.
struct Twin<T> {
    name: String,
    fill: T,
    values: Vec<T>,
    /// What each value may be after chunks were discarded: what it was since the last flush.
    since: Vec<Vec<T>>,
    grows: bool,
    dataset: Option<Dataset>,
}

/// What a program does with a twin of any type.
trait Steps {
    fn step(&mut self, file: &File, rng: &mut Rng);
    fn flushed(&mut self);
    fn check(&mut self, file: &File);
    fn close(&mut self);
    fn name(&self) -> &str;
}

impl<T: Value> Twin<T> {
    fn create(file: &File, nth: usize, empty: T, rng: &mut Rng) -> Box<dyn Steps> {
        let (length, chunk, kind) = (rng.u64(1..60), rng.u64(1..20), rng.u8(..7));
        let name = format!("d{nth}-{}", rng.u32(..));
        let new = file.root().unwrap().new_dataset::<T>().shape([length]);
        let mut new = match kind {
            0 => new.contiguous(),
            1 => new.compact(),
            2..4 => new.max_shape([None]).chunks([chunk]),
            6 => new.chunks([chunk.min(length)]).deflate(1),
            _ => new.max_shape([None]).chunks([chunk]).deflate(1),
        };
        let has_fill = matches!(kind, 0 | 6);
        let fill = if has_fill { T::any(rng) } else { empty };
        if has_fill {
            new = new.fill_value(fill.clone());
        }
        let values = vec![fill.clone(); length as usize];
        let dataset = Some(new.create(&name).unwrap());
        let mut twin = Twin { name, fill, since: Vec::new(), values, grows: (2..6).contains(&kind), dataset };
        twin.flushed();
        Box::new(twin)
    }

    fn dataset(&mut self, file: &File) -> Dataset {
        self.dataset.get_or_insert_with(|| file.dataset(&self.name).unwrap()).clone()
    }

    fn selection(&self, rng: &mut Rng) -> (Space, Vec<usize>) {
        let length = self.values.len() as u64;
        let mut space = Space::simple(&[length]).unwrap();
        if rng.u8(..5) == 0 {
            let points: Vec<u64> = (0..rng.usize(1..8)).map(|_| rng.u64(..length)).collect();
            space.select_points(&points).unwrap();
            return (space, points.into_iter().map(|at| at as usize).collect());
        }
        let (start, stride) = (rng.u64(..length), rng.u64(1..4));
        let count = rng.u64(1..=(length - start).div_ceil(stride).min(12));
        space.select_hyperslab(Op::Set, &[Slab::new(start, stride, count, 1)]).unwrap();
        (space, (0..count).map(|nth| (start + nth * stride) as usize).collect())
    }

    fn set(&mut self, at: usize, value: T) {
        self.since[at].push(value.clone());
        self.values[at] = value;
    }

    /// Values are as the file has them: each is one that it was since the last flush.
    fn discarded(&mut self, dataset: &Dataset) {
        let found = dataset.read::<T>().unwrap();
        for (at, value) in found.into_iter().enumerate() {
            assert!(self.since[at].contains(&value), "{} {at}: {value:?}", self.name);
            self.values[at] = value;
        }
    }
}

impl<T: Value> Steps for Twin<T> {
    fn step(&mut self, file: &File, rng: &mut Rng) {
        let dataset = self.dataset(file);
        let dataset = if rng.u8(..5) == 0 { dataset.past_cache() } else { dataset };
        let (selection, places) = self.selection(rng);
        match rng.u8(..20) {
            0..7 => {
                let values: Vec<T> = places.iter().map(|_| T::any(rng)).collect();
                dataset.write_selection(&selection, &values).unwrap();
                places.into_iter().zip(values).for_each(|(at, value)| self.set(at, value));
            }
            7..10 => {
                let wanted: Vec<T> = places.iter().map(|at| self.values[*at].clone()).collect();
                assert_eq!(dataset.read_selection::<T>(&selection).unwrap(), wanted, "{}", self.name);
            }
            10 if self.grows => {
                let length = rng.usize(1..60);
                dataset.resize([length as u64]).unwrap();
                self.values.resize(length, self.fill.clone());
                self.since.resize(length, vec![self.fill.clone()]);
            }
            11 => {
                dataset.flush().unwrap();
            }
            12 => dataset.evict().unwrap(),
            13 => {
                dataset.write_fill(&selection).unwrap();
                let fill = self.fill.clone();
                places.into_iter().for_each(|at| self.set(at, fill.clone()));
            }
            14 => {
                dataset.discard().unwrap();
                self.discarded(&dataset);
            }
            15..18 => {
                let (start, end) = (places[0], (places[0] + rng.usize(1..9)).min(self.values.len()));
                let mut part = Space::simple(&[self.values.len() as u64]).unwrap();
                part.select_hyperslab(Op::Set, &[Slab::block(start as u64, (end - start) as u64)]).unwrap();
                let mut values: Vec<&mut T> = self.values[start..end].iter_mut().collect();
                T::change_in_part(&dataset, &part, &mut values, rng);
                (start..end).for_each(|at| self.since[at].push(self.values[at].clone()));
            }
            _ => self.dataset = None,
        }
    }

    fn flushed(&mut self) {
        self.since = self.values.iter().map(|value| vec![value.clone()]).collect();
    }

    fn check(&mut self, file: &File) {
        assert_eq!(self.dataset(file).read::<T>().unwrap(), self.values, "{}", self.name);
    }

    fn close(&mut self) {
        self.dataset = None;
    }

    fn name(&self) -> &str {
        &self.name
    }
}

fn create(file: &File, nth: usize, rng: &mut Rng) -> Box<dyn Steps> {
    match rng.u8(..3) {
        0 => Twin::create(file, nth, String::new(), rng),
        1 => Twin::create(file, nth, Vec::<Vec<String>>::new(), rng),
        _ => Twin::create(file, nth, Note { title: String::new(), number: 0, lines: Vec::new() }, rng),
    }
}

fn config(rng: &mut Rng) -> CacheConfig {
    let bytes = [0, 300, 1000, 8192, 1 << 20][rng.usize(..5)];
    CacheConfig::default().bytes(bytes).reserve(rng.usize(..600)).encode_ahead(rng.bool())
}

#[test]
fn files_are_equal_to_arrays_in_memory_and_lose_no_object() {
    let seeds: u64 = std::env::var("HYPERSLAB_CACHE_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(40);
    for seed in 0..seeds {
        let mut rng = Rng::with_seed(seed);
        let storage = Arc::new(Memory::new());
        let low = [LibVersion::V110, LibVersion::V114][rng.usize(..2)];
        let new = OpenOptions::new().create().truncate().libver_min(low).cache(config(&mut rng));
        let mut file = new.open_on(storage.clone()).unwrap();
        let mut twins: Vec<Box<dyn Steps>> = (0..5).map(|nth| create(&file, nth, &mut rng)).collect();
        for _ in 0..300 {
            let nth = rng.usize(..twins.len());
            match rng.u8(..40) {
                0 => {
                    file.flush().unwrap();
                    twins.iter_mut().for_each(|twin| twin.flushed());
                }
                1 => {
                    file.root().unwrap().delete(twins[nth].name()).unwrap();
                    twins[nth] = create(&file, nth, &mut rng);
                }
                2 => {
                    twins.iter_mut().for_each(|twin| twin.close());
                    file.close().unwrap();
                    collections(&storage);
                    file = OpenOptions::new().read_write().cache(config(&mut rng)).open_on(storage.clone()).unwrap();
                    twins.iter_mut().for_each(|twin| twin.check(&file));
                    twins.iter_mut().for_each(|twin| twin.flushed());
                }
                _ => twins[nth].step(&file, &mut rng),
            }
        }
        twins.iter_mut().for_each(|twin| twin.check(&file));
        twins.iter_mut().for_each(|twin| twin.close());
        // Half of the programs delete what is in the file, the others also what is in the cache.
        if rng.bool() {
            file.close().unwrap();
            file = OpenOptions::new().read_write().open_on(storage.clone()).unwrap();
            twins.iter_mut().for_each(|twin| twin.check(&file));
            twins.iter_mut().for_each(|twin| twin.close());
        }
        let root = file.root().unwrap();
        twins.iter().for_each(|twin| root.delete(twin.name()).unwrap());
        drop(root);
        file.close().unwrap();
        assert_eq!(collections(&storage), 0, "seed {seed}: objects that no value names");
    }
}
