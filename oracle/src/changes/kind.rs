//! The types of values in programs, and what each makes of a small number; `changes.py` makes the same.

use hyperslab::dtype::{Charset, Datatype, Order, Padding};
use hyperslab::{Attribute, Dataset, Element, NewAttribute, NewDataset, ObjectReference, Result, Storable};
use hyperslab_space::Space;
use serde::Serialize;
use serde_json::{Value, json};

/// The type of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "`Sample` says what they are")]
pub enum Kind {
    I1,
    U2,
    I4,
    I4Be,
    I8,
    F4,
    F8,
    Fixed,
    Text,
    List,
    Truth,
    Pair,
    Note,
    Sky,
    Array,
    Reference,
}

/// A Rust type whose values are made of numbers. Of zero comes what unwritten elements are.
trait Sample: Element + Storable + Clone + 'static {
    fn of(number: u64) -> Self;
    fn json(self) -> Value;
}

macro_rules! numbers_are_samples {
    ($($number:ty)*) => {$(
        impl Sample for $number {
            fn of(number: u64) -> Self {
                number as $number
            }

            fn json(self) -> Value {
                (self as i64).into()
            }
        }
    )*};
}
numbers_are_samples!(i8 u16 i32 i64 f32 f64);

impl Sample for String {
    fn of(number: u64) -> String {
        text(number)
    }

    fn json(self) -> Value {
        self.into()
    }
}

/// Short ones, some that fill a heap's collection, and some that need one of their own.
fn text(number: u64) -> String {
    match number {
        0 => String::new(),
        100 => "long ".repeat(1500),
        _ => "w".repeat(number as usize % 7) + &number.to_string(),
    }
}

impl Sample for Vec<i32> {
    fn of(number: u64) -> Vec<i32> {
        (0..number as i32 % 11).collect()
    }

    fn json(self) -> Value {
        self.into()
    }
}

impl Sample for bool {
    fn of(number: u64) -> bool {
        number % 2 == 1
    }

    fn json(self) -> Value {
        i32::from(self).into()
    }
}

impl Sample for [i16; 3] {
    fn of(number: u64) -> [i16; 3] {
        [1, 2, 3].map(|times| times * number as i16)
    }

    fn json(self) -> Value {
        json!(self)
    }
}

#[derive(Clone, Element)]
struct Pair {
    a: i32,
    b: f64,
}

impl Sample for Pair {
    fn of(number: u64) -> Pair {
        Pair { a: number as i32, b: 2.0 * number as f64 }
    }

    fn json(self) -> Value {
        json!([self.a, self.b as i64])
    }
}

#[derive(Clone, Element)]
struct Note {
    n: i64,
    text: String,
}

impl Sample for Note {
    fn of(number: u64) -> Note {
        Note { n: number as i64, text: text(number) }
    }

    fn json(self) -> Value {
        json!([self.n, self.text])
    }
}

#[derive(Clone, Copy, Element)]
enum Sky {
    #[hyperslab(rename = "CLEAR")]
    Clear,
    #[hyperslab(rename = "CLOUDY")]
    Cloudy = 7,
}

impl Sample for Sky {
    fn of(number: u64) -> Sky {
        if number % 2 == 1 { Sky::Cloudy } else { Sky::Clear }
    }

    fn json(self) -> Value {
        (self as u8).into()
    }
}

/// Of an address; only an open file knows what is there.
impl Sample for ObjectReference {
    fn of(number: u64) -> ObjectReference {
        ObjectReference::new(number)
    }

    fn json(self) -> Value {
        self.address().into()
    }
}

macro_rules! for_kind {
    ($kind:expr, $sample:ident => $body:expr) => {
        match $kind {
            Kind::I1 => {
                type $sample = i8;
                $body
            }
            Kind::U2 => {
                type $sample = u16;
                $body
            }
            Kind::I4 | Kind::I4Be => {
                type $sample = i32;
                $body
            }
            Kind::I8 => {
                type $sample = i64;
                $body
            }
            Kind::F4 => {
                type $sample = f32;
                $body
            }
            Kind::F8 => {
                type $sample = f64;
                $body
            }
            Kind::Text | Kind::Fixed => {
                type $sample = String;
                $body
            }
            Kind::List => {
                type $sample = Vec<i32>;
                $body
            }
            Kind::Truth => {
                type $sample = bool;
                $body
            }
            Kind::Pair => {
                type $sample = Pair;
                $body
            }
            Kind::Note => {
                type $sample = Note;
                $body
            }
            Kind::Sky => {
                type $sample = Sky;
                $body
            }
            Kind::Array => {
                type $sample = [i16; 3];
                $body
            }
            Kind::Reference => {
                type $sample = ObjectReference;
                $body
            }
        }
    };
}

/// All kinds.
pub(super) const KINDS: [Kind; 16] = [
    Kind::I1,
    Kind::U2,
    Kind::I4,
    Kind::I4Be,
    Kind::I8,
    Kind::F4,
    Kind::F8,
    Kind::Fixed,
    Kind::Text,
    Kind::List,
    Kind::Truth,
    Kind::Pair,
    Kind::Note,
    Kind::Sky,
    Kind::Array,
    Kind::Reference,
];

impl Kind {
    /// Whether a fill value can be given, and the filters for integers are of use.
    pub(super) fn is_integer(self) -> bool {
        matches!(self, Kind::I1 | Kind::U2 | Kind::I4 | Kind::I4Be | Kind::I8)
    }

    pub(super) fn is_number(self) -> bool {
        self.is_integer() || matches!(self, Kind::F4 | Kind::F8)
    }

    /// As it is stored.
    pub(super) fn datatype(self) -> Result<Datatype> {
        Ok(match self {
            Kind::I4Be => Datatype::integer(4, true, Order::Big)?,
            Kind::Fixed => Datatype::string(8, Padding::NullPad, Charset::Ascii)?,
            _ => for_kind!(self, S => <S as Storable>::datatype())?,
        })
    }

    /// The kind of a stored type.
    pub(super) fn of(datatype: &Datatype) -> Option<Kind> {
        let words = crate::datatype_text::describe(datatype);
        KINDS
            .into_iter()
            .find(|kind| kind.datatype().is_ok_and(|stored| crate::datatype_text::describe(&stored) == words))
    }

    /// What becomes of a number, as JSON.
    pub fn json(self, number: u64) -> Value {
        for_kind!(self, S => S::of(self.fitting(number)).json())
    }

    fn fitting(self, number: u64) -> u64 {
        if self == Kind::Fixed { number.min(99) } else { number }
    }

    fn samples<S: Sample>(self, numbers: &[u64]) -> Vec<S> {
        numbers.iter().map(|&number| S::of(self.fitting(number))).collect()
    }

    pub(super) fn fill(self, new: NewDataset, number: u64) -> NewDataset {
        for_kind!(self, S => new.fill_value(S::of(self.fitting(number))))
    }

    pub(super) fn create(self, new: NewDataset, path: &str, numbers: &[u64]) -> Result<Dataset> {
        for_kind!(self, S => new.write(path, &self.samples::<S>(numbers)))
    }

    pub(super) fn write(self, dataset: &Dataset, places: &Space, numbers: &[u64]) -> Result<()> {
        for_kind!(self, S => dataset.write_selection(places, &self.samples::<S>(numbers)))
    }

    pub(super) fn write_attribute(self, new: NewAttribute, name: &str, numbers: &[u64]) -> Result<()> {
        for_kind!(self, S => new.write(name, &self.samples::<S>(numbers)))
    }

    pub(super) fn read(self, dataset: &Dataset) -> Result<Vec<Value>> {
        for_kind!(self, S => Ok(dataset.read::<S>()?.into_iter().map(Sample::json).collect()))
    }

    pub(super) fn read_attribute(self, attribute: &Attribute) -> Result<Vec<Value>> {
        for_kind!(self, S => Ok(attribute.read::<S>()?.into_iter().map(Sample::json).collect()))
    }
}
