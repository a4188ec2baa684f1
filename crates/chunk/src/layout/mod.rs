//! What the values of a dataset are like: their layout, their extent, and how both change.

mod blocks;
pub(crate) mod chunk_layout;
pub(crate) mod chunked;
mod external;
mod filling;
mod locate_chunked;
mod locate_values;
mod resize;
pub(crate) mod values;
mod values_change;
mod virtual_parts;

pub use chunk_layout::{Direct, Facts, Image, Layout, Locate, Located};
pub use chunked::Chunked;
pub use external::{ExternalFile, ExternalPart, Externals};
pub use filling::Filling;
pub use resize::Resizing;
pub use values::{Storage, Values};
pub use virtual_parts::{Correspondence, Elsewhere, Taken};
