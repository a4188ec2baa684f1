//! Rust types as HDF5 values: what values can be read as, and what they can be written from.
//!
//! Lives here: the traits, the Rust types that have them, what derived code calls, and values of any type. Does not live here: where the
//! bytes come from (`hyperslab_session`), and conversion between datatypes (`hyperslab_dtype`).

mod read;
mod value;
mod write;

pub use hyperslab_session::{Error, Heap, Referent, Result, Sequences};
pub use read::{Element, Field, Fields, Reading, Recipe, Variants, read};
pub use value::{Shown, Value, Values};
pub use write::{Storable, StoredField, StoredFields, StoredVariants, Storing, Writing, put};
