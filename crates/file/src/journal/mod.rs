//! The journal: blocks that are about to be rewritten in place, behind the end of the file.
//!
//! A block that is rewritten in place may be left half old and half new: at the border of a page by a killed process, anywhere at 512 bytes by a
//! power failure. So what is to be written is in the journal first, and the next program that opens the file does it again.
//!
//! ```text
//!  … the file | zeros | address length bytes, address length bytes, … | zeros | trailer |
//!             ^       ^                                                       ^         ^
//!             length  start, a multiple of 512                     multiple of 512      the end of the storage
//! ```
//!
//! A journal counts if its trailer is the last 512 bytes of the storage, behind the end that the superblock tells, and all its numbers and its
//! checksum are right. It is written before the first block in place and cut off after the last one, so it is never older than what it
//! replaces: see `write`. Hostile ones can do no more than a hostile file can: they name bytes inside of the file, each once.
//!
//! Lives here: its bytes (`trailer`), writing it (`write`), finding it and doing it again (`replay`), and reading through it where nothing may
//! be written (`overlay`).

mod overlay;
mod replay;
mod trailer;
mod write;

pub(crate) use replay::{Found, find, trailer_place};
pub(crate) use write::{Journal, room};

/// What devices write as a whole, or not at all.
pub(crate) const SECTOR: u64 = 512;
