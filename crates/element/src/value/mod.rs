//! Values of any type, for those who learn the type only when they open the file.
//!
//! Lives here: what a value can be. How it is made of bytes is in `walk`, how it looks in `display`.

mod display;
mod walk;

use hyperslab_dtype::Name;

use crate::Referent;

pub use display::Shown;
pub use walk::Values;

/// A value of any datatype.
///
/// ```
/// use hyperslab::Value;
/// let point = Value::Array(vec![Value::Signed(-1), Value::F32(0.1), Value::Text(b"two".to_vec())]);
/// assert_eq!(point.to_string(), r#"[-1, 0.1, "two"]"#);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A reference that refers to nothing.
    Null,
    /// A truth value, as h5py stores it.
    Bool(bool),
    /// A signed integer of at most 16 bytes.
    Signed(i128),
    /// An unsigned integer of at most 16 bytes.
    Unsigned(u128),
    /// A floating-point number that single precision holds exactly.
    F32(f32),
    /// A floating-point number that double precision holds exactly.
    F64(f64),
    /// A floating-point number of more than double precision.
    Extended {
        /// The nearest double.
        near: f64,
        /// The number itself, as stored.
        bytes: Vec<u8>,
    },
    /// Real and imaginary part.
    Complex(Box<[Value; 2]>),
    /// The characters of a string; mostly UTF-8.
    Text(Vec<u8>),
    /// What has no other form: opaque values, times, numbers of over 16 bytes; as stored.
    Bytes(Vec<u8>),
    /// A bit field of at most 16 bytes.
    Bits {
        /// The bits.
        bits: u128,
        /// How many they are.
        width: u16,
    },
    /// A value of an enumeration.
    Enum {
        /// Its name, if it has one.
        name: Option<Name>,
        /// The number.
        value: Box<Value>,
    },
    /// Members with their names, in the order of the datatype.
    Compound(Vec<(Name, Value)>),
    /// A box of values; one of several dimensions is an array of arrays.
    Array(Vec<Value>),
    /// Any number of values.
    Sequence(Vec<Value>),
    /// What a reference refers to.
    Reference(Box<Referent>),
    /// A reference that cannot be followed.
    Dangling {
        /// Its bytes, as stored.
        bytes: Vec<u8>,
        /// What stands in the way.
        why: String,
    },
}
