//! The integration tests of the crate in one binary, which is linked once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    clippy::allow_attributes,
    reason = "a test that fails panics"
)]

mod changes;
mod free_space;
mod header_growth;
mod headers;
mod owners;
mod plans;
mod replay;
mod space_trailer;
mod structures;
mod unnamed_space;
