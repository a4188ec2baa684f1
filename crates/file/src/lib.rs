//! One open file.
//!
//! Lives here: finding and reading the superblock and its extension, reads of metadata through pages, reads of raw data, and
//! the blocks of object headers. Does not live here: what objects mean. Called by `structures`, `object` and `chunk`.

mod error;
mod extension;
mod header;
mod members;
mod open;
mod open_file;

pub use error::{Error, Result};
pub use header::{Header, Message};
pub use members::members;
pub use open::OpenOptions;
pub use open_file::OpenFile;
