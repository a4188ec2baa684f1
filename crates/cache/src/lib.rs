//! The chunk cache: chunks in memory, decoded, by dataset and coordinate in the grid.
//!
//! Lives here: which chunks are in memory and in which phase of their life, how much memory they may take, which thread waits for which, and which chunk leaves first. Does not
//! live here: I/O, coding, what a chunk is. Called by `chunk`. The page about all of it is `docs/chunk-cache.md`.
//!
//! ```text
//!  Cache    one per file: budget, ranking of partitions, statistics
//!   Partition    one per dataset: range lock, slots in the order of a policy
//!    Slot     one per chunk: phase, pins, value
//! ```

mod budget;
mod cache;
mod config;
mod counters;
mod dirty_index;
mod eviction;
mod footprint;
mod life;
mod lookup;
mod order;
mod partition;
mod partition_eviction;
mod partition_state;
mod pinned;
mod range_lock;
mod read_ahead;
mod reservation;
mod share;
mod shared;
mod slot;
mod slot_state;
mod statistics;
mod sync;
mod tuning;
mod unreserved_pins;
mod unwritten;
mod withdrawal;
mod write_back;
mod write_failure;

pub use cache::Cache;
pub use config::{Config, Limits};
pub use eviction::Eviction;
pub use footprint::Footprint;
pub use lookup::{Bypass, LoadTicket, LoadWaiter, Lookup};
pub use order::{Policy, UnknownPolicy};
pub use partition::Partition;
pub use pinned::{Pinned, Writing};
pub use range_lock::{LockRange, RangeGuard};
pub use read_ahead::ReadAhead;
pub use reservation::{Demand, Grant, Reservation};
pub use statistics::{Statistics, Waits};
pub use sync::{Reading, assert_no_locks_held};
pub use unwritten::Unwritten;
pub use withdrawal::Withdrawal;
pub use write_back::WriteBack;
pub use write_failure::WriteFailure;
