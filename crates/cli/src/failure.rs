//! Why a job gave no answer.

use crate::slice::SliceError;
use hyperslab::space::Error as SpaceError;
use thiserror::Error;

/// Why there is no answer.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Slice(#[from] SliceError),
    #[error(transparent)]
    Space(#[from] SpaceError),
    #[error(transparent)]
    File(#[from] hyperslab::Error),
    #[error("there is no file {0}")]
    NoFile(String),
    #[error("cannot write {file}: {why}")]
    Write { file: String, why: Box<hyperslab::Error> },
    #[error("there is a file {0} already")]
    Exists(String),
    #[error("{0} is no dataset")]
    NoDataset(String),
    #[error("{0} is in another file, to which a link leads: give that file instead")]
    OtherFiles(String),
    #[error("`{0}` cannot be understood")]
    Value(String),
    #[error("`{text}` at {at} of {path} does not fit {datatype}: {why}")]
    Unfit { path: String, at: String, text: String, datatype: String, why: String },
    #[error("{path} is a {kind}, which holds no values; delete it first, or take another name")]
    NotDataset { path: String, kind: &'static str },
    #[error(
        "{path} has {names} names, and those would not all lead to a dataset that is made anew: delete the others first, or give \
         values alone"
    )]
    ManyNames { path: String, names: u32 },
    #[error(
        "{path} has {wanted} values, not {given}; with --type, --shape, --chunks, --filter or --sparse it is made anew"
    )]
    Count { path: String, wanted: u64, given: usize },
    #[error("`{0}` is no attribute: name=value")]
    Attribute(String),
    #[error("nothing in {file} can be converted: it has no sparse data in the form {form}, or none that fits it")]
    NothingOfForm { file: String, form: &'static str },
    #[error("{path}: {why}")]
    Form { path: String, why: String },
    #[error("there are no values")]
    NoValues,
    #[error("there is no {path}{hint}")]
    Missing { path: String, hint: String },
    #[error("there is no {path}: {above} is a {kind}, which has nothing below it; try `hyperslab ls`")]
    NotGroup { path: String, above: String, kind: &'static str },
    #[error("{path}: {why}")]
    Object { path: String, why: Box<hyperslab::Error> },
    #[error(
        "{from} is damaged: nothing is written, since {} cannot be read; with --skip-damaged the rest is written",
        crate::text::count(*parts, "part")
    )]
    Damaged { from: String, parts: u64 },
    #[error("{0} is not whole; `hyperslab check` tells more, --force clears the mark all the same")]
    NotWhole(String),
    #[error("another program has {0} open: close it there first; --force clears the mark all the same")]
    Locked(String),
    #[error("image {image} of {dataset} differs from what was sent at row {row}, column {column}")]
    Differs { dataset: String, image: u64, row: u64, column: u64 },
    #[error("{0}; the rest is printed above")]
    Some(String),
    #[error("cannot read the values from standard input: {0}")]
    Input(std::io::Error),
    #[error("cannot write {file}: {why}")]
    Publish { file: String, why: std::io::Error },
    /// Standard output failed; the only kind of I/O error that converts by itself.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] std::io::Error),
}
