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

mod convert;
mod libhdf5;
mod limits;
mod random;
mod segments;
mod sequence;
mod twin;
mod wire;
