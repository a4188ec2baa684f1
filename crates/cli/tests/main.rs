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

mod check;
mod cmd;
mod common;
mod convert;
mod corpus;
mod damaged;
mod deep;
mod demo;
mod endings;
mod external;
mod file_names;
mod kills;
mod limits;
mod malformed;
mod pipes;
mod put;
mod references;
mod repack;
mod sparse;
mod terminal;
