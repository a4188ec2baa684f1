//! What the values of a dataset are like: their layout, their extent, and how both change.

mod blocks;
pub(crate) mod chunk_layout;
mod chunked;
mod dataset_storage;
mod external;
mod filling;
mod locate_values;
mod resize;
mod structured_layout;
pub(crate) mod values;
pub(crate) mod values_change;
mod virtual_parts;

pub(crate) use chunk_layout::Part;
pub use chunk_layout::{ChunkKind, ChunkLayout};
pub(crate) use chunked::check_element_size;
pub use chunked::{Chunked, ChunkedParts, VlenParts};
pub use dataset_storage::{DatasetHeader, DatasetState, DatasetStorage, OpenedValues, StorageChange, StorageView};
pub use external::{ExternalFile, ExternalPart, Externals};
pub use filling::Filling;
pub use resize::Resizing;
pub(crate) use structured_layout::StructuredLayout;
pub use values::{Storage, Values};
pub use virtual_parts::{Correspondence, SourcePart, VirtualSource};
