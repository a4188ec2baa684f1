//! The integration tests of the crate in one binary, which is linked once.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    clippy::allow_attributes,
    reason = "a test that fails panics"
)]

mod common;
mod graph;
mod model;
mod order;
