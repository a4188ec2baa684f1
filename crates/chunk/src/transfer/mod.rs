//! Values between file and caller: chunks loaded and stored, decoded and encoded, bytes copied or converted
//! to their places.

pub(crate) mod allocate;
pub(crate) mod allocation;
mod buffers;
mod coder;
mod convert;
mod dense;
mod direct;
mod encoded_chunk;
mod few_chunks;
mod filters;
mod first_values;
mod gathered;
pub(crate) mod hand_out;
pub(crate) mod job;
mod loader;
mod make;
mod points;
mod read;
mod resident_chunk;
pub(crate) mod scatter;
mod store_chunks;
mod store_pieces;
mod stored_chunks;
mod storer;
mod strip_cut;
mod strips;
mod structured_chunk;
mod write;

pub use buffers::{ReadBuffer, WriteBuffer};
pub use coder::Coder;
pub use convert::convert;
pub use dense::DenseChunk;
pub use encoded_chunk::{ChunkCoord, EncodedChunk, StoredAt};
pub(crate) use few_chunks::own_piece_of;
pub use filters::{ChunkFilters, filters, pipeline, unfilter};
pub use first_values::FirstValues;
pub use loader::{Loader, Wanted};
pub use points::group_points;
pub use resident_chunk::{ResidentChunk, StoredAs, Workspace};
pub use scatter::{fill, gather, scatter};
pub use storer::Storer;
pub use strip_cut::StripCut;
pub use strips::{StripReader, StripWriter, for_each_strip, read_strips, to_memory, write_strips};
pub use structured_chunk::{CheckedChunk, EncodedSection, StructuredChunk};

/// The most bytes of chunks, stored or decoded, that are in memory at once.
pub(crate) const BATCH: u64 = 64 << 20;
/// The most pieces that are in memory at once: a small file can have more chunks than there is room for.
pub(crate) const PIECES: usize = 1 << 15;
