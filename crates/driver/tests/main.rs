//! The integration tests of the crate in one binary, which is linked once. A test that changes its whole process has a binary of its own.

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

mod common;
mod conformance;
mod ctl;
mod divided;
mod faults;
mod gather;
mod local;
mod lowering;
mod memory;
mod page_buffer;
mod page_strategies;
mod staged;
