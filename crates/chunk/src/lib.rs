//! Bulk values: where they are, how they get to the caller and from there to the file.
//!
//! Lives here: layouts (compact, contiguous, external, chunked, virtual), chunk indexes, reads and writes of any selection as whole
//! requests, through the chunk cache or past it, datasets that grow and shrink. Does not live here: names, and what the bytes of a value mean. Called by `hyperslab`.

mod allocate;
mod blocks;
mod cached;
mod chunked;
mod coder;
mod direct;
mod error;
mod external;
mod filling;
mod filters;
mod grid;
mod index;
mod layout;
mod layout_chunked;
mod layout_values;
mod make;
mod points;
mod publish;
mod resize;
mod scatter;
mod sparse;
mod stored;
mod stored_chunks;
mod values;
mod values_change;
mod virtual_parts;
mod write;

pub use cached::{Chunk, ChunkCache, ChunkShelf, Home, Keep};
pub use chunked::Chunked;
pub use coder::Coder;
pub use error::{Error, Result};
pub use external::{ExternalFile, ExternalPart, Externals};
pub use filling::Filling;
pub use filters::{pipeline, unfilter};
pub use index::{Index, Kept, check_new, index_that_holds};
pub use layout::{Direct, Facts, Image, Layout, Locate, Located};
pub use publish::Reserved;
pub use resize::Resizing;
pub use scatter::{fill, gather, scatter};
pub use stored::Stored;
pub use stored_chunks::StoredChunk;
pub use values::{Storage, Values};
pub use virtual_parts::{Correspondence, Elsewhere, Taken};
