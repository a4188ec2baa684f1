//! Bulk values: where they are, how they get to the caller and from there to the file.
//!
//! Lives here: layouts (compact, contiguous, external, chunked, virtual), chunk indexes, reads and writes of any selection as whole
//! requests, through the chunk cache or past it, datasets that grow and shrink. Does not live here: names, and what the bytes of a value mean. Called by `hyperslab`.
//!
//! ```text
//!  cache/      requests through the chunk cache
//!  structured/ sparse chunks: packed elements in memory, sections in the file
//!  transfer/   values between file and caller: loaded, stored, decoded, encoded, copied, converted
//!  layout/     what the values of a dataset are like, and how that changes
//!  index/      where chunks are
//! ```

mod cache;
mod error;
mod index;
mod layout;
mod structured;
mod transfer;

pub use cache::{ChunkCache, ChunkPartition, ChunkSource, Keep, RequestOptions, Withdrawn};
pub use error::{Error, Result};
pub use hyperslab_format::{Section, Sections};
pub use index::{Index, Stored, SurveyedDataset, check_new, index_that_holds};
pub use layout::{
    ChunkKind, ChunkLayout, Chunked, ChunkedParts, Correspondence, DatasetHeader, DatasetState, DatasetStorage,
    ExternalFile, ExternalPart, Externals, Filling, OpenedValues, Resizing, SourcePart, Storage, StorageChange,
    StorageView, Values, VirtualSource, VlenParts,
};
pub use structured::{DefinedPart, DefinedPieces, ElementShape, Rest, SparseChunk};
pub use transfer::{
    CheckedChunk, ChunkCoord, ChunkFilters, Coder, DenseChunk, EncodedChunk, EncodedSection, FirstValues, Loader,
    ReadBuffer, ResidentChunk, StoredAs, StoredAt, Storer, StripCut, StripReader, StripWriter, StructuredChunk, Wanted,
    Workspace, WriteBuffer, convert, fill, filters, for_each_strip, gather, group_points, pipeline, read_strips,
    scatter, to_memory, unfilter, write_strips,
};
