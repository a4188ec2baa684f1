//! The chunk cache: chunks in memory, decoded, by dataset and place in the grid.
//!
//! Lives here: which chunks are in memory and in which phase of their life, how much memory they may take, who waits for whom, and who leaves first. Does not
//! live here: I/O, coding, what a chunk is. Called by `chunk`. The page about all of it is `docs/chunk-cache.md`.
//!
//! ```text
//!  Cache    one per file: budget, ranking of shelves, statistics
//!   Shelf    one per dataset: turns, slots in the order of a policy
//!    Slot     one per chunk: phase, pins, value
//! ```

mod books;
mod budget;
mod cache;
mod config;
mod dirty_index;
mod footprint;
mod inner;
mod life;
mod order;
mod pinned;
mod promise;
mod request;
mod room;
mod shelf;
mod slot;
mod statistics;
mod sync;
mod taken;
mod tuning;
mod turns;
mod unwritten;
mod visits;
mod write_failure;

pub use cache::Cache;
pub use config::{Config, Limits};
pub use footprint::Footprint;
pub use order::{Policy, UnknownPolicy};
pub use pinned::{Pinned, Writing};
pub use promise::{Claim, Need, Promise};
pub use request::{Found, Vacancy, Waiter};
pub use room::Room;
pub use shelf::Shelf;
pub use statistics::Statistics;
pub use sync::{Reading, assert_no_locks_held};
pub use taken::Taken;
pub use turns::{Area, Turn};
pub use unwritten::Unwritten;
pub use write_failure::WriteFailure;
