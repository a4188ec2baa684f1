//! How much memory a file takes, as the allocator counts it. A binary of its own, because the allocator is the process's.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod cache;
mod counting;
mod references;
mod repack;
