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

mod harvest;
mod indexes;
mod limits;
mod messages;
mod random;
mod section_filters;
mod structured_layout;
mod structures;
