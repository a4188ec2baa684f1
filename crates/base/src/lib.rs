//! The ground floor: what every other room of Hyperslab stands on.
//!
//! Lives here: field widths and checked little-endian cursors. Does not live here: anything that knows an HDF5
//! structure. Everybody calls it; it calls nobody.

mod cursor;
mod width;

pub use cursor::{Cursor, Sink, Truncated};
pub use width::Width;
