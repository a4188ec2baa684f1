//! What can be said to `check` and `clear`.

use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
Looks at every structure of a file: superblock, object headers, trees, heaps, arrays, free-space lists
and the place of every chunk. Checksums, counts, orders, hard-link counts and neighbours are verified,
and no two structures may have the same bytes. Of sparse chunks, it is read which elements are
defined, and held against the number of values. Values are not read.

Bytes that nothing uses and no list has as free are lost. libhdf5 leaves such bytes in most files,
so they are no problem by themselves; --lost lists them, --strict makes them a problem.

With --json, each file is one line: file, clean, objects, blocks, problems and notes (each with
address, what, of, why), bytes free and lost.

Exit status: 0 all files are clean, 1 there are problems, 2 a file cannot be read.

Examples:
  hyperslab check run.h5                 is it whole?
  hyperslab check --strict new/*.h5      and without lost space?
  hyperslab check --json run.h5 | jq -r '.problems[].why'")]
pub(crate) struct Check {
    /// The files
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// List lost space too
    #[arg(long)]
    pub(crate) lost: bool,
    /// Lost space and other notes are problems too
    #[arg(long)]
    pub(crate) strict: bool,
    /// List at most this many problems and notes of each file
    #[arg(short, long, value_name = "LINES", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Print lines of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = "\
A program that writes marks the file in its superblock, and takes the mark away when it closes the
file. If it ends without that, the mark stays, and no program opens the file. This takes the mark
away after a look at the file. It refuses if another program has the file locked, or if the file is
not whole; --force does it all the same.

Examples:
  hyperslab clear run.h5")]
pub(crate) struct Clear {
    /// The file
    pub(crate) file: PathBuf,
    /// Although another program has the file open, or the file is not whole
    #[arg(long)]
    pub(crate) force: bool,
}
