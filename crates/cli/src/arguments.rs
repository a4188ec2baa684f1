//! The command line: what can be said, and its help. The text here is the only source of `--help`.

mod caching;
mod check;
mod copy;
mod demo;
mod diff;
mod durable;
mod put;
mod stat;

use crate::escape::{Form, printable};
use crate::slice::{Shape, Slice};
use crate::status;
use crate::walk::Sort;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use hyperslab::space::{LibVersion, Op};
use std::path::PathBuf;

pub(crate) use caching::Caching;
pub(crate) use check::{Check, Clear};
pub(crate) use copy::{Copy, Repack};
pub(crate) use demo::Demo;
pub(crate) use diff::{Aspect, Diff};
pub(crate) use durable::Durable;
pub(crate) use put::{Kind, New, Put};
pub(crate) use stat::Stat;

/// Look into HDF5 files and selections, compare, check, copy and write them
#[derive(Parser)]
#[command(
    name = "hyperslab",
    version,
    term_width = 100,
    after_help = "\
Examples:
  hyperslab ls run.h5                                 what is in a file
  hyperslab ls -a run.h5 /detector                    a part of it, with attributes
  hyperslab dump run.h5 /detector/images --slice 0    the first image
  hyperslab dump --json run.h5                        all values, for another program

Exit status: 0 success, 1 error (what could be read is printed), 2 wrong usage, 3 parts are left out
(`repack --skip-damaged`), 141 the reader of the output went away. `diff` and `check` answer with 1,
and have 2 for errors. docs/exit-codes.md has the whole table."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) job: Job,
}

#[derive(Subcommand)]
pub(crate) enum Job {
    /// List what is in a file: groups, datasets with shape, type and storage, links
    Ls(Ls),
    /// Print values
    Dump(Dump),
    /// Explain a selection: elements, bounds, blocks, runs of bytes, encoded size
    Select(Box<Select>),
    /// Compare two files, or objects in them
    Diff(Box<Diff>),
    /// Tell what the bytes of a file are used for
    Stat(Stat),
    /// Look at every structure of files: are they whole?
    Check(Check),
    /// Take away the mark of a program that ended without closing the file
    Clear(Clear),
    /// Copy objects, within a file or to another one
    Copy(Copy),
    /// Write a file anew, without the space that it lost
    Repack(Box<Repack>),
    /// Make a file with nothing in it
    New(New),
    /// Write a dataset or attributes from the shell
    Put(Box<Put>),
    /// Record a stream of images, read it back and compare: a first look, and how fast it is here
    Demo(Demo),
    /// Print a file as lines of JSON, values as checksums, to compare with other libraries
    Digest(Digest),
}

#[derive(Args)]
pub(crate) struct Digest {
    /// The file
    pub(crate) file: PathBuf,
    /// Leave out values of more bytes than this
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20)]
    pub(crate) cap: u64,
}

impl Job {
    /// The exit code of an error: where 1 is an answer, it is 2.
    pub(crate) fn trouble(&self) -> u8 {
        if matches!(self, Job::Diff(_) | Job::Check(_)) { 2 } else { 1 }
    }

    /// What is printed.
    pub(crate) fn form(&self) -> Form {
        let json = match self {
            Job::Ls(options) => options.json,
            Job::Dump(options) => options.json,
            Job::Select(options) => options.json,
            Job::Diff(options) => options.json,
            Job::Stat(options) => options.json,
            Job::Check(options) => options.json,
            Job::Repack(options) => options.json,
            Job::Demo(options) => options.json,
            Job::Digest(_) => true,
            Job::Clear(_) | Job::Copy(_) | Job::New(_) | Job::Put(_) => false,
        };
        if json { Form::Json } else { Form::Text }
    }
}

#[derive(Args)]
#[command(after_help = "\
A line of the tree has name, type, shape and how the values are stored:
  images  u16  20×64×64 (up to ∞×64×64)  chunks 1×64×64, deflate 6, 160 KiB in 21 KiB (7.6×)
An arrow stands before the target of a soft or external link; an equals sign before the first path
of an object that has several, which is not entered again. An object that cannot be read is listed
with the reason, and the exit status is 1.

With --json, each entry is one line: path, kind (group, dataset, datatype, hard link, soft link,
external link, user link, error), and what there is to say of it. NO_COLOR turns colours off; in a
pipe there are none.

Examples:
  hyperslab ls run.h5                        everything
  hyperslab ls -a run.h5 /detector           the group /detector, with attributes
  hyperslab ls --depth 1 run.h5              the first level only
  hyperslab ls --json run.h5 | jq -r 'select(.kind == \"dataset\") | [.stored, .path] | @tsv'")]
pub(crate) struct Ls {
    /// The file
    pub(crate) file: PathBuf,
    /// Where to begin
    #[arg(default_value = "/")]
    pub(crate) path: String,
    /// Show attributes and their values
    #[arg(short, long)]
    pub(crate) attributes: bool,
    /// Go down at most this many levels
    #[arg(short, long, value_name = "LEVELS", default_value_t = usize::MAX, hide_default_value = true)]
    pub(crate) depth: usize,
    /// Sort the links of each group by their names' bytes, or by creation where the file keeps it
    #[arg(long, value_enum, value_name = "BY", default_value_t = Sort::Name)]
    pub(crate) sort: Sort,
    /// Print lines of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = "\
Without a path, all datasets are printed; with the path of a group, those below it.

On a terminal, arrays of over 1000 elements are shown by their corners; in a pipe they are printed
as a whole. Large datasets are read piece by piece, so that memory does not grow with them.

Slices are written as in NumPy, one per dimension: 3, 1:4, ::2, -1, 2:-1. Missing ones mean the
whole dimension.

A sparse dataset is printed by its defined elements, one a line with its coordinates: chunk by chunk,
in each chunk by rising coordinates. All others have the fill value, which is said. With --slice, it
is printed as any other array, unless --sparse-data asks for the defined elements of the slice.
--sparse-locations prints which elements are defined, as blocks within chunks.

With --json, each object is one line: path, kind, type, shape, values nested as the shape says; of a
sparse dataset fill and elements (each with at and value) or locations (blocks: low and high corner).
Integers and floating-point numbers have all their digits; \"NaN\", \"Infinity\" and \"-Infinity\" are
text; opaque bytes are hexadecimal text; a compound is an object; a reference is an object with the
path that it leads to. A line whose values were cut by --limit says \"truncated\": true.

Examples:
  hyperslab dump run.h5 /detector/images --slice '0, :4, ::16'
  hyperslab dump -a run.h5 /detector           with attributes
  hyperslab dump run.h5 /events --limit 10     the first ten records
  hyperslab dump run.h5 /hits --sparse-locations   which elements of a sparse dataset are defined
  hyperslab dump run.h5 /hits --sparse-data --slice '0, :100'
  hyperslab dump --json run.h5 /temperature | jq '.values | add'
  hyperslab dump run.h5 --cache-bytes 512M --cache-stats > values.txt")]
pub(crate) struct Dump {
    /// The file
    pub(crate) file: PathBuf,
    /// What to print [default: everything]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    /// Print this part of each dataset
    #[arg(short, long, value_name = "SLICE", allow_hyphen_values = true)]
    pub(crate) slice: Option<Slice>,
    /// Print which elements are defined, without values
    #[arg(long, conflicts_with = "sparse_data")]
    pub(crate) sparse_locations: bool,
    /// Print the defined elements of sparse datasets, also of a slice; others as always
    #[arg(long)]
    pub(crate) sparse_data: bool,
    /// Print attributes too
    #[arg(short, long)]
    pub(crate) attributes: bool,
    /// Print at most this many values of each object
    #[arg(short, long, value_name = "VALUES")]
    pub(crate) limit: Option<u64>,
    /// Print all values, also on a terminal
    #[arg(long, conflicts_with = "brief")]
    pub(crate) full: bool,
    /// Print large arrays by their corners and records as a table, also in a pipe
    #[arg(long, conflicts_with_all = ["limit", "json"])]
    pub(crate) brief: bool,
    /// Print lines of JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) caching: Caching,
}

#[derive(Args)]
#[command(after_help = "\
Slices are written as in NumPy, one per dimension: 3, 1:4, ::2, -1, 2:-1. Missing ones mean the whole dimension.
A fourth number is the block size: 0:10:5:3 is two blocks of three, five apart.

Examples:
  hyperslab select 6x10 '1:4, ::2'                        every second column of three rows
  hyperslab select 6x10 '1:3, :6' --or '4, 0:10:5:3'      a union; its runs are listed with --runs
  hyperslab select 100x100 : --not 10:90,10:90 --blocks   a frame
  hyperslab select 6x10 '1:4, ::2' --hex v112             the bytes that HDF5 1.12 would write
  hyperslab select 6x10 '1:4, ::2' --json                 for another program")]
pub(crate) struct Select {
    /// Size of the array, such as 6x10
    pub(crate) shape: Shape,
    /// What to select first
    #[arg(allow_hyphen_values = true)]
    pub(crate) slice: Slice,
    /// Add a slice
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true)]
    or: Vec<Slice>,
    /// Keep only what is in this slice
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true)]
    and: Vec<Slice>,
    /// Keep what is in one, but not in both
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true)]
    xor: Vec<Slice>,
    /// Take a slice away
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true)]
    not: Vec<Slice>,
    /// Bytes of an element
    #[arg(long, value_name = "BYTES", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) element_size: u64,
    /// List the blocks
    #[arg(long)]
    pub(crate) blocks: bool,
    /// List the runs of bytes
    #[arg(long)]
    pub(crate) runs: bool,
    /// Print the encoding for this lowest version of the library
    #[arg(long, value_name = "LOW")]
    pub(crate) hex: Option<Version>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The steps in the order in which they were given.
    #[arg(skip)]
    pub(crate) steps: Vec<(Op, Slice)>,
}

/// Lowest library version that must read an encoding.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Version {
    Earliest,
    V18,
    V110,
    V112,
    V114,
    V200,
}

impl Version {
    pub(crate) fn low(self) -> LibVersion {
        match self {
            Version::Earliest => LibVersion::Earliest,
            Version::V18 => LibVersion::V18,
            Version::V110 => LibVersion::V110,
            Version::V112 => LibVersion::V112,
            Version::V114 => LibVersion::V114,
            Version::V200 => LibVersion::V200,
        }
    }

    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// Which version of the library new structures are for, as its numbers go.
fn library() -> impl TypedValueParser<Value = LibVersion> {
    PossibleValuesParser::new(["earliest", "1.8", "1.10", "1.12", "1.14", "2.0", "latest"]).map(|name| match &*name {
        "1.8" => LibVersion::V18,
        "1.10" => LibVersion::V110,
        "1.12" => LibVersion::V112,
        "1.14" => LibVersion::V114,
        "2.0" | "latest" => LibVersion::V200,
        _ => LibVersion::Earliest,
    })
}

/// Parses the command line; or prints help or a usage error, and says how the process ends.
pub(crate) fn parse() -> Result<Arguments, u8> {
    let parsed = || {
        let matches = Arguments::command().try_get_matches()?;
        let mut arguments = Arguments::from_arg_matches(&matches)?;
        if let (Job::Select(select), Some(matches)) = (&mut arguments.job, matches.subcommand_matches("select")) {
            select.order_steps(matches);
        }
        Ok(arguments)
    };
    parsed().map_err(|told: clap::Error| {
        let text = escaped(told.render().ansi().to_string());
        match told.use_stderr() {
            true => status::usage(&text),
            false => status::help(&text),
        }
    })
}

/// What is said of the command line repeats parts of it, of which one may be the name of a hostile file.
fn escaped(text: String) -> String {
    let arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    arguments.fold(text, |text, argument| {
        let parts = std::iter::once(&*argument).chain(argument.split(['=', ',']));
        parts.fold(text, |text, part| match printable(part.as_bytes()) {
            shown if shown == part => text,
            shown => text.replace(part, &shown),
        })
    })
}

impl Select {
    /// clap groups values by option; their order across options decides what is selected.
    fn order_steps(&mut self, matches: &ArgMatches) {
        let options = [("or", Op::Or, &self.or), ("and", Op::And, &self.and), ("xor", Op::Xor, &self.xor)];
        let mut steps = Vec::new();
        for (name, op, slices) in options.into_iter().chain([("not", Op::NotB, &self.not)]) {
            let places = matches.indices_of(name).into_iter().flatten();
            steps.extend(places.zip(slices).map(|(place, slice)| (place, op, slice.clone())));
        }
        steps.sort_by_key(|(place, ..)| *place);
        self.steps = steps.into_iter().map(|(_, op, slice)| (op, slice)).collect();
    }
}
