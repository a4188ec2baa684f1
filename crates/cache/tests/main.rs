//! The integration tests of the crate in one binary, which is linked once. Those on locks of `shuttle` are a build of their own.

#![cfg(not(feature = "shuttle"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    clippy::allow_attributes,
    reason = "a test that fails panics"
)]

mod adaptive;
mod common;
mod dataset_limit;
mod encode_ahead;
mod failures;
mod leaving;
mod range_lock;
mod requests;
mod statistics;
mod unreserved_pins;
mod withdrawal;
