//! Structures that change: long random histories against simple twins, and a killed process after every single write.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod heap;
mod tape;
mod tree;
