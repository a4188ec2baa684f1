//! Byte pictures of the HDF5 file format.
//!
//! Lives here: one file per structure or header message, named as the specification names it, with a picture of its bytes. Decoders take
//! bytes and give values, encoders take values and give the same bytes again; none of them touches a file. Does not live here:
//! dataspaces and datatypes (their own rooms), I/O, locks. Called by `file`, `structures` and `object`.
//!
//! An encoder writes the version it is told; [`version`] knows which one libhdf5 would choose. A value that does not fit its field is
//! an error that names the field.
//!
//! In the pictures, `O` is an address and `L` a length, as wide as the superblock says; other fields have one byte or the number given.

pub mod btree_v1;
pub mod cache_image;
pub mod free_space;
pub mod heap;
pub mod index;
pub mod message;
pub mod object_header;
pub mod shared_messages;
pub mod superblock;
pub mod symbol_table;
pub mod version;
pub mod virtual_mapping;

mod chunk_entry;
mod driver_info_block;
mod member_files;
mod sections;

pub use chunk_entry::ChunkEntry;
pub use driver_info_block::DriverInfoBlock;
pub use hyperslab_base::{Defect, Fault, Malformed, Unfit, Widths};
pub use member_files::{MemberFiles, MultiMember};
pub use sections::{Section, Sections};
pub use superblock::Superblock;

/// The result of decoding.
pub type Result<T> = std::result::Result<T, Malformed>;

/// The result of encoding.
pub type Encoded<T = Vec<u8>> = std::result::Result<T, Unfit>;
