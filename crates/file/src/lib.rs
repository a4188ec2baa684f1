//! One open file.
//!
//! Lives here: finding and reading the superblock and its extension, reads of metadata through pages, reads of raw data,
//! the blocks of object headers, a look at every block, and changes: space, changed blocks, operations, flushing. Does not live here: what objects mean.
//! Called by `structures`, `object` and `chunk`.

mod attached;
mod block;
mod cache_image;
mod clear;
mod create;
mod durability;
mod edit;
mod error;
mod extension;
mod file_blocks;
mod file_space;
mod file_state;
mod flush;
mod free_space;
mod full_disk;
mod gate;
mod header;
mod in_place;
mod journal;
mod load;
mod member_layout;
mod members;
mod object_blocks;
mod open;
mod open_file;
mod operation;
mod owned;
mod pages;
mod plan;
mod retry;
mod reuse;
mod space_trailer;
mod spans;
mod speed;
mod spread;
mod store;
mod structure;
mod structured_chunks;
mod survey;
mod torn;
mod transfers;
mod unnamed_space;

pub use attached::Attached;
pub use block::{Block, Extent, Seal};
pub use clear::{Marks, clear};
pub use create::CreateOptions;
pub use durability::{Durability, UnknownDurability};
pub use edit::{Kind, Reclaim};
pub use error::{Error, Result};
pub use file_blocks::{FreeSections, FreeSpaceManager};
pub use file_space::{FileSpace, Placement};
pub use file_state::OpenFile;
pub use gate::Writing;
pub use header::{Handle, Header, HeaderBuilder, HeaderEdit, Life, Message, MessageId, NewHeader, now};
pub use hyperslab_format::message::SpaceStrategy;
pub use members::members;
pub use open::OpenOptions;
pub use operation::Reading;
pub use owned::{Owned, Owner};
pub use plan::{Change, Plan};
pub use retry::Retry;
pub use space_trailer::SPACE_TRAILER;
pub use structure::Structure;
pub use survey::Survey;
pub use unnamed_space::UnnamedSpace;
