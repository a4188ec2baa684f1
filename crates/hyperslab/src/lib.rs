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
//! | make or change a file | [`File::create`], [`File::edit`], [`OpenOptions`] |
//! | make and change what is in it | [`Group::create_group`], [`Group::new_dataset`], `set_attribute`, [`Group::delete`], [`Group::rename`] |
//! | copy objects | [`Group::copy`], [`CopyOptions`], [`Repack`] |
//! | write values | [`Dataset::write`], [`Dataset::write_slice`], [`Dataset::resize`], [`Dataset::write_fill`] |
//! | keep only elements that are written | [`NewDataset::sparse`], [`Dataset::read_defined`], [`Dataset::write_coords`], [`Dataset::defined`], [`Dataset::erase`] |
//! | read and write several datasets in one call | [`read_many`], [`write_many`], [`prefetch`] |
//! | know what values can be written from | [`Storable`]; what derives `Element` is as well |
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
//! Files are made and changed as they are read:
//!
//! ```
//! use hyperslab::{File, s};
//!
//! # let path = std::env::temp_dir().join(format!("hyperslab-readme-{}.h5", std::process::id()));
//! let file = File::create(&path)?;
//! let table = file.root()?.new_dataset::<f32>().shape([3, 4]).chunks([1, 4]).deflate(4).create("runs/first")?;
//! table.write_slice(s![0, ..], &[1.0, 2.0, 3.0, 4.0])?;
//! table.set_attribute("units", "kelvin")?;
//! file.close()?;
//! # std::fs::remove_file(&path).unwrap();
//! # Ok::<(), hyperslab::Error>(())
//! ```
//!
//! With the feature `ndarray`, reads give arrays of that crate, and writes take them; with the feature `sprs`, sparse datasets of two dimensions are read as its matrices,
//! and made of them.
//!
//! This crate is the public interface: files, groups, datasets and attributes; no algorithms. Some of the crates below it can be used by
//! themselves:
//!
//! - [`space`]: extents and selections, their algebra, runs and wire form;
//! - [`dtype`]: datatypes and conversion of values;
//! - [`filter`]: filters of chunks;
//! - [`driver`]: file drivers that see a whole request at once.

mod attribute;
mod attribute_change;
pub mod check;
mod copy;
#[cfg(feature = "sprs")]
mod csmat;
mod dataset;
mod file;
mod group;
mod group_change;
mod many;
#[cfg(feature = "ndarray")]
mod nd;
mod new_dataset;
mod node;
mod open_options;
mod paths;
mod references;
mod repack;
mod scale;
mod sections;
mod slice;
mod values;
mod view;
mod visit;

pub use attribute::Attribute;
pub use attribute_change::NewAttribute;
pub use copy::CopyOptions;
pub use dataset::{Dataset, DefinedChunk, DefinedChunks, SectionInfo, StructuredChunkInfo};
pub use file::File;
pub use group::Group;
pub use group_change::NewGroup;
pub use hyperslab_base::ErrorKind;
pub use hyperslab_copy::{CopyProgress, Repacked};
pub use hyperslab_driver::{PageStrategy, Transfer as TransferOptions};
pub use hyperslab_element::{Element, Recipe, Shown, Storable, Storing, Value, Values};
pub use hyperslab_file::{Durability, FileSpace, Placement, Retry, SpaceStrategy};
pub use hyperslab_format::message::{
    AllocTime, CharSet, FillTime, FillValue, FilterStep, Link, SectionFilters, Target,
};
pub use hyperslab_format::{version::LibVersion, virtual_mapping::Mapping};
pub use hyperslab_object::{PathId, Paths};
pub use hyperslab_session::{
    CacheConfig, CachePolicy, CacheStatistics, CacheWaits, EncodedSection, Error, ExternalAccess, ExternalName, Heap,
    Layout, LinkResolver, Locking, Lost, LostParts, ReadAhead, ReferencePart as Part, Referent, Result, Sequences,
    StoredSize, StructuredChunk, VirtualName, VirtualView,
};
pub use many::{PartToRead, PartToWrite, prefetch, read_many, read_many_converted, write_many, write_many_converted};
pub use new_dataset::{ChunkSection, NewDataset, NewFilter};
pub use node::{NamedDatatype, Node};
pub use open_options::OpenOptions;
pub use paths::ObjectPaths;
pub use references::{ObjectReference, RegionReference};
pub use repack::Repack;
pub use sections::StoredSections;
pub use slice::{Index, Slice};
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
    pub use bytemuck;
    pub use hyperslab_element::{Field, Fields, StoredField, StoredFields, StoredVariants, Variants, put, read};
}

/// The README's examples, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
