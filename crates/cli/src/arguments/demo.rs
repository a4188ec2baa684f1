//! What can be said to `demo`.

use super::Caching;
use crate::demo::Pattern;
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
Simulates a detector that sends parts of its images: with the pattern `regions` one rectangle of a
tenth of the image, with `spots` 50 to 100 spots of 5 to 10 pixels. Both move in time. What is sent
goes into a sparse dataset, in chunks of one image with deflate 1; every 50th image is also stored
in full, in a second dataset. Then all of it is read back and compared with what was sent: which
pixels are defined, their values, and the fill value of all others.

Beside it, the same stream is stored and read as images with zeros around what was sent, in dense
chunks with deflate 1.

Rates are images a second. They count opening, writing, flushing and closing the file, and reading
image by image; neither the making of images nor the comparison. Writes are flushed at the latest
after 64 images, or after images of 32 MiB, so that memory stays bounded. What is read is in the
memory of the system, as it was just written. Bytes on disk are those by which the file grew, with
headers and the index of chunks.

With --json, one line has it all: file (null if it was not kept), picture, images, height, width,
seed, streams; of each stream pattern, defined (pixels), datasets; of each dataset name, layout,
images, bytes, bytes_per_defined, write_seconds, read_seconds, write_rate, read_rate.

Examples:
  hyperslab demo
  hyperslab demo --pattern spots --images 5000 --megapixels 4
  hyperslab demo --keep run.h5 --picture run.png && hyperslab stat run.h5")]
pub(crate) struct Demo {
    /// How many images to record of each pattern
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) images: u64,
    /// How large images are, in 2^20 pixels: 1 to 4
    #[arg(short, long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=4))]
    pub(crate) megapixels: u64,
    /// What is sent of images [default: both, one after the other]
    #[arg(short, long, value_enum, value_name = "PATTERN")]
    pub(crate) pattern: Option<Pattern>,
    /// Store every so many images also in full; 0 for none
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    pub(crate) full_every: u64,
    /// What the images are made from; equal seeds make equal images
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Record to this file, which must not be there yet, and keep it [default: a temporary one]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) keep: Option<PathBuf>,
    /// Draw the defined pixels of one image of each pattern to this file, also if it is there
    #[arg(long, value_name = "FILE.png", default_value = "hyperslab-demo.png")]
    pub(crate) picture: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) caching: Caching,
}
