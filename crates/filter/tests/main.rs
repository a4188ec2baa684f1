//! The integration tests of the crate in one binary, which is linked once.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::allow_attributes,
    reason = "a test that fails panics"
)]

mod hostile;
mod libhdf5;
mod roundtrip;
mod steps;
