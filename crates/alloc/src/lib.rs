//! File space: who gets which bytes of a file.
//!
//! Lives here: the end of the file, free sections, blocks that small allocations share, pages, which borders a piece does not cross, and space whose release waits until the file no
//! longer names it. Does not live here: the file itself; this is arithmetic in memory. Called by `file`.
//!
//! ```
//! use hyperslab_alloc::{Allocator, Kind, Strategy};
//!
//! let mut space = Allocator::new(96, Strategy::default());
//! let header = space.allocate(Kind::Metadata, 200)?;
//! let values = space.allocate(Kind::Raw, 1 << 20)?;
//! space.free(Kind::Raw, values);                       // not yet: the file may still name it
//! assert_ne!(space.allocate(Kind::Raw, 1 << 20)?, values);
//! space.publish();                                     // now it does not
//! assert_eq!(space.allocate(Kind::Raw, 1 << 20)?, values);
//! # assert!(header.start >= 96);
//! # Ok::<(), hyperslab_alloc::Error>(())
//! ```

mod allocator;
mod pages;
mod pool;
mod rule;
mod sections;
mod span;

pub use allocator::Allocator;
pub use pool::{Error, Kind, Strategy};
pub use rule::{PAGE, Rule};
pub use sections::Sections;
pub use span::Span;
