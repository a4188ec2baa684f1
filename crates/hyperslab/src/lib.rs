//! Hyperslab: an HDF5 storage engine in pure Rust.
//!
//! This crate is the face of the house: files, groups, datasets and attributes; no algorithms. The rooms below it can be used by
//! themselves:
//!
//! - [`space`]: extents and selections, their algebra, runs and wire form;
//! - [`dtype`]: datatypes and conversion of values;
//! - [`filter`]: filters of chunks;
//! - [`driver`]: file drivers that see a whole request at once.

mod attribute;
mod dataset;
mod element;
mod error;
mod file;
mod group;
mod heap;
mod node;
mod reference;
mod slice;
mod storage;
mod value;
mod view;
mod virtual_source;
mod visit;

pub use attribute::Attribute;
pub use dataset::{Dataset, ExternalName, Layout, StoredSize};
pub use element::{Element, Recipe};
pub use error::{Error, Result};
pub use file::File;
pub use group::Group;
pub use heap::{Heap, Sequences};
pub use hyperslab_format::message::{AllocTime, CharSet, FillTime, FillValue, FilterStep, Link, Target};
pub use hyperslab_format::virtual_mapping::Mapping;
pub use node::{NamedDatatype, Node};
pub use reference::{Part, Referent};
pub use slice::{Index, Slice};
pub use value::{Shown, Value, Values};
pub use view::View;

pub use hyperslab_driver as driver;
pub use hyperslab_dtype as dtype;
pub use hyperslab_filter as filter;
pub use hyperslab_space as space;

/// What derived code calls; not for people.
#[doc(hidden)]
pub mod derived {
    pub use crate::element::{Field, Fields, Variants};
    pub use bytemuck;
}

/// The README's examples, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
