//! Structures that change: long random histories against simple twins, and a killed process after every single write.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    unreachable_pub,
    missing_docs
)]

#[path = "../common/mod.rs"]
mod common;
mod heap;
mod libhdf5;
mod tape;
mod tree;
