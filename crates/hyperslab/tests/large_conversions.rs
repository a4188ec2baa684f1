//! Many values of any selection, which all cores convert, held against arrays in memory: hyperslabs with gaps, unions of blocks and points that name an
//! element twice, to places that lie together or apart, with room in the cache and without.

use std::sync::Arc;

use fastrand::Rng;
use hyperslab::{
    CacheConfig, Dataset, OpenOptions,
    driver::Memory,
    dtype::{Arena, Datatype},
    space::{Op, Slab, Space},
};

const SHAPE: [u64; 3] = [11, 190, 160];

fn number(coords: &[u64]) -> usize {
    coords.iter().zip(SHAPE).fold(0, |number, (at, size)| number * size + at) as usize
}

fn selection(rng: &mut Rng) -> Space {
    let mut space = Space::simple(&SHAPE).unwrap();
    match rng.u8(..4) {
        0 => {}
        1 => {
            let points: Vec<u64> = (0..90_000).flat_map(|_| SHAPE.map(|size| rng.u64(..size))).collect();
            space.select_points(&points).unwrap();
        }
        2 => {
            let mut slab = |size: u64| Slab::new(rng.u64(..2), 2, size / 2 - 1, 1 + rng.u64(..2));
            let [_, rows, columns] = SHAPE;
            space.select_hyperslab(Op::Set, &[Slab::block(1, 9), slab(rows), Slab::block(3, columns - 3)]).unwrap();
        }
        _ => {
            for op in [Op::Set, Op::Or, Op::Xor] {
                let slab = |size: u64| {
                    let start = rng.u64(..size / 2);
                    Slab::block(start, 1 + rng.u64(size / 3..size - start))
                };
                space.select_hyperslab(op, &SHAPE.map(slab)).unwrap();
            }
        }
    }
    space
}

/// Places for so many values: one after the other, or apart, in one dimension or two.
fn places(rng: &mut Rng, count: u64) -> Space {
    let (mut places, slabs) = match rng.u8(..3) {
        0 => return Space::simple(&[count]).unwrap(),
        1 => (Space::simple(&[3 * count + 1]).unwrap(), vec![Slab::new(1, 3, count, 1)]),
        _ => (Space::simple(&[count, 3]).unwrap(), vec![Slab::block(0, count), Slab::block(1, 1)]),
    };
    places.select_hyperslab(Op::Set, &slabs).unwrap();
    places
}

fn step(rng: &mut Rng, dataset: &Dataset, twin: &mut [f32]) {
    let selection = selection(rng);
    let (places, arena) = (places(rng, selection.npoints()), Arena::default());
    let elements: Vec<usize> = selection.coords().unwrap().map(|coords| number(&coords)).collect();
    let room = places.extent().elements().unwrap();
    let runs = places.runs(1).unwrap();
    let at: Vec<usize> = runs.flat_map(|run| run.offset as usize..(run.offset + run.len) as usize).collect();
    if rng.bool() {
        let numbers: Vec<i32> = (0..room).map(|_| rng.i32(-1000..1000)).collect();
        let (datatype, bytes) = (Datatype::of::<i32>(), bytemuck::cast_slice(&numbers));
        dataset.write_converted(&selection, &datatype, &places, bytes, &arena).unwrap();
        elements.into_iter().zip(at).for_each(|(element, place)| twin[element] = numbers[place] as f32);
        return;
    }
    let mut numbers = vec![-1.5f64; room as usize];
    let mut expected = numbers.clone();
    elements.into_iter().zip(at).for_each(|(element, place)| expected[place] = twin[element].into());
    let (datatype, bytes) = (Datatype::of::<f64>(), bytemuck::cast_slice_mut(&mut numbers));
    dataset.read_converted(&selection, &datatype, &places, bytes, &mut Arena::default()).unwrap();
    assert!(numbers == expected, "{:?}: {selection:?} to {places:?}", dataset.layout());
}

#[test]
fn many_selected_values_are_converted_as_one_by_one() {
    let mut rng = Rng::with_seed(5);
    for bytes in [0, 8192, 2 << 20, 64 << 20] {
        let options = OpenOptions::new().create().truncate().cache(CacheConfig::default().bytes(bytes));
        let file = options.open_on(Arc::new(Memory::new())).unwrap();
        let root = file.root().unwrap();
        let new = || root.new_dataset::<f32>().shape(SHAPE);
        let made = [
            new().chunks([3, 70, 37]).deflate(1).create("filtered").unwrap(),
            new().chunks([11, 190, 160]).shuffle().create("one").unwrap(),
            new().chunks([3, 70, 37]).create("chunked").unwrap(),
            new().create("contiguous").unwrap(),
        ];
        for dataset in made {
            let mut twin = vec![0.0; SHAPE.iter().product::<u64>() as usize];
            for _ in 0..8 {
                step(&mut rng, &dataset, &mut twin);
            }
            assert!(dataset.read::<f32>().unwrap() == twin, "{:?}", dataset.layout());
        }
        file.close().unwrap();
    }
}
