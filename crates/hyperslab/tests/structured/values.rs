//! Values of random programs: of fixed size, of variable length, and both in one.

use std::fmt::Debug;

use fastrand::Rng;
use hyperslab::{Dataset, Element, ObjectReference, Storable, space::Space};

/// A type of values.
pub(super) trait Value: Element + Storable + Clone + Debug + PartialEq + Send + 'static {
    /// Whether something in it is of variable length.
    const VLEN: bool = true;
    const IS_NUMBER: bool = false;

    fn random(random: &mut Rng) -> Self;

    /// The value of elements that were never written, if the dataset says none.
    fn undefined() -> Self;

    /// What a copy in another file has: references to objects that are not copied are null there.
    fn in_another_file(&self) -> Self {
        self.clone()
    }

    /// Writes the same values in another way, if there is one.
    fn write_otherwise(dataset: &Dataset, selection: &Space, values: &[Self]) {
        dataset.write_selection(selection, values).unwrap();
    }

    /// Reads the same values in another way.
    fn check_otherwise(_: &Dataset, _: &Space, _: &[Self], _: &str) {}
}

impl Value for i32 {
    const VLEN: bool = false;
    const IS_NUMBER: bool = true;

    fn random(random: &mut Rng) -> i32 {
        random.i32(-9..9)
    }

    fn undefined() -> i32 {
        0
    }

    fn write_otherwise(dataset: &Dataset, selection: &Space, values: &[i32]) {
        let narrow: Vec<i16> = values.iter().map(|value| *value as i16).collect();
        dataset.write_selection(selection, &narrow).unwrap();
    }

    fn check_otherwise(dataset: &Dataset, asked: &Space, values: &[i32], context: &str) {
        let wide: Vec<i64> = values.iter().map(|value| i64::from(*value)).collect();
        assert_eq!(dataset.read_selection::<i64>(asked).unwrap(), wide, "{context}: {asked:?}");
    }
}

impl Value for [f32; 3] {
    const VLEN: bool = false;

    fn random(random: &mut Rng) -> [f32; 3] {
        [random.f32(), -1.0, f32::from(random.u8(..))]
    }

    fn undefined() -> [f32; 3] {
        [0.0; 3]
    }
}

impl Value for String {
    fn random(random: &mut Rng) -> String {
        (0..random.usize(0..20)).map(|_| random.alphanumeric()).collect()
    }

    fn undefined() -> String {
        String::new()
    }
}

impl Value for Vec<i16> {
    fn random(random: &mut Rng) -> Vec<i16> {
        (0..random.usize(0..6)).map(|_| random.i16(..)).collect()
    }

    fn undefined() -> Vec<i16> {
        Vec::new()
    }

    fn write_otherwise(dataset: &Dataset, selection: &Space, values: &[Vec<i16>]) {
        let wide: Vec<Vec<i64>> =
            values.iter().map(|value| value.iter().map(|one| i64::from(*one)).collect()).collect();
        dataset.write_selection(selection, &wide).unwrap();
    }

    fn check_otherwise(dataset: &Dataset, asked: &Space, values: &[Vec<i16>], context: &str) {
        let other: Vec<Vec<f64>> =
            values.iter().map(|value| value.iter().map(|one| f64::from(*one)).collect()).collect();
        assert_eq!(dataset.read_selection::<Vec<f64>>(asked).unwrap(), other, "{context}: {asked:?}");
    }
}

/// Sequences in sequences.
pub(super) type Nested = Vec<Vec<String>>;

impl Value for Nested {
    fn random(random: &mut Rng) -> Nested {
        let inner = |random: &mut Rng| (0..random.usize(0..3)).map(|_| String::random(random)).collect();
        (0..random.usize(0..4)).map(|_| inner(random)).collect()
    }

    fn undefined() -> Nested {
        Vec::new()
    }
}

/// Addresses are values like others: nothing follows them here.
fn object(random: &mut Rng) -> ObjectReference {
    ObjectReference::new(random.u64(0..5) * 96)
}

/// Of fixed size and of variable length, with references.
#[derive(Element, Clone, Debug, PartialEq)]
pub(super) struct Mixed {
    time: f64,
    name: String,
    track: Vec<Point>,
    pair: [u16; 2],
    near: ObjectReference,
}

#[derive(Element, Clone, Debug, PartialEq)]
pub(super) struct Point {
    x: i32,
    note: String,
    from: ObjectReference,
}

/// Some members of it.
#[derive(Element, Clone, Debug, PartialEq)]
struct Short {
    time: f64,
    pair: [u16; 2],
}

impl Value for Mixed {
    fn random(random: &mut Rng) -> Mixed {
        let point = |random: &mut Rng| Point { x: random.i32(..), note: String::random(random), from: object(random) };
        let track = (0..random.usize(0..4)).map(|_| point(random)).collect();
        let (name, pair, near) = (String::random(random), [random.u16(..), 7], object(random));
        Mixed { time: random.f64(), name, track, pair, near }
    }

    fn undefined() -> Mixed {
        Mixed { time: 0.0, name: String::new(), track: Vec::new(), pair: [0; 2], near: ObjectReference::NULL }
    }

    fn in_another_file(&self) -> Mixed {
        let mut value = self.clone();
        value.near = ObjectReference::NULL;
        value.track.iter_mut().for_each(|point| point.from = ObjectReference::NULL);
        value
    }

    fn write_otherwise(dataset: &Dataset, selection: &Space, values: &[Mixed]) {
        // Members that are not written stay as they are.
        let short = |value: &Mixed| Short { time: value.time, pair: value.pair };
        dataset.write_selection(selection, values).unwrap();
        dataset.write_selection(selection, &values.iter().map(short).collect::<Vec<_>>()).unwrap();
    }

    fn check_otherwise(dataset: &Dataset, asked: &Space, values: &[Mixed], context: &str) {
        let short: Vec<Short> = values.iter().map(|value| Short { time: value.time, pair: value.pair }).collect();
        assert_eq!(dataset.read_selection::<Short>(asked).unwrap(), short, "{context}: {asked:?}");
    }
}
