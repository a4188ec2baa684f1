//! The lowest layer: what every other crate of Hyperslab uses.
//!
//! Lives here: field widths, checked little-endian cursors, a reader and a writer that name what fails, the metadata checksum,
//! memory that may not be there, kinds of errors.
//! Does not live here: anything that knows an HDF5 structure. All crates call it; it calls none.

mod any_error;
mod cursor;
mod error_kind;
mod lookup3;
pub mod memory;
mod reader;
mod width;
mod writer;

pub use any_error::{AnyError, Classified};
pub use cursor::{Cursor, Sink, Truncated};
pub use error_kind::{ErrorKind, os_error};
pub use lookup3::{lookup3, lookup3_seeded};
pub use reader::{Defect, Fault, Malformed, Reader};
pub use width::{Width, Widths};
pub use writer::{Unfit, Writer};
