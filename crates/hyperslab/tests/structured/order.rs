//! Programs that grow, write, erase, store chunks past the filters, shrink and flush, cut after each single write: each chunk is as a flush, a resize, a store past the filters
//! or, where the cache is small, an eviction found it.

use std::{collections::BTreeMap, sync::Arc};

use fastrand::Rng;
use hyperslab::{
    CacheConfig, Dataset, File, OpenOptions, check,
    driver::{Change, Driver, Memory, MemoryType, Tape, Transfer},
    space::{Op, Slab, Space},
};

use super::{
    coords,
    direct::sparse_chunk,
    options,
    small::{Filters, Index, Kind, NAME},
};

type Values = BTreeMap<Vec<u64>, i16>;

/// A cache that no chunk leaves before a flush, and one for a few chunks.
const LARGE: usize = 1 << 20;
const SMALL: usize = 600;

/// What a dataset is at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    dims: Vec<u64>,
    values: Values,
}

/// A state that a program shows other programs.
struct Shown {
    /// How many changes the storage had then.
    changes: usize,
    /// Whether a flush ended; else a resize, which flushes what was there before, began or ended, a chunk was stored past the filters, or chunks left a small cache.
    flushed: bool,
    state: State,
}

/// What a program left in its storage, and the states that it showed, in their order.
struct Program {
    kind: Kind,
    shown: Vec<Shown>,
    changes: Vec<Change>,
    chunk: [u64; 2],
}

impl State {
    fn of(kind: Kind, dataset: &Dataset) -> hyperslab::Result<State> {
        let (dims, defined) = (dataset.shape(), dataset.defined(&dataset.space())?);
        let coords = coords(&defined);
        let mut points = dataset.space();
        if coords.is_empty() {
            return Ok(State { dims, values: Values::new() });
        }
        points.select_points(&coords.concat()).unwrap();
        let values = coords.into_iter().zip(kind.read(dataset, &points)?);
        // No program writes 0: that is what dense chunks have where it wrote nothing.
        Ok(State { dims, values: values.filter(|(_, value)| kind.is_sparse() || *value != 0).collect() })
    }

    fn apply(&mut self, other: &Space, value: Option<i16>) {
        for coord in coords(other) {
            match value {
                Some(value) => drop(self.values.insert(coord, value)),
                None => drop(self.values.remove(&coord)),
            }
        }
    }

    fn resize(&mut self, dims: &[u64]) {
        self.values.retain(|coord, _| coord.iter().zip(dims).all(|(at, dim)| at < dim));
        self.dims = dims.to_vec();
    }

    /// What a chunk has of it in an extent.
    fn chunk(&self, chunk: &[u64], nth: &[u64], dims: &[u64]) -> Values {
        let is_in = |coord: &[u64]| coord.iter().zip(chunk).zip(nth).all(|((at, side), nth)| at / side == *nth);
        let is_inside = |coord: &[u64]| coord.iter().zip(dims).all(|(at, dim)| at < dim);
        let there = self.values.iter().filter(|(coord, _)| is_in(coord) && is_inside(coord));
        there.map(|(coord, value)| (coord.clone(), *value)).collect()
    }
}

fn block(random: &mut Rng, dims: &[u64]) -> Space {
    let mut space = Space::simple(dims).unwrap();
    if dims.contains(&0) {
        return space;
    }
    let side = |random: &mut Rng, dim: u64| {
        let start = random.u64(0..dim);
        Slab::block(start, random.u64(1..=dim - start))
    };
    let slabs: Vec<Slab> = dims.iter().map(|dim| side(random, *dim)).collect();
    space.select_hyperslab(Op::Set, &slabs).unwrap();
    space
}

/// Stores some elements of a chunk in place of what it has.
fn store(random: &mut Rng, dataset: &Dataset, chunk: [u64; 2], state: &mut State) {
    if state.dims.contains(&0) {
        return;
    }
    let place: Vec<u64> = state.dims.iter().zip(chunk).map(|(dim, side)| random.u64(0..dim.div_ceil(side))).collect();
    let first: Vec<u64> = place.iter().zip(chunk).map(|(nth, side)| nth * side).collect();
    let inside: Vec<u64> =
        first.iter().zip(chunk).zip(&state.dims).map(|((first, side), dim)| side.min(dim - first)).collect();
    let (mut defined, value) = (Space::simple(&chunk).unwrap(), random.i16(1..1000));
    let points: Vec<u64> = coords(&block(random, &inside)).into_iter().filter(|_| random.bool()).flatten().collect();
    match points.is_empty() {
        true => defined.select_none(),
        false => defined.select_points(&points).unwrap(),
    }
    let values = vec![value; defined.npoints() as usize];
    let stored = sparse_chunk(dataset, &defined, &values, random.u32(0..8));
    dataset.write_structured_chunk(&place, &stored).unwrap();
    state.values.retain(|coord, _| !coord.iter().zip(chunk).map(|(at, side)| at / side).eq(place.iter().copied()));
    let coords = points.chunks_exact(2).map(|point| vec![first[0] + point[0], first[1] + point[1]]);
    state.values.extend(coords.map(|coord| (coord, value)));
}

/// Runs a random program; at its end nothing is lost.
fn run((kind, index, filters): (Kind, Index, Filters), bytes: usize, seed: u64) -> Program {
    let (mut random, tape) = (Rng::with_seed(seed), Arc::new(Tape::default()));
    let cache = CacheConfig::default().bytes(bytes).adaptive(bytes, bytes);
    let (file, dataset) = index.create((kind, filters), options().cache(cache), tape.clone());
    let mut state = State { dims: dataset.shape(), values: Values::new() };
    let (mut shown, evicts) = (Vec::new(), bytes < LARGE);
    let mut show = |flushed, state: &State| {
        shown.push(Shown { changes: tape.changes().len(), flushed, state: state.clone() });
    };
    file.flush().unwrap();
    show(true, &state);
    for _ in 0..30 {
        let part = block(&mut random, &state.dims);
        match random.u32(0..12) {
            10 | 11 if kind == Kind::Sparse => {
                store(&mut random, &dataset, index.chunk(), &mut state);
                show(false, &state);
            }
            0..=3 => {
                let value = random.i16(1..1000);
                kind.write(&dataset, &part, &vec![value; part.npoints() as usize]).unwrap();
                state.apply(&part, Some(value));
                evicts.then(|| show(false, &state));
            }
            4 | 5 => {
                kind.erase(&dataset, &part).unwrap();
                state.apply(&part, None);
                evicts.then(|| show(false, &state));
            }
            6 | 7 => {
                let max = index.max().map(|max| max.unwrap_or(12));
                let dims: Vec<u64> = max.iter().map(|max| random.u64(0..=*max)).collect();
                show(false, &state);
                dataset.resize(&dims).unwrap();
                state.resize(&dims);
                show(false, &state);
            }
            _ => {
                file.flush().unwrap();
                show(true, &state);
            }
        }
    }
    drop(dataset);
    file.close().unwrap();
    show(true, &state);
    let program = Program { kind, shown, changes: tape.changes(), chunk: index.chunk() };
    let storage: Arc<dyn Driver> = tape;
    let file = File::open_driver(storage.clone()).unwrap();
    assert_eq!(State::of(kind, &file.dataset(NAME).unwrap()).unwrap(), state);
    let report = check::storage(storage).unwrap();
    assert_eq!((report.problems().count(), report.lost), (0, 0), "{report:?}");
    program
}

impl Program {
    /// The states that a file of so many changes may show: that of the last flush, and those up to the next one.
    fn window(&self, changes: usize) -> &[Shown] {
        let first = self.shown.iter().rposition(|shown| shown.flushed && shown.changes <= changes).unwrap();
        let next = self.shown[first + 1..].iter().position(|shown| shown.flushed);
        &self.shown[first..next.map_or(self.shown.len(), |next| first + next + 2)]
    }

    /// Each chunk of a file after so many changes is as it was at one of these times, in an extent that the dataset had.
    fn check(&self, changes: usize, bytes: &[u8], context: &str) {
        let storage = Arc::new(Memory::from(bytes.to_vec()));
        let file = OpenOptions::new().unlocked().open_on(storage).expect(context);
        let found = State::of(self.kind, &file.dataset(NAME).expect(context)).expect(context);
        let window = self.window(changes);
        if window[0].changes == changes {
            assert_eq!(found, window[0].state, "{context}");
        }
        assert!(window.iter().any(|shown| shown.state.dims == found.dims), "{context}: {:?}", found.dims);
        let grid: Vec<u64> = found.dims.iter().zip(&self.chunk).map(|(dim, side)| dim.div_ceil(*side)).collect();
        for nth in coords(&Space::simple(&grid).unwrap()) {
            let has = found.chunk(&self.chunk, &nth, &found.dims);
            let is_one = |shown: &Shown| shown.state.chunk(&self.chunk, &nth, &found.dims) == has;
            assert!(window.iter().any(is_one), "{context}: chunk {nth:?} has {has:?}");
        }
    }
}

/// The file with half of a write of values: sections lie in new space, so that no entry names them yet.
fn half_written(change: &Change, before: &[u8]) -> Option<Vec<u8>> {
    let Change::Write { kind: kind @ MemoryType::RawData, addr, bytes } = change else { return None };
    let half = Change::Write { kind: *kind, addr: *addr, bytes: bytes[..bytes.len() / 2].to_vec() };
    let mut torn = before.to_vec();
    half.apply(&mut torn);
    Some(torn)
}

fn after_every_write(kind: Kind, index: Index, programs: u64) {
    let first = hyperslab_workshop::setting("HYPERSLAB_SEED", 1);
    let (mut cuts, programs) = (0, hyperslab_workshop::cases("HYPERSLAB_SPARSE_CUTS", programs));
    for seed in first..first + programs {
        for (filters, cache) in
            Filters::ALL.into_iter().flat_map(|filters| [SMALL, LARGE].map(|cache| (filters, cache)))
        {
            let program = run((kind, index, filters), cache, seed);
            let (mut bytes, begin) = (Vec::new(), program.shown[0].changes);
            for (nth, change) in program.changes.iter().enumerate() {
                let context = format!(
                    "HYPERSLAB_SEED={seed} HYPERSLAB_SPARSE_CUTS=1, {kind:?}, {filters:?}, {cache} bytes, {nth} changes"
                );
                if nth >= begin {
                    half_written(change, &bytes).inspect(|torn| program.check(nth, torn, &context));
                }
                change.apply(&mut bytes);
                if nth + 1 < begin {
                    continue;
                }
                program.check(nth + 1, &bytes, &format!("{context} and the next one"));
                cuts += 1;
            }
        }
    }
    assert!(cuts > 160 * programs, "{cuts} cuts");
}

#[test]
fn every_prefix_of_a_single_chunk() {
    after_every_write(Kind::Sparse, Index::Single, 4);
}

#[test]
fn every_prefix_of_texts_in_a_single_chunk() {
    Kind::VLEN.into_iter().for_each(|kind| after_every_write(kind, Index::Single, 2));
}

#[test]
fn every_prefix_of_a_fixed_array() {
    after_every_write(Kind::Sparse, Index::FixedArray, 4);
}

#[test]
fn every_prefix_of_texts_in_a_fixed_array() {
    Kind::VLEN.into_iter().for_each(|kind| after_every_write(kind, Index::FixedArray, 2));
}

#[test]
fn every_prefix_of_an_extensible_array() {
    after_every_write(Kind::Sparse, Index::ExtensibleArray, 4);
}

#[test]
fn every_prefix_of_texts_in_an_extensible_array() {
    Kind::VLEN.into_iter().for_each(|kind| after_every_write(kind, Index::ExtensibleArray, 2));
}

#[test]
fn every_prefix_of_a_tree() {
    after_every_write(Kind::Sparse, Index::BtreeV2, 4);
}

#[test]
fn every_prefix_of_texts_in_a_tree() {
    Kind::VLEN.into_iter().for_each(|kind| after_every_write(kind, Index::BtreeV2, 2));
}

/// The same elements are written and erased, in whole chunks and in parts, a thousand times: the space of each round is used again.
fn rewrite_and_erase(kind: Kind) {
    for index in Index::ALL {
        for filters in Filters::ALL {
            let storage = Arc::new(Memory::new());
            let (file, dataset) = index.create((kind, filters), options(), storage.clone());
            let (all, mut random, mut early) = (dataset.space(), Rng::with_seed(7), 0);
            for round in 0..1_000 {
                let values: Vec<i16> = (0..42).map(|_| random.i16(..)).collect();
                kind.write(&dataset, &all, &values).unwrap();
                file.flush().unwrap();
                let part = if round % 3 == 0 { all.clone() } else { block(&mut random, &[6, 7]) };
                kind.erase(&dataset, &part).unwrap();
                file.flush().unwrap();
                if round < 20 {
                    early = storage.len(&Transfer::default()).unwrap();
                }
            }
            let late = storage.len(&Transfer::default()).unwrap();
            // Texts are longer in some rounds than in others, and old ones stay until new ones are there.
            let more = if kind == Kind::Sparse { 64 } else { early / 2 };
            let context = format!("{kind:?}, {index:?}, {filters:?}");
            assert!(late <= early + more, "{context}: {early} bytes after 20 rounds, {late} after 1,000");
            kind.erase(&dataset, &all).unwrap();
            drop(dataset);
            file.close().unwrap();
            let report = check::storage(storage).unwrap();
            assert_eq!((report.problems().count(), report.lost), (0, 0), "{context}: {report:?}");
        }
    }
}

#[test]
fn rewrites_and_erasures_use_their_space_again() {
    rewrite_and_erase(Kind::Sparse);
}

#[test]
fn rewrites_and_erasures_of_texts_use_their_space_again() {
    Kind::VLEN.into_iter().for_each(rewrite_and_erase);
}
