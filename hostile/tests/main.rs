//! The integration tests of the crate in one binary, which is linked once. A test that changes its whole process has a binary of its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    clippy::allow_attributes,
    reason = "a test that fails panics"
)]

mod bounds;
mod editing;
mod mutation;
mod sparse;
