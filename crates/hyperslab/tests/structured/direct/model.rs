//! Random programs that store chunks of one dataset in another one, as they are or through other filters, while values of both change in the cache.

use std::{collections::BTreeSet, sync::Arc};

use fastrand::Rng;
use hyperslab::{
    CacheConfig, Dataset, File, NewDataset, StructuredChunk,
    driver::{Driver, Memory},
};

use super::{
    super::{
        model::{Model, filtered, selection, whole},
        options,
        values::{Mixed, Nested, Value},
    },
    before_filters, through_filters,
};

/// A dataset, what it must have, and which of its chunks are stored if they are dense.
struct Twin<T> {
    name: &'static str,
    dataset: Dataset,
    chunk: Vec<u64>,
    model: Model<T>,
    written: BTreeSet<Vec<u64>>,
}

impl<T: Value> Twin<T> {
    fn place_of(&self, coord: &[u64]) -> Vec<u64> {
        coord.iter().zip(&self.chunk).map(|(at, side)| at / side).collect()
    }

    /// The places of stored chunks.
    fn places(&self) -> BTreeSet<Vec<u64>> {
        match self.model.is_sparse {
            true => self.model.values.keys().map(|coord| self.place_of(coord)).collect(),
            false => self.written.clone(),
        }
    }

    fn has_place(&self, place: &[u64]) -> bool {
        place.iter().zip(self.chunk.iter().zip(&self.model.dims)).all(|(nth, (side, dim))| nth * side < *dim)
    }

    /// Changes values through the cache, or past it.
    fn change(&mut self, random: &mut Rng) {
        let part = selection(random, &self.model.dims);
        let dataset = if random.u8(0..4) == 0 { self.dataset.past_cache() } else { self.dataset.clone() };
        if self.model.is_sparse && random.u8(0..3) == 0 {
            dataset.erase(&part).unwrap();
            super::super::coords(&part).iter().for_each(|coord| drop(self.model.values.remove(coord)));
            return;
        }
        let values: Vec<T> = (0..part.npoints()).map(|_| T::random(random)).collect();
        dataset.write_selection(&part, &values).unwrap();
        let places: Vec<_> = super::super::coords(&part).iter().map(|coord| self.place_of(coord)).collect();
        self.written.extend(places);
        self.model.write(&part, &values);
    }

    /// Sparse datasets grow and shrink.
    fn resize(&mut self, random: &mut Rng) {
        let dims: Vec<u64> = self.chunk.iter().map(|side| random.u64(0..3 * side + 2)).collect();
        self.dataset.resize(&dims).unwrap();
        self.model.values.retain(|coord, _| coord.iter().zip(&dims).all(|(at, dim)| at < dim));
        self.model.dims = dims;
    }

    fn check(&self, context: &str) {
        self.model.check(&self.dataset, &whole(&self.model.dims), context);
        let told: Vec<Vec<u64>> = self.dataset.structured_chunks().unwrap().map(|info| info.place).collect();
        assert_eq!(told, self.places().into_iter().collect::<Vec<_>>(), "{context}");
    }
}

/// The same sections, which skip other filters.
fn through_others(dataset: &Dataset, chunk: &StructuredChunk, skip: u32) -> StructuredChunk {
    let sections = chunk.sections.iter().enumerate();
    let raw: Vec<Vec<u8>> = sections.map(|(number, section)| before_filters(dataset, number, section)).collect();
    through_filters(dataset, &raw, skip)
}

/// Stores a chunk of one dataset in the other, if that has room for it.
fn copy<T: Value>(from: &Twin<T>, to: &mut Twin<T>, random: &mut Rng, context: &str) {
    let place: Vec<u64> = from.chunk.iter().map(|_| random.u64(0..4)).collect();
    let read = from.dataset.read_structured_chunk(&place);
    if !from.has_place(&place) {
        assert!(read.is_err(), "{context}: {place:?}");
        return;
    }
    let read = read.unwrap();
    assert_eq!(read.is_some(), from.places().contains(&place), "{context}: {place:?}");
    let Some(mut chunk) = read else { return };
    if random.bool() {
        chunk = through_others(&from.dataset, &chunk, random.u32(0..16));
    }
    let there = from.model.values.iter().filter(|(coord, _)| from.place_of(coord) == place);
    let new: Vec<_> = there.map(|(coord, value)| (coord.clone(), value.clone())).collect();
    let is_inside = |coord: &[u64]| coord.iter().zip(&to.model.dims).all(|(at, dim)| at < dim);
    let fits = to.has_place(&place) && new.iter().all(|(coord, _)| is_inside(coord));
    let written = to.dataset.write_structured_chunk(&place, &chunk);
    assert_eq!(written.is_ok(), fits, "{context}: {place:?}, {written:?}");
    if fits {
        let chunk = to.chunk.clone();
        let is_there =
            |coord: &Vec<u64>| coord.iter().zip(&chunk).map(|(at, side)| at / side).eq(place.iter().copied());
        to.model.values.retain(|coord, _| !is_there(coord));
        to.model.values.extend(new);
        to.written.insert(place);
    }
}

fn run<T: Value>(seed: u64) {
    let mut random = Rng::with_seed(seed);
    let rank = random.usize(1..4);
    let chunk: Vec<u64> = (0..rank).map(|_| random.u64(1..[20, 6, 4][rank - 1])).collect();
    let is_sparse = !T::VLEN || random.usize(0..3) > 0;
    let dims: Vec<u64> = chunk.iter().map(|side| random.u64(*side..3 * side + 2)).collect();
    let (growing, which) = (random.usize(0..3), random.usize(0..4));
    let max: Vec<Option<u64>> = (0..rank).map(|nth| (nth >= growing).then(|| 3 * chunk[nth] + 2)).collect();
    let fill = random.bool().then(|| T::random(&mut random));
    let bytes = [0, 2_000, 6_000, 1 << 20][random.usize(0..4)];
    let cache = CacheConfig::default().bytes(bytes).adaptive(bytes, bytes);
    let storage: Arc<dyn Driver> = Arc::new(Memory::new());
    let file = options().cache(cache).create_new().open_on(storage.clone()).unwrap();
    let twin = |name| {
        let new = file.root().unwrap().new_dataset::<T>().shape(&dims).max_shape(&max).chunks(&chunk);
        let new = if is_sparse { new.sparse() } else { new.vlen_in_chunks() };
        let new: NewDataset = fill.iter().fold(new, |new, fill| new.fill_value(fill.clone()));
        let dataset = filtered::<T>(new, which).create(name).unwrap();
        let (fill, values) = (fill.clone().unwrap_or(T::undefined()), Default::default());
        let model = Model { dims: dims.clone(), fill, is_sparse, values };
        Twin { name, dataset, chunk: chunk.clone(), model, written: BTreeSet::new() }
    };
    let (mut left, mut right) = (twin("left"), twin("right"));
    for step in 0..random.usize(10..60) {
        let context = format!("HYPERSLAB_SEED={seed} HYPERSLAB_SPARSE_PROGRAMS=1, step {step}");
        if random.bool() {
            std::mem::swap(&mut left, &mut right);
        }
        match random.usize(0..12) {
            0..=4 => left.change(&mut random),
            5 if is_sparse => left.resize(&mut random),
            6 => file.flush().unwrap(),
            7 => left.dataset.evict().unwrap(),
            8 => left.check(&context),
            _ => copy(&left, &mut right, &mut random, &context),
        }
    }
    let context = format!("HYPERSLAB_SEED={seed} HYPERSLAB_SPARSE_PROGRAMS=1, at the end");
    [&left, &right].into_iter().for_each(|twin| twin.check(&context));
    let models = [left, right].map(|Twin { name, model, .. }| (name, model));
    file.close().unwrap();
    let file = File::open_driver(storage.clone()).unwrap();
    for (name, model) in &models {
        model.check(&file.dataset(name).unwrap(), &whole(&model.dims), &context);
    }
    let report = hyperslab::check::storage(storage).unwrap();
    assert_eq!(report.problems().count(), 0, "{context}: {report:?}");
}

#[test]
fn chunks_of_one_dataset_are_stored_in_another() {
    let first = hyperslab_workshop::setting("HYPERSLAB_SEED", 1);
    for seed in first..first + hyperslab_workshop::cases("HYPERSLAB_SPARSE_PROGRAMS", 150) {
        match seed % 8 {
            0 => run::<String>(seed),
            1 => run::<Vec<i16>>(seed),
            2 => run::<Mixed>(seed),
            3 => run::<Nested>(seed),
            4 => run::<[f32; 3]>(seed),
            _ => run::<i32>(seed),
        }
    }
}
