//! Copies have the values of what they are copies of, or there is an error and no copy.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod beside;
mod ends;
mod nested;
mod scene;
mod user_block;
mod values;
