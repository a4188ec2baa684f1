//! The integration tests of the crate in one binary, which is linked once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    unreachable_pub,
    clippy::allow_attributes,
    reason = "a test that fails panics"
)]

mod arrays;
mod changes;
mod chunk_trees;
mod common;
mod filtered_heap;
mod global_heap;
mod hidden_list;
mod libhdf5;
mod old_chunks;
mod old_groups;
