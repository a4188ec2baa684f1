//! The metadata cache: blocks of a file as typed values, and the order in which they may be written.
//!
//! Lives here: entries by address with guards, the flush-dependency graph, flushing in waves, eviction under a byte budget. Does not live
//! here: any knowledge of HDF5, and I/O (loads and writes are the caller's closures). Called by `file`.
//!
//! ```
//! use hyperslab_meta::{Cache, Encoded, Entry, Failure, Membership, Owner};
//!
//! struct Node(Vec<u8>);
//! impl Entry for Node {
//!     fn encode(&self) -> Result<Encoded, Failure> { Ok(self.0.clone().into()) }
//!     fn footprint(&self) -> usize { self.0.len() }
//! }
//!
//! let cache = Cache::default();
//! cache.insert(100, Node(vec![1]), Membership::user(Owner::FILE))?; // the parent names the child, so the child is written first
//! cache.insert(200, Node(vec![2]), Membership::user(Owner::FILE))?;
//! cache.depend(100, 200)?;
//! let mut written = Vec::new();
//! cache.flush(&mut |wave| { written.extend(wave.iter().map(|(address, _)| *address)); Ok(()) })?;
//! assert_eq!(written, [200, 100]);
//! # Ok::<(), hyperslab_meta::Error>(())
//! ```

mod addresses;
mod budget;
mod cache;
mod entry;
mod error;
mod flush;
mod graph;
mod guard;
mod owners;
mod phase;
mod slab;
mod slots;
mod unclean;

pub use budget::{Budget, Statistics};
pub use cache::Cache;
pub use entry::{Encoded, Entry, Membership, Owner, Ring};
pub use error::{Error, Failure, Result};
pub use flush::{Left, Write};
pub use graph::{Graph, Id};
pub use guard::{Exclusive, Shared};
pub use phase::{Event, Phase};
