//! Structured chunks: only elements that were written are stored, and which they are is stored with them.
//!
//! ```text
//!  file                                        memory
//!   section 0   encoded dataspace | checksum    PackedElements   runs of element numbers
//!   section 1   values of its elements                           and their values
//! ```
//!
//! Elements are known by their row-major number in the chunk. Nothing here is as large as the chunk would be if it were dense: memory and
//! time follow the elements that are defined, and what a request selects.

mod converted_reads;
mod converted_writes;
mod defined_pieces;
mod encode;
mod index_room;
mod located_values;
mod packed_elements;
mod packed_values;
mod section_coder;
mod segment;
mod selection_section;
mod sparse_chunk;
mod stored_sections;

pub use defined_pieces::{DefinedPart, DefinedPieces};
pub(crate) use index_room::most_sparse_sizes;
pub use packed_values::ElementShape;
pub(crate) use packed_values::{OwnValues, PackedValues};
pub(crate) use section_coder::{CHECKSUM, SectionCoder};
pub use sparse_chunk::SparseChunk;
pub(crate) use sparse_chunk::{expected_memory, most_growth};
pub use stored_sections::Rest;
