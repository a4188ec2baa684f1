//! Bulk values: where they are, and how they get to the caller.
//!
//! Lives here: layouts (compact, contiguous, external, chunked, virtual), chunk indexes, and reads of any selection as whole requests. Does not
//! live here: names, and what the bytes of a value mean. Called by `hyperslab`.

mod chunked;
mod error;
mod external;
mod filters;
mod grid;
mod index;
mod points;
mod scatter;
mod sparse;
mod stored;
mod values;
mod virtual_parts;

pub use chunked::Chunked;
pub use error::{Error, Result};
pub use external::{ExternalPart, Externals};
pub use filters::{pipeline, unfilter};
pub use index::Index;
pub use scatter::{fill, scatter};
pub use stored::Stored;
pub use values::{Storage, Values};
pub use virtual_parts::{Correspondence, Elsewhere, Taken};
