//! What can be said to `diff`.

use super::Caching;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
Compares links, kinds of objects, datatypes, shapes, attributes and values; with --only storage also
how values are stored. Objects are compared by their names. Numbers of different types are compared by
their values; what they are stored as is a difference of its own.

Numbers within --absolute or --relative of each other are equal. A NaN equals a NaN. References are
equal if they lead to the same path. Large datasets are read piece by piece.

An element that only one of two sparse datasets defines is a difference, whatever its value; so is
another fill value. Beside a dataset that is not sparse, undefined elements have the fill value.

With --json, each difference is one line: path, kind (only left, only right, kind, link, type, shape,
attribute, values, fill value, storage), left and right as text, for values how many differ and the first of them.

Exit status: 0 equal, 1 different, 2 something could not be read or compared, such as values of
arrays whose shapes differ if --only or --ignore say that shapes do not count.

Examples:
  hyperslab diff old.h5 new.h5
  hyperslab diff old.h5 new.h5 /detector                 a part of both
  hyperslab diff run.h5 run.h5 /detector/a /detector/b   two objects of one file
  hyperslab diff old.h5 new.h5 -r 1e-6 --ignore types    close enough?
  hyperslab diff old.h5 new.h5 --only links,shapes       structure alone")]
pub(crate) struct Diff {
    /// The first file
    pub(crate) left: PathBuf,
    /// The second file
    pub(crate) right: PathBuf,
    /// What to compare
    #[arg(default_value = "/")]
    pub(crate) path: String,
    /// What to compare it with in the second file [default: the same path]
    pub(crate) other: Option<String>,
    /// Numbers are equal if they differ by no more than this
    #[arg(short, long, value_name = "DELTA", value_parser = tolerance)]
    pub(crate) absolute: Option<f64>,
    /// Numbers are equal if they differ by no more than this part of the larger one
    #[arg(short, long, value_name = "PART", value_parser = tolerance)]
    pub(crate) relative: Option<f64>,
    /// A NaN differs from everything, also from a NaN
    #[arg(long)]
    pub(crate) nan_differs: bool,
    /// Compare only these
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) only: Vec<Aspect>,
    /// Do not compare these
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',', conflicts_with = "only")]
    pub(crate) ignore: Vec<Aspect>,
    /// Leave out what is at or below this path
    #[arg(short, long, value_name = "PATH")]
    pub(crate) exclude: Vec<String>,
    /// Show at most this many differing values of each dataset or attribute
    #[arg(short, long, value_name = "VALUES", default_value_t = 10)]
    pub(crate) limit: usize,
    /// Print nothing and stop at the first difference: the exit status tells
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,
    /// Print lines of JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) caching: Caching,
}

/// What can differ.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Aspect {
    // Documentation here would make the help three times as long.
    Links,
    Types,
    Shapes,
    Attributes,
    Values,
    Storage,
}

impl Diff {
    /// Whether this is compared.
    pub(crate) fn compares(&self, aspect: Aspect) -> bool {
        match self.only.as_slice() {
            // How values are stored is compared only if asked for.
            [] => aspect != Aspect::Storage && !self.ignore.contains(&aspect),
            only => only.contains(&aspect),
        }
    }
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number >= 0.0 => Ok(number),
        Ok(_) => Err("it must not be negative".into()),
        Err(why) => Err(why.to_string()),
    }
}
