//! Hyperslab: an HDF5 storage engine in pure Rust.
//!
//! ```
//! use hyperslab::{File, s};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5");
//! let file = File::open(path)?;
//! let temperature = file.dataset("temperature")?; // 3 × 4, stored as f32, compressed
//! let all: Vec<f64> = temperature.read()?;
//! let last_column: Vec<f32> = temperature.read_slice(s![.., -1])?;
//! let units: String = temperature.attribute("units")?.read_scalar()?;
//! # assert_eq!((all[0], last_column, units.as_str()), (11.5, vec![13.0, 23.0, 33.0], "degree Celsius"));
//! # Ok::<(), hyperslab::Error>(())
//! ```
//!
//! | to | see |
//! |---|---|
//! | open a file and find things in it | [`File`], [`Group`], [`Node`] |
//! | read values | [`Dataset::read`], [`Dataset::read_slice`], [`Dataset::read_into`] |
//! | say which values | [`s!`], [`Slice`], and [`space`] for any selection |
//! | know what values can be read as | [`Element`](trait@Element); structs and enums derive it |
//! | read attributes | [`Attribute`] |
//!
//! Compounds are read as structs, enumerations as enums:
//!
//! ```
//! #[derive(hyperslab::Element)]
//! struct Reading {
//!     time: i64,
//!     note: String,
//!     #[hyperslab(rename = "wind")]
//!     wind_speed: [f32; 2],
//! }
//! # let file = hyperslab::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5"))?;
//! let readings: Vec<Reading> = file.dataset("reading")?.read()?;
//! assert_eq!((readings[1].note.as_str(), readings[1].wind_speed), ("gusts", [8.0, 3.0]));
//! # assert_eq!(readings[0].time, 1700000000);
//! # Ok::<(), hyperslab::Error>(())
//! ```
//!
//! With the feature `ndarray`, reads give arrays of that crate.
//!
//! This crate is the face of the house: files, groups, datasets and attributes; no algorithms. The rooms below it can be used by
//! themselves:
//!
//! - [`space`]: extents and selections, their algebra, runs and wire form;
//! - [`dtype`]: datatypes and conversion of values;
//! - [`filter`]: filters of chunks;
//! - [`driver`]: file drivers that see a whole request at once.

mod attribute;
pub mod check;
mod dataset;
mod element;
mod error;
mod file;
mod follow;
mod group;
mod heap;
#[cfg(feature = "ndarray")]
mod nd;
mod node;
mod open_options;
mod others;
mod reference;
mod search;
mod slice;
mod storage;
mod trip;
mod value;
mod view;
mod virtual_dataset;
mod visit;

pub use attribute::Attribute;
pub use dataset::{Dataset, ExternalName, Layout, StoredSize, VirtualName};
pub use element::{Element, Recipe};
pub use error::{Error, Result};
pub use file::File;
pub use group::Group;
pub use heap::{Heap, Sequences};
pub use hyperslab_format::message::{AllocTime, CharSet, FillTime, FillValue, FilterStep, Link, Target};
pub use hyperslab_format::virtual_mapping::Mapping;
pub use node::{NamedDatatype, Node};
pub use open_options::{LinkResolver, OpenOptions, VirtualView};
pub use reference::{Part, Referent};
pub use slice::{Index, Slice};
pub use value::{Shown, Value, Values};
pub use view::View;

#[cfg(feature = "derive")]
pub use hyperslab_derive::Element;
pub use hyperslab_driver as driver;
pub use hyperslab_dtype as dtype;
pub use hyperslab_filter as filter;
pub use hyperslab_space as space;

/// What derived code calls; not for people.
#[doc(hidden)]
pub mod derived {
    pub use crate::element::{Field, Fields, Variants, read};
    pub use bytemuck;
}

/// The README's examples, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
