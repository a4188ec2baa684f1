//! Words for values whose type does not fit.

use std::any::type_name;

use hyperslab_dtype::{Class, Datatype};

use crate::Error;

/// Which way values should go.
#[derive(Clone, Copy)]
enum Direction {
    Read,
    Write,
}

impl Error {
    /// Values of type `stored` where a `T` is wanted.
    pub fn mismatch<T>(stored: &Datatype) -> Error {
        let why = instead(stored, Direction::Read);
        Error::Mismatch { stored: stored.to_string(), wanted: type_name::<T>().into(), why }
    }

    /// Values of `T` where the type `stored` is.
    pub fn not_from<T: ?Sized>(stored: &Datatype) -> Error {
        let why = instead(stored, Direction::Write);
        Error::Unstorable { stored: stored.to_string(), given: type_name::<T>().into(), why }
    }

    /// As [`Error::not_from`], where the classes go together and yet there is no conversion.
    pub fn no_conversion_from<T: ?Sized>(stored: &Datatype, why: &hyperslab_dtype::Error) -> Error {
        Error::Unstorable { stored: stored.to_string(), given: type_name::<T>().into(), why: why.to_string() }
    }

    /// As [`Error::mismatch`], where the classes go together and yet there is no conversion.
    pub fn no_conversion<T>(stored: &Datatype, why: &hyperslab_dtype::Error) -> Error {
        Error::Mismatch { stored: stored.to_string(), wanted: type_name::<T>().into(), why: why.to_string() }
    }
}

/// What to read values of a type as, or what to write them from.
fn instead(stored: &Datatype, way: Direction) -> String {
    let verb = match way {
        Direction::Read => "read",
        Direction::Write => "write",
    };
    let what = match stored.class() {
        Class::Fixed(_) | Class::Float(_) => "a number, such as f64 or i64".into(),
        Class::Bitfield(_) => "an unsigned integer".into(),
        Class::Enum(_) => "an integer, or an enum that derives Element".into(),
        Class::String(..) => "String, or Vec<u8> if it is not UTF-8".into(),
        Class::Vlen(vlen) if vlen.text.is_some() => "String, or Vec<u8> if it is not UTF-8".into(),
        Class::Vlen(vlen) => format!("Vec<T> with a T for {}", vlen.base),
        Class::Array(array) => {
            let dims = array.dims().iter().rev();
            let shape = dims.fold("T".to_string(), |inner, dim| format!("[{inner}; {dim}]"));
            format!("{shape} or Vec<T> with a T for {}", array.base())
        }
        Class::Compound(compound) => {
            let names: Vec<_> = compound.members().iter().map(|member| member.name.to_string()).collect();
            format!("a struct that derives Element with fields such as {}", names.join(", "))
        }
        Class::Complex(_) => "Complex<f64> or Complex<f32>".into(),
        Class::Opaque(_) => "Vec<u8>".into(),
        Class::Time(_) | Class::Reference(_) => match way {
            Direction::Read => "the stored bytes with read_stored".into(),
            Direction::Write => "the stored bytes with write_converted".into(),
        },
    };
    format!("{verb} {what}")
}
