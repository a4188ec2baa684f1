//! Random programs with a sparse dataset, and the same with a map.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use fastrand::Rng;
use hyperslab::{
    CacheConfig, ChunkSection, Dataset, File, NewDataset,
    driver::{Driver, Memory},
    space::{ElementRuns, Op, Slab, Space},
};

use super::{
    options,
    values::{Mixed, Nested, Value},
};

type Coord = Vec<u64>;

/// What the dataset must be.
pub(super) struct Model<T> {
    pub(super) dims: Vec<u64>,
    pub(super) fill: T,
    /// Whether it keeps account of which elements are defined.
    pub(super) is_sparse: bool,
    pub(super) values: BTreeMap<Coord, T>,
}

/// A program, with values of a type that the seed tells.
pub(super) fn run(seed: u64) {
    match seed % 8 {
        0 => run_with::<String>(seed),
        1 => run_with::<Vec<i16>>(seed),
        2 => run_with::<Mixed>(seed),
        3 => run_with::<Nested>(seed),
        4 => run_with::<[f32; 3]>(seed),
        _ => run_with::<i32>(seed),
    }
}

fn run_with<T: Value>(seed: u64) {
    let mut random = Rng::with_seed(seed);
    let rank = random.usize(1..5);
    let most = [60, 14, 8, 5][rank - 1];
    let dims: Vec<u64> = (0..rank).map(|_| random.u64(1..=most)).collect();
    let chunk: Vec<u64> = dims.iter().map(|dim| random.u64(1..=*dim)).collect();
    let unlimited = random.usize(0..3);
    let max: Vec<Option<u64>> = dims
        .iter()
        .enumerate()
        .map(|(nth, dim)| if nth < unlimited { None } else { Some(*dim + random.u64(0..2) * 3) })
        .collect();
    let fill = random.bool().then(|| T::random(&mut random));
    let is_sparse = !T::VLEN || random.usize(0..3) > 0;
    let bytes = [2_000, 6_000, 20_000, 1 << 20][random.usize(0..4)];
    let cache = CacheConfig::default().bytes(bytes).adaptive(bytes, bytes);
    let storage: Arc<dyn Driver> = Arc::new(Memory::new());
    let mut file = options().cache(cache).create_new().open_on(storage.clone()).unwrap();
    let new = file.root().unwrap().new_dataset::<T>().shape(&dims).max_shape(&max).chunks(&chunk);
    let new = if is_sparse { new.sparse() } else { new.vlen_in_chunks() };
    let new = fill.iter().fold(new, |new, fill| new.fill_value(fill.clone()));
    let new = filtered::<T>(new, random.usize(0..4));
    let mut dataset = sectioned::<T>(new, random.usize(0..8), is_sparse).create("a").unwrap();
    let mut model = Model { dims, fill: fill.unwrap_or(T::undefined()), is_sparse, values: BTreeMap::new() };
    for step in 0..random.usize(5..30) {
        let context = format!("HYPERSLAB_SEED={seed} HYPERSLAB_SPARSE_PROGRAMS=1, step {step}");
        let selection = selection(&mut random, &model.dims);
        match random.usize(0..16) {
            0..=3 => {
                let values: Vec<T> = (0..selection.npoints()).map(|_| T::random(&mut random)).collect();
                dataset.write_selection(&selection, &values).unwrap();
                model.write(&selection, &values);
            }
            4 => {
                let values: Vec<T> = (0..selection.npoints()).map(|_| T::random(&mut random)).collect();
                T::write_otherwise(&dataset, &selection, &values);
                model.write(&selection, &values);
            }
            5..=7 if is_sparse => {
                dataset.erase(&selection).unwrap();
                coords(&selection).iter().for_each(|coord| {
                    model.values.remove(coord);
                });
            }
            8 => {
                let dims: Vec<u64> =
                    model.dims.iter().zip(&max).map(|(dim, max)| random.u64(0..=max.unwrap_or(dim + 4))).collect();
                dataset.resize(&dims).unwrap();
                model.values.retain(|coord, _| coord.iter().zip(&dims).all(|(index, dim)| index < dim));
                model.dims = dims;
            }
            9 => file.flush().unwrap(),
            10 => dataset.evict().unwrap(),
            11 => {
                drop(dataset);
                file.close().unwrap();
                file = options().cache(cache).read_write().open_on(storage.clone()).unwrap();
                dataset = file.dataset("a").unwrap();
            }
            14 => {
                let count = random.usize(0..12) * usize::from(!model.dims.contains(&0));
                let coords: Vec<u64> =
                    (0..count).flat_map(|_| model.dims.clone()).map(|dim| random.u64(0..dim)).collect();
                let values: Vec<T> = (0..count).map(|_| T::random(&mut random)).collect();
                dataset.write_coords(&coords, &values).unwrap();
                model.values.extend(coords.chunks_exact(rank).map(<[u64]>::to_vec).zip(values));
            }
            15 => {
                let count = random.usize(0..4) * usize::from(!model.dims.contains(&0));
                let blocks: Vec<(Coord, Coord)> = (0..count).map(|_| block(&mut random, &model.dims)).collect();
                let elements: Vec<Coord> = blocks.iter().flat_map(elements_of).collect();
                let values: Vec<T> = elements.iter().map(|_| T::random(&mut random)).collect();
                dataset.write_blocks(&blocks, &values).unwrap();
                model.values.extend(elements.into_iter().zip(values));
            }
            12 => {
                let name = format!("copy {step}");
                file.root().unwrap().copy("a", &file.root().unwrap(), &name).unwrap();
                model.check(&file.dataset(&name).unwrap(), &whole(&model.dims), &context);
            }
            13 if random.bool() => copied_elsewhere(&file, &model, &context),
            _ => {
                dataset.write_fill(&selection).unwrap();
                model.write(&selection, &vec![model.fill.clone(); selection.npoints() as usize]);
            }
        }
        let asked = self::selection(&mut random, &model.dims);
        model.check(&dataset, &asked, &context);
        if step % 5 == 4 {
            model.check(&dataset, &whole(&model.dims), &context);
        }
    }
    drop(dataset);
    file.close().unwrap();
    let file = File::open_driver(storage.clone()).unwrap();
    let context = format!("HYPERSLAB_SEED={seed} HYPERSLAB_SPARSE_PROGRAMS=1, reopened");
    model.check(&file.dataset("a").unwrap(), &whole(&model.dims), &context);
    let report = hyperslab::check::storage(storage).unwrap();
    let problems: Vec<_> = report.problems().collect();
    assert!(problems.is_empty(), "{context}: {problems:?}");
}

/// A dataset that goes through some filters.
pub(super) fn filtered<T: Value>(new: NewDataset, which: usize) -> NewDataset {
    match which {
        0 => new,
        1 => new.shuffle().deflate(1),
        2 => new.fletcher32(),
        _ if T::IS_NUMBER => new.scaleoffset(0).lzf(),
        _ => new.lzf(),
    }
}

/// The same dataset with filters of their own for some of its sections.
fn sectioned<T: Value>(new: NewDataset, which: usize, is_sparse: bool) -> NewDataset {
    let new = match which {
        0 | 1 if is_sparse => new.section(ChunkSection::Selection).shuffle().deflate(9),
        2 if is_sparse => new.section(ChunkSection::Selection).fletcher32(),
        3 if is_sparse => new.section(ChunkSection::Selection).lzf(),
        _ => new,
    };
    let new = match which {
        1 | 2 => new.section(ChunkSection::Values).shuffle().deflate(1),
        4 => new.section(ChunkSection::Values).fletcher32(),
        _ => new,
    };
    if T::VLEN && which > 1 && which < 6 { new.section(ChunkSection::Vlen).lzf().fletcher32() } else { new }
}

/// Copies the dataset to another file, which is read at once and when it was closed.
fn copied_elsewhere<T: Value>(file: &File, model: &Model<T>, context: &str) {
    let context = format!("{context}, copied to another file");
    let storage: Arc<dyn Driver> = Arc::new(Memory::new());
    let other = options().create_new().open_on(storage.clone()).unwrap();
    file.root().unwrap().copy("a", &other.root().unwrap(), "there").unwrap();
    let values = model.values.iter().map(|(coord, value)| (coord.clone(), value.in_another_file())).collect();
    let model = &Model { values, fill: model.fill.in_another_file(), dims: model.dims.clone(), ..*model };
    model.check(&other.dataset("there").unwrap(), &whole(&model.dims), &context);
    let filters = |file: &File, name: &str| file.dataset(name).unwrap().section_filters().cloned();
    assert_eq!(filters(&other, "there"), filters(file, "a"), "{context}");
    other.close().unwrap();
    let other = File::open_driver(storage.clone()).unwrap();
    model.check(&other.dataset("there").unwrap(), &whole(&model.dims), &context);
    let report = hyperslab::check::storage(storage).unwrap();
    let problems: Vec<_> = report.problems().collect();
    assert!(problems.is_empty(), "{context}: {problems:?}");
}

impl<T: Value> Model<T> {
    pub(super) fn write(&mut self, selection: &Space, values: &[T]) {
        self.values.extend(coords(selection).into_iter().zip(values.iter().cloned()));
    }

    pub(super) fn check(&self, dataset: &Dataset, asked: &Space, context: &str) {
        assert_eq!(dataset.shape(), self.dims, "{context}");
        let coords = coords(asked);
        let values: Vec<T> = coords.iter().map(|coord| self.values.get(coord).unwrap_or(&self.fill).clone()).collect();
        assert_eq!(dataset.read_selection::<T>(asked).unwrap(), values, "{context}: {asked:?}");
        T::check_otherwise(dataset, asked, &values, context);
        let is_defined = |coord: &Coord| !self.is_sparse || self.values.contains_key(coord);
        let defined: Vec<Coord> = coords.into_iter().filter(is_defined).collect();
        assert_eq!(super::coords(&dataset.defined(asked).unwrap()), defined, "{context}: {asked:?}");
        let (elements, values) = dataset.read_defined::<T>(asked).unwrap();
        let once: Vec<Coord> = BTreeSet::from_iter(defined).into_iter().collect();
        let wanted: Vec<T> = once.iter().map(|coord| self.values.get(coord).unwrap_or(&self.fill).clone()).collect();
        assert_eq!(values, wanted, "{context}: {asked:?}");
        assert_eq!(elements.coords().unwrap(), once.concat(), "{context}: {asked:?}");
        if self.is_sparse {
            assert_eq!(dataset.defined_count().unwrap(), self.values.len() as u64, "{context}");
            let mut by_chunk: Vec<Coord> = Vec::new();
            for chunk in dataset.defined_chunks(asked).unwrap() {
                by_chunk.extend(coords_of(&chunk.unwrap().elements));
            }
            by_chunk.sort_unstable();
            assert_eq!(by_chunk, once, "{context}: {asked:?}");
        }
    }
}

fn coords_of(elements: &ElementRuns) -> Vec<Coord> {
    coords(&elements.to_space().unwrap())
}

/// A block by its first element and its size.
fn block(random: &mut Rng, dims: &[u64]) -> (Coord, Coord) {
    let start: Coord = dims.iter().map(|dim| random.u64(0..*dim)).collect();
    let size = start.iter().zip(dims).map(|(start, dim)| random.u64(0..=(dim - start).min(4))).collect();
    (start, size)
}

/// The elements of a block in row-major order.
fn elements_of((start, size): &(Coord, Coord)) -> Vec<Coord> {
    let local = Space::simple(size).unwrap();
    let moved = |coord: Coord| coord.iter().zip(start).map(|(index, start)| index + start).collect();
    coords(&local).into_iter().map(moved).collect()
}

fn coords(space: &Space) -> Vec<Coord> {
    super::coords(space)
}

pub(super) fn whole(dims: &[u64]) -> Space {
    Space::simple(dims).unwrap()
}

/// Any selection of an extent: all, a pattern, several blocks or points.
pub(super) fn selection(random: &mut Rng, dims: &[u64]) -> Space {
    let mut space = whole(dims);
    if dims.contains(&0) || random.usize(0..8) == 0 {
        return space;
    }
    let slab = |random: &mut Rng, dim: u64| {
        let (start, stride) = (random.u64(0..dim), random.u64(1..4));
        let block = random.u64(1..=stride.min(dim - start));
        let count = random.u64(1..=((dim - start - block) / stride + 1));
        Slab::new(start, stride, count, block)
    };
    if random.usize(0..3) == 0 {
        let count = random.usize(1..12);
        let points: Vec<u64> = (0..count).flat_map(|_| dims.to_vec()).map(|dim| random.u64(0..dim)).collect();
        space.select_points(&points).unwrap();
        return space;
    }
    let slabs: Vec<Slab> = dims.iter().map(|dim| slab(random, *dim)).collect();
    space.select_hyperslab(Op::Set, &slabs).unwrap();
    for _ in 0..random.usize(0..3) {
        let slabs: Vec<Slab> = dims.iter().map(|dim| slab(random, *dim)).collect();
        space.select_hyperslab(random.choice([Op::Or, Op::Xor, Op::NotB]).unwrap(), &slabs).unwrap();
    }
    space
}
