//! What can be said to `new` and `put`.

use super::{Caching, Durable, library};
use crate::slice::Shape;
use crate::storing::{Filters, SectionFilters};
use clap::{Args, ValueEnum};
use hyperslab::LibVersion;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
Examples:
  hyperslab new run.h5
  hyperslab new --version 1.10 run.h5      its structures are for libhdf5 1.10 and newer")]
pub(crate) struct New {
    /// The file, which must not be there yet
    pub(crate) file: PathBuf,
    /// Structures are for this version of the library, or newer ones
    #[arg(long = "version", value_name = "VERSION", default_value = "earliest", value_parser = library())]
    pub(crate) libver_min: LibVersion,
}

#[derive(Args)]
#[command(after_help = "\
Writes values to a dataset. The file is made if it is missing, so are groups on the way. Values come
from the command line, or from standard input if there are none, or if they are -: words between
spaces and line ends; with --type text, one value a line. Whole numbers are i64, or u64 if they are
too large; other numbers f64, all else text, unless --type says it.

A dataset that is there and has room for just these values gets them, in its own type. With --type,
--shape, --chunks, --filter or --sparse it is made anew and keeps its attributes; references to the
old one lead nowhere then. A value that its type cannot hold is an error, and nothing is written:
integers are never rounded, other numbers only to the nearest one of their type, or to the nearest
f64 if their type is wider than that.

With --attr and no values, only attributes are set; if nothing is there, a group is made. An
attribute whose value looks like a number is one. Filters, and those of the sections of sparse
datasets, are as in `hyperslab repack`.

Examples:
  hyperslab put run.h5 /detector/distance 1.25 --attr units=m
  hyperslab put run.h5 /mask --type u8 --shape 2x3 0 1 1 0 0 1
  seq 1000 | hyperslab put run.h5 /numbers --type i32 --chunks 100 --filter shuffle+gzip:6
  hyperslab put run.h5 /hits --sparse --filter gzip --section-filter selection=none 7 0 9
  hyperslab put run.h5 / --attr title='a first run' --attr number=7")]
pub(crate) struct Put {
    /// The file
    pub(crate) file: PathBuf,
    /// Where in it
    pub(crate) path: String,
    /// The values, the last dimension fastest
    #[arg(value_name = "VALUES", allow_negative_numbers = true)]
    pub(crate) values: Vec<String>,
    /// What a new dataset stores
    #[arg(short, long = "type", value_enum, value_name = "TYPE")]
    pub(crate) kind: Option<Kind>,
    /// The size of a new dataset, such as 2x3, or scalar [default: one dimension; one value is a scalar]
    #[arg(short, long, value_parser = shape)]
    pub(crate) shape: Option<Shape>,
    /// Store a new dataset in chunks of this shape
    #[arg(short, long, value_name = "SHAPE")]
    pub(crate) chunks: Option<Shape>,
    /// What the chunks of a new dataset go through
    #[arg(short, long, value_name = "FILTERS")]
    pub(crate) filter: Option<Filters>,
    /// Store a new dataset sparse: in chunks that tell which elements are defined, here all
    #[arg(long)]
    pub(crate) sparse: bool,
    /// What one section of its chunks goes through: SECTION=FILTERS
    #[arg(long, value_name = "FILTERS", value_parser = SectionFilters::parse, requires = "sparse")]
    pub(crate) section_filter: Vec<SectionFilters>,
    /// Set an attribute
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub(crate) attr: Vec<String>,
    /// New structures are for this version of the library, or newer ones
    #[arg(long = "version", value_name = "VERSION", default_value = "earliest", value_parser = library())]
    pub(crate) libver_min: LibVersion,
    /// Write no structures that are newer than this version: sparse chunks are an error then
    #[arg(long = "version-max", value_name = "VERSION", value_parser = library())]
    pub(crate) libver_max: Option<LibVersion>,
    #[command(flatten)]
    pub(crate) durable: Durable,
    #[command(flatten)]
    pub(crate) caching: Caching,
}

/// What values are stored as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
    Text,
}

/// A shape, or the word for none.
fn shape(text: &str) -> Result<Shape, crate::slice::SliceError> {
    if text == "scalar" { Ok(Shape(Vec::new())) } else { text.parse() }
}
