//! What can be said to `stat`.

use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
Tells how many objects there are, what the bytes of the file are used for, and what the values of each
dataset take, the largest first. The ratio is that of values to stored bytes. Sparse datasets have a
table of their own: what each section of their chunks takes, and how much of them is defined.

With --json, one line has it all: file, size, superblock, objects, space, bytes (metadata, values,
free, lost), blocks by kind, datasets.

Examples:
  hyperslab stat run.h5
  hyperslab stat --datasets 5 run.h5          the five largest datasets
  hyperslab stat --json run.h5 | jq .bytes")]
pub(crate) struct Stat {
    /// The file
    pub(crate) file: PathBuf,
    /// List at most this many datasets
    #[arg(short, long, value_name = "COUNT", default_value_t = 20)]
    pub(crate) datasets: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
