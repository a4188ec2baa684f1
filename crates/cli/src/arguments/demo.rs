//! What can be said to `demo`.

use super::Caching;
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
Records what a detector could send: images of a million pixels, noise of few counts with some bright
spots, one after the other into a dataset that grows in time, each image a compressed chunk. Then reads
all of it back, and compares every value with what was sent.

The rates are those of the values in memory, in millions of bytes a second, and count writing and
reading alone: neither the making of images nor the comparison.

With --json, one line has it all: file (null if it was not kept), frames, raw, stored, ratio,
write_seconds, read_seconds, write_rate, read_rate.

Examples:
  hyperslab demo
  hyperslab demo --frames 500 --keep run.h5 && hyperslab ls -a run.h5")]
pub(crate) struct Demo {
    /// How many images to record
    #[arg(short, long, value_name = "COUNT", default_value_t = 128, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) frames: u64,
    /// Record to this file, which must not be there yet, and keep it [default: a temporary one]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) keep: Option<PathBuf>,
    /// What the images are made from; equal seeds make equal images
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) caching: Caching,
}
