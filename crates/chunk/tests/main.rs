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
mod crash;
mod layouts;
mod libhdf5;
mod second_kind;
mod strips;
