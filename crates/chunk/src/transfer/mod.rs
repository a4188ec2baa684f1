//! Values between file and caller: chunks decoded and encoded, bytes copied to their places.

pub(crate) mod allocate;
mod coder;
mod direct;
mod filters;
pub(crate) mod make;
mod points;
pub(crate) mod publish;
pub(crate) mod scatter;
mod sparse;
mod stored_chunks;
mod write;

pub use coder::Coder;
pub use filters::{pipeline, unfilter};
pub use publish::Reserved;
pub use scatter::{fill, gather, scatter};
pub use stored_chunks::StoredChunk;
