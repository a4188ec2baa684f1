//! Hyperslab: an HDF5 storage engine in pure Rust.
//!
//! This crate is the face of the house: a table of contents, no algorithms. What it shows so far:
//!
//! - [`space`]: extents and selections, their algebra, runs and wire form;
//! - [`driver`]: file drivers that see a whole request at once.

pub use hyperslab_driver as driver;
pub use hyperslab_space as space;

/// The README's examples, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
