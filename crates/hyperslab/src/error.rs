//! What can go wrong, and with which object.

use std::any::type_name;

use hyperslab_base::memory::OutOfMemory;
use hyperslab_dtype::{Class, Datatype};

/// The result of anything that this crate does.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something cannot be done: which object, which structure, where, and why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file, its storage or a structure of it.
    #[error(transparent)]
    File(#[from] hyperslab_file::Error),
    /// The storage.
    #[error(transparent)]
    Driver(#[from] hyperslab_driver::Error),
    /// The values of a dataset.
    #[error(transparent)]
    Values(#[from] hyperslab_chunk::Error),
    /// A selection.
    #[error(transparent)]
    Space(#[from] hyperslab_space::Error),
    /// A datatype.
    #[error(transparent)]
    Datatype(#[from] hyperslab_dtype::Error),
    /// Bytes of a value that are not what its type says.
    #[error(transparent)]
    Malformed(#[from] hyperslab_base::Malformed),
    /// A filter.
    #[error(transparent)]
    Filter(#[from] hyperslab_filter::Error),
    /// Files that should make one, and do not.
    #[error("{0}")]
    Storage(String),
    /// A link that cannot be followed.
    #[error("link {link}: {why}")]
    Link {
        /// The link, by its path as far as it was walked.
        link: String,
        /// Why, with the file that it names.
        why: String,
    },
    /// A name that leads nowhere.
    #[error("there is no {0}")]
    Missing(String),
    /// An object that was deleted since it was opened; its address.
    #[error("the object at {0:#x} was deleted")]
    Deleted(u64),
    /// An object of another kind than was asked for.
    #[error("{path} is a {found}, not a {wanted}")]
    Kind {
        /// Which object.
        path: String,
        /// What it is.
        found: &'static str,
        /// What was asked for.
        wanted: &'static str,
    },
    /// Values of a type that the wanted one cannot be made of.
    #[error("values of type {stored} cannot be read as {wanted}: {why}")]
    Mismatch {
        /// The type of the stored values.
        stored: String,
        /// The Rust type asked for.
        wanted: String,
        /// What stands in the way, or what to ask for instead.
        why: String,
    },
    /// Values that a stored type cannot hold.
    #[error("values of type {given} cannot be written as {stored}: {why}")]
    Unstorable {
        /// The type that they should be stored as.
        stored: String,
        /// The Rust type.
        given: String,
        /// What stands in the way, or what to write instead.
        why: String,
    },
    /// A new dataset, or one that changes, that cannot be as it was said to be.
    #[error("dataset: {0}")]
    Create(String),
    /// A name that is taken.
    #[error("{0} exists already; delete it first, or take another name")]
    Exists(String),
    /// Something that cannot be changed so.
    #[error("{0}")]
    Change(String),
    /// A stored value that is none of the Rust type asked for.
    #[error("{0}")]
    Value(String),
    /// A slice that does not fit the dataset.
    #[error("slice: {0}")]
    Slice(String),
    /// A selection in another extent than the dataset has, such as one that was made before the dataset was resized.
    #[error(
        "the dataset at {dataset:#x} has the extent {extent:?}, but the selection is one of the extent {selection:?}"
    )]
    Extent {
        /// Where the header of the dataset is.
        dataset: u64,
        /// The size of the dataset in each dimension.
        extent: Vec<u64>,
        /// The size of the selection's extent in each dimension.
        selection: Vec<u64>,
    },
    /// More or fewer values than there is room for.
    #[error("{values} values do not fit a place for {room}; both must be equal in number")]
    Length {
        /// How many values there are.
        values: u64,
        /// How many there is room for.
        room: u64,
    },
    /// One of several parts that are read or written together.
    #[error("part {nth} of several: {why}{}", if *.written > 0 { "; the parts before it are written" } else { "" })]
    Part {
        /// Which part, counted from 0.
        nth: usize,
        /// How many parts are written: those before it, or none.
        written: usize,
        /// What is wrong with it.
        #[source]
        why: Box<Error>,
    },
    /// There is not enough memory.
    #[error("there is no memory for {values} values of {size} bytes; read a part at a time")]
    Memory {
        /// How many values.
        values: u64,
        /// The bytes of one.
        size: u64,
    },
    /// Parts of a file that could not be read, so that it is not copied.
    #[error("not all can be read: {}", crate::copy::words(.0))]
    Damaged(Vec<crate::Lost>),
    /// Something that is not there yet.
    #[error("{0} is not supported yet")]
    Unsupported(&'static str),
}

impl From<OutOfMemory> for Error {
    fn from(OutOfMemory(bytes): OutOfMemory) -> Error {
        Error::Memory { values: bytes, size: 1 }
    }
}

impl Error {
    /// The same, of an object that a path leads to.
    pub(crate) fn of(self, path: &[u8]) -> Error {
        match self {
            Error::Kind { found, wanted, .. } => {
                Error::Kind { path: String::from_utf8_lossy(path).into_owned(), found, wanted }
            }
            other => other,
        }
    }

    /// The same, of one of several parts.
    pub(crate) fn part(nth: usize, written: usize, why: Error) -> Error {
        Error::Part { nth, written, why: Box::new(why) }
    }

    /// Values of type `stored` where a `T` is wanted.
    pub(crate) fn mismatch<T>(stored: &Datatype) -> Error {
        Error::Mismatch { stored: stored.to_string(), wanted: type_name::<T>().into(), why: instead(stored) }
    }

    /// Values of `T` where the type `stored` is.
    pub(crate) fn not_from<T: ?Sized>(stored: &Datatype) -> Error {
        let why = instead(stored).replace("read", "write").replace("write_stored", "write_converted");
        Error::Unstorable { stored: stored.to_string(), given: type_name::<T>().into(), why }
    }

    /// As [`Error::not_from`], where the classes go together and yet there is no conversion.
    pub(crate) fn no_conversion_from<T: ?Sized>(stored: &Datatype, why: &hyperslab_dtype::Error) -> Error {
        Error::Unstorable { stored: stored.to_string(), given: type_name::<T>().into(), why: why.to_string() }
    }

    /// As [`Error::mismatch`], where the classes go together and yet there is no conversion.
    pub(crate) fn no_conversion<T>(stored: &Datatype, why: &hyperslab_dtype::Error) -> Error {
        Error::Mismatch { stored: stored.to_string(), wanted: type_name::<T>().into(), why: why.to_string() }
    }
}

/// What to read values of a type as.
fn instead(stored: &Datatype) -> String {
    match stored.class() {
        Class::Fixed(_) | Class::Float(_) => "read a number, such as f64 or i64".into(),
        Class::Bitfield(_) => "read an unsigned integer".into(),
        Class::Enum(_) => "read an integer, or an enum that derives Element".into(),
        Class::String(..) => "read String, or Vec<u8> if it is not UTF-8".into(),
        Class::Vlen(vlen) if vlen.text.is_some() => "read String, or Vec<u8> if it is not UTF-8".into(),
        Class::Vlen(vlen) => format!("read Vec<T> with a T for {}", vlen.base),
        Class::Array(array) => {
            let dims = array.dims().iter().rev();
            let shape = dims.fold("T".to_string(), |inner, dim| format!("[{inner}; {dim}]"));
            format!("read {shape} or Vec<T> with a T for {}", array.base())
        }
        Class::Compound(compound) => {
            let names: Vec<_> = compound.members().iter().map(|member| member.name.to_string()).collect();
            format!("read a struct that derives Element with fields such as {}", names.join(", "))
        }
        Class::Complex(_) => "read Complex<f64> or Complex<f32>".into(),
        Class::Opaque(_) => "read Vec<u8>".into(),
        Class::Time(_) | Class::Reference(_) => "read the stored bytes with read_stored".into(),
    }
}
