//! Datatypes: what values are, how they stand in a file, and how one becomes another.
//!
//! Lives here: every datatype class, the datatype message, conversion of values, and what variable-length values need of a heap.
//! Does not live here: files, heaps (only the traits for them), objects that hold a datatype. Called by everything above that
//! moves values or describes them; calls only `base`.
//!
//! ```
//! use hyperslab_dtype::{Datatype, NoHeap, Order, Plan};
//!
//! let stored = Datatype::integer(2, true, Order::Big)?;
//! let plan = Plan::new(&stored, &Datatype::of::<u8>())?;
//! let mut bytes = [0; 3];
//! plan.convert(3, &[0, 7, 1, 0, 0xff, 0xff], &mut bytes, &NoHeap, &mut NoHeap)?;
//! assert_eq!(bytes, [7, 255, 0]); // what does not fit becomes the nearest value that does
//! # Ok::<(), hyperslab_dtype::Error>(())
//! ```
//!
//! The design is told in `docs/datatypes.md`.

mod arena;
mod compound;
mod convert;
mod datatype;
mod display;
mod enumeration;
mod equal;
mod error;
mod float;
mod heap;
mod make;
mod name;
mod native;
mod number;
mod segments;
mod text;
mod wire;

pub use arena::Arena;
pub use compound::{Compound, Member};
pub use convert::Plan;
pub use datatype::{Array, Class, Datatype, MAX_DEPTH, MAX_RANK, Reference, Revised, Time, Vlen};
pub use enumeration::Enum;
pub use error::{Error, Result};
pub use float::{Field, Float, Normalization};
pub use heap::{HeapReference, NoHeap, Sequence, Source, Target};
pub use name::Name;
pub use native::Native;
pub use number::{Bits, Fixed, Order};
pub use segments::{Nesting, Segments};
pub use text::{Charset, Padding};
pub use wire::Version;
