//! Values that are converted on their way between chunks and the caller, held against arrays in memory: any layout, any selection, all members of a compound or
//! some, with room in the cache and without.

use std::sync::Arc;

use fastrand::Rng;
use hyperslab::{
    CacheConfig, Dataset, File, OpenOptions,
    driver::Memory,
    dtype::{Arena, Datatype},
    space::{Op, Slab, Space},
};

const ROWS: u64 = 60;
const COLUMNS: u64 = 40;

const NAMES: [&str; 6] = ["contiguous", "compact", "chunked", "filtered", "columns", "fill"];

/// One value: as stored, three numbers.
type Value = [i16; 3];

fn stored() -> Datatype {
    let number = || Datatype::of::<i16>();
    Datatype::compound([("a", number()), ("b", number()), ("c", number())]).unwrap()
}

/// Some members in memory, as numbers of another size.
fn in_memory(members: &[usize]) -> Datatype {
    Datatype::compound(members.iter().map(|member| (["a", "b", "c"][*member], Datatype::of::<i64>()))).unwrap()
}

fn config(rng: &mut Rng) -> CacheConfig {
    CacheConfig::default().bytes([0, 700, 3000, 8192, 1 << 20][rng.usize(..5)])
}

fn create(file: &File) {
    let root = file.root().unwrap();
    let new = || root.new_dataset_of(stored()).shape([ROWS, COLUMNS]);
    let fill = [7, 0, 8, 0, 9, 0].to_vec();
    let made = [
        new(),
        new().compact(),
        new().chunks([7, 9]),
        new().chunks([7, 9]).deflate(1),
        new().chunks([ROWS, 3]).shuffle().deflate(1),
        new().chunks([16, 16]).deflate(1).fill_converted(stored(), fill, Arena::default()),
    ];
    for (name, new) in NAMES.into_iter().zip(made) {
        new.create(name).unwrap();
    }
}

/// A selection, and the numbers of its elements in order.
fn selection(rng: &mut Rng) -> (Space, Vec<usize>) {
    let mut space = Space::simple(&[ROWS, COLUMNS]).unwrap();
    if rng.u8(..5) == 0 {
        let points: Vec<[u64; 2]> = (0..rng.usize(1..40)).map(|_| [rng.u64(..ROWS), rng.u64(..COLUMNS)]).collect();
        space.select_points(&points.concat()).unwrap();
        let numbers = points.iter().map(|[row, column]| (row * COLUMNS + column) as usize).collect();
        return (space, numbers);
    }
    let mut side = |size: u64| {
        let (start, stride) = (rng.u64(..size), rng.u64(1..4));
        let count = rng.u64(1..=((size - start - 1) / stride + 1));
        Slab::new(start, stride, count, 1)
    };
    let slabs = [side(ROWS), side(COLUMNS)];
    space.select_hyperslab(Op::Set, &slabs).unwrap();
    let indices = |slab: &Slab| (0..slab.count).map(|nth| slab.start + nth * slab.stride).collect::<Vec<_>>();
    let (rows, columns) = (indices(&slabs[0]), indices(&slabs[1]));
    let numbers = rows.iter().flat_map(|row| columns.iter().map(move |column| (row * COLUMNS + column) as usize));
    (space, numbers.collect())
}

/// Places for so many values, and their numbers: one after the other, or apart.
fn places(rng: &mut Rng, count: usize) -> (Space, Vec<usize>) {
    let step = rng.u64(1..3);
    let mut places = Space::simple(&[count as u64 * step]).unwrap();
    if step > 1 {
        places.select_hyperslab(Op::Set, &[Slab::new(1, step, count as u64, 1)]).unwrap();
    }
    let first = step as usize - 1;
    (places, (0..count).map(|nth| first + nth * step as usize).collect())
}

fn number(buf: &[u8], nth: usize) -> i64 {
    i64::from_ne_bytes(buf[8 * nth..8 * nth + 8].try_into().unwrap())
}

struct Twin {
    dataset: Dataset,
    values: Vec<Value>,
}

impl Twin {
    fn write(&mut self, rng: &mut Rng) {
        let members: Vec<usize> = (0..3).filter(|_| rng.bool()).collect();
        if members.is_empty() {
            return;
        }
        let ((space, elements), datatype) = (selection(rng), in_memory(&members));
        let (memory, at) = places(rng, elements.len());
        let room = memory.extent().elements().unwrap() as usize * members.len();
        // Beyond what two bytes hold: the nearest that they do.
        let numbers: Vec<i64> = (0..room).map(|_| rng.i64(-40_000..40_000)).collect();
        let buf: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        self.dataset.write_converted(&space, &datatype, &memory, &buf, &Arena::default()).unwrap();
        for (element, place) in elements.into_iter().zip(at) {
            for (nth, member) in members.iter().enumerate() {
                let wide = numbers[place * members.len() + nth];
                self.values[element][*member] = wide.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
            }
        }
    }

    fn read(&self, rng: &mut Rng) {
        let members: Vec<usize> = (0..3).filter(|_| rng.bool()).collect();
        if members.is_empty() {
            return;
        }
        let (space, elements) = selection(rng);
        let (memory, at) = places(rng, elements.len());
        let room = memory.extent().elements().unwrap() as usize * members.len();
        let mut buf: Vec<u8> = (0..room as i64).flat_map(|nth| (1_000_000 + nth).to_ne_bytes()).collect();
        let mut expected: Vec<i64> = (0..room as i64).map(|nth| 1_000_000 + nth).collect();
        self.dataset.read_converted(&space, &in_memory(&members), &memory, &mut buf, &mut Arena::default()).unwrap();
        for (element, place) in elements.into_iter().zip(at) {
            for (nth, member) in members.iter().enumerate() {
                expected[place * members.len() + nth] = self.values[element][*member].into();
            }
        }
        let got: Vec<i64> = (0..room).map(|nth| number(&buf, nth)).collect();
        assert_eq!(got, expected, "{:?}", self.dataset.layout());
    }

    fn check(&self) {
        let stored = self.dataset.read_stored().unwrap();
        let expected: Vec<u8> = self.values.iter().flatten().flat_map(|number| number.to_le_bytes()).collect();
        assert!(stored == expected, "{:?}", self.dataset.layout());
    }
}

#[test]
fn converted_values_are_equal_to_arrays_in_memory() {
    for seed in 0..12 {
        let mut rng = Rng::with_seed(seed);
        let storage = Arc::new(Memory::new());
        let file = File::create_on(storage.clone()).unwrap();
        create(&file);
        file.close().unwrap();
        let mut values: Vec<Vec<Value>> = vec![vec![[0; 3]; (ROWS * COLUMNS) as usize]; NAMES.len()];
        values[5].fill([7, 8, 9]);
        for _ in 0..3 {
            let file = OpenOptions::new().read_write().cache(config(&mut rng)).open_on(storage.clone()).unwrap();
            let twins = NAMES.iter().zip(values.drain(..));
            let open = |(name, values): (&&str, _)| Twin { dataset: file.dataset(name).unwrap(), values };
            let mut twins: Vec<Twin> = twins.map(open).collect();
            for _ in 0..60 {
                let nth = rng.usize(..twins.len());
                let twin = &mut twins[nth];
                match rng.u8(..8) {
                    0..3 => twin.write(&mut rng),
                    3..6 => twin.read(&mut rng),
                    6 => file.flush().unwrap(),
                    _ => twin.check(),
                }
            }
            twins.iter().for_each(Twin::check);
            values = twins.into_iter().map(|twin| twin.values).collect();
            file.close().unwrap();
        }
    }
}

/// Many values, which all cores convert: of chunks that lie side by side in the caller's buffer, in the cache and past it.
#[test]
fn many_values_are_converted_on_all_cores() {
    let shape = [40u64, 200, 60];
    let values: Vec<f64> = (0..shape.iter().product::<u64>()).map(|nth| nth as f64 / 4.0).collect();
    for bytes in [0, 1 << 20, 64 << 20] {
        let cache = CacheConfig::default().bytes(bytes);
        let new = OpenOptions::new().create().truncate().cache(cache);
        let file = new.open_on(Arc::new(Memory::new())).unwrap();
        let root = file.root().unwrap();
        let made = [
            root.new_dataset::<f32>().shape(shape).chunks([15, 70, 17]).deflate(1).create("filtered").unwrap(),
            root.new_dataset::<f32>().shape(shape).chunks([15, 70, 17]).create("chunked").unwrap(),
            root.new_dataset::<f32>().shape(shape).create("contiguous").unwrap(),
        ];
        for dataset in made {
            dataset.write(&values).unwrap();
            assert!(dataset.read::<f64>().unwrap() == values);
            file.flush().unwrap();
            assert!(dataset.read::<f64>().unwrap() == values);
            let doubled: Vec<f64> = values.iter().map(|value| 2.0 * value).collect();
            dataset.write(&doubled).unwrap();
            assert!(dataset.read::<f64>().unwrap() == doubled);
        }
        file.close().unwrap();
    }
}
