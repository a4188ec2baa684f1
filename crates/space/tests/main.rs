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

mod algebra;
mod encoded;
mod hostile;
mod huge;
mod limits;
mod moves;
mod order;
mod row_major;
mod sizes;
mod twin;
