//! File drivers: storage as an extensible array of bytes that may see a whole request at once.
//!
//! Lives here: the [`Driver`] trait, what goes with a request, the pure lowering from selections to vectors to single
//! ranges, the drivers themselves and the decorators that wrap any of them. Does not live here: the file format.
//! Called by `file`, `meta` and `chunk`; see `docs/drivers.md` for the design.
//!
//! ```
//! use hyperslab_driver::{Driver, Memory, Transfer};
//! let storage = Memory::new();
//! storage.write_at(100, b"hello", &Transfer::default())?;
//! let mut bytes = [0; 5];
//! storage.read_at(100, &mut bytes, &Transfer::default())?;
//! assert_eq!(&bytes, b"hello");
//! assert_eq!(storage.len(&Transfer::default())?, 105);
//! # Ok::<(), hyperslab_driver::Error>(())
//! ```

mod capabilities;
mod concurrent;
mod ctl;
mod directory;
mod driver;
mod error;
mod kind;
mod pair;
mod pool;
mod route;
mod staged;
mod transfer;

pub mod conformance;
pub mod cores;
pub mod lower;
pub mod vector;

mod absent;
mod family;
mod fault;
#[cfg(unix)]
mod local;
mod log;
mod memory;
mod multi;
mod page_buffer;
mod subfile;
mod tape;
mod throttle;
mod torn;
mod vector_limit;

pub use absent::Absent;
pub use capabilities::Capabilities;
pub use concurrent::{Concurrent, concurrently};
pub use ctl::{CtlFlags, CtlOp, CtlReply};
pub use driver::Driver;
pub use error::{Error, Operation, Result, Why, shown_path};
pub use family::{Family, Opener};
pub use fault::{Damage, Fault, Target};
pub use kind::MemoryType;
#[cfg(unix)]
pub use local::{FileIdentity, FileStamp, Local, Lock, OpenOptions};
pub use log::{Counts, Log, Record};
pub use memory::Memory;
pub use multi::{Multi, SPLIT_RAW};
pub use page_buffer::{PageBuffer, PageStrategy, UnknownPageStrategy};
pub use pair::SelectionPair;
pub use staged::{Existing, Staged};
pub use subfile::Subfile;
pub use tape::{Change, Tape};
pub use throttle::Throttle;
pub use torn::{Missing, Torn};
pub use transfer::{Allocator, BufferLocation, Mode, Transfer};
pub use vector::{ReadPart, WritePart};
pub use vector_limit::VectorLimit;
