//! Copies have the values of what they are copies of, or there is an error and no copy.

mod beside;
mod ends;
mod nested;
mod scene;
mod user_block;
mod values;
