//! From selections to vectors to single ranges, for drivers that take only the simpler form.
//!
//! Lives here: how a request is cut, merged and bounded, without I/O in the planning. Does not live here: any storage. The
//! defaults of [`Driver`](crate::Driver) call these functions; decorators use the same pieces.

mod bands;
mod carve;
mod segment;
mod selection;
mod vector;

pub use bands::{Band, bands};
pub(crate) use segment::check;
pub use segment::{Segment, Segments};
pub(crate) use selection::refused;
pub use selection::{read_selection, write_selection};
pub use vector::{read_vector, write_vector};
