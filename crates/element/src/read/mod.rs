//! What values can be read as: the trait, and the Rust types that have it.

mod array;
mod compound;
mod enumeration;
mod number;
mod sequence;
mod text;
mod truth;
mod values;

use hyperslab_dtype::Datatype;

use crate::{Result, Sequences};

pub(crate) use array::inner;
#[doc(hidden)]
pub use compound::{Field, Fields};
#[doc(hidden)]
pub use enumeration::Variants;
pub(crate) use number::pair;
#[doc(hidden)]
pub use number::read;
pub use values::Reading;

/// A Rust type that stored values can be read as.
///
/// Numbers, arrays of them, `bool`, [`String`], [`Vec`], [`Option`] and whatever derives it are elements. Which stored types
/// each takes:
///
/// | Rust | stored |
/// |---|---|
/// | integers, floating-point numbers, complex numbers | numbers, enumerations and bit fields; values beyond the range become the nearest |
/// | `bool` | enumerations, integers and bit fields whose values are 0 and 1 |
/// | [`String`] | strings of fixed or variable length, in UTF-8 |
/// | `Vec<T>` | sequences of variable length and arrays; strings and opaque values as `Vec<u8>` |
/// | `[T; N]` | arrays with `N` as their first dimension |
/// | `Option<T>` | what may be null: strings and sequences of variable length |
/// | structs that derive `Element` | compounds, field by field, by name |
/// | enums that derive `Element` | enumerations, by name |
///
/// ```
/// # let file = hyperslab::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../hyperslab/tests/data/weather.h5"))?;
/// let precise: Vec<f64> = file.dataset("temperature")?.read()?; // stored as f32
/// let stations: Vec<String> = file.dataset("station/name")?.read()?;
/// assert_eq!((precise[0], stations[0].as_str()), (11.5, "Zürich"));
/// # Ok::<(), hyperslab::Error>(())
/// ```
pub trait Element: Sized + Send {
    /// What is worked out once for all values of a read.
    type Decoder: Send + Sync;

    /// How stored values become values of this type; an error if they cannot.
    fn recipe(stored: &Datatype) -> Result<Recipe<Self::Decoder>>;

    /// The value that the bytes of one value in memory stand for.
    ///
    /// It is called on any thread, while locks of the file are held: it may use other files, but must not change this one, nor wait for
    /// tasks of a pool whose threads may do so.
    fn decode(decoder: &Self::Decoder, bytes: &[u8], sequences: &Sequences<'_>) -> Result<Self>;

    /// Shows each reference to variable-length data in the bytes of one value.
    fn references(decoder: &Self::Decoder, bytes: &[u8], visit: &mut dyn FnMut(&[u8])) {
        let _ = (decoder, bytes, visit);
    }

    /// The bytes of values, if any bytes at all are values of this type: those are read without [`Element::decode`].
    fn as_bytes(values: &mut [Self]) -> Option<&mut [u8]> {
        let _ = values;
        None
    }

    /// `count` values of zero bytes, if [`Element::as_bytes`] gives bytes and there is memory for them.
    fn zeros(count: usize) -> Option<Vec<Self>> {
        let _ = count;
        None
    }
}

/// How stored values become values of a Rust type: converted from one datatype to another, then decoded.
#[derive(Clone, Debug)]
pub struct Recipe<D> {
    /// The stored type, described as the conversion shall see it; of the same size.
    pub stored: Datatype,
    /// What values are converted to.
    pub memory: Datatype,
    /// How converted values are decoded.
    pub decoder: D,
}

impl<D> Recipe<D> {
    /// Bytes that are decoded as they are stored.
    pub fn verbatim(stored: &Datatype, decoder: D) -> Result<Recipe<D>> {
        let bytes = Datatype::opaque(stored.size() as u32, "")?;
        Ok(Recipe { stored: bytes.clone(), memory: bytes, decoder })
    }
}
