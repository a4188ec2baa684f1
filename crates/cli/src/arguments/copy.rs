//! What can be said to `copy` and `repack`.

use super::Version;
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
Copies an object with everything below it; of a whole file, what is in its root group. Objects with
several names are copied once, links stay links. Compressed chunks are copied as they are. The copy
gets its name when it is complete. The second file is made if it is missing; what it has stays.

References stay as they are within a file; in another file they refer to nothing, unless
--expand-references copies what they refer to.

Examples:
  hyperslab copy run.h5:/detector all.h5:/runs/7/detector
  hyperslab copy run.h5:/detector run.h5:/backup
  hyperslab copy run.h5 all.h5:/runs/7              all of a file into a group of another
  hyperslab copy --expand-external main.h5:/a b.h5:/a")]
pub(crate) struct Copy {
    /// The file, and which object of it
    #[arg(value_name = "FILE[:PATH]")]
    pub(crate) from: String,
    /// The file that gets the copy, and the path of the copy in it [default: the same path]
    #[arg(value_name = "FILE[:PATH]")]
    pub(crate) to: String,
    /// Copy of a group only what it holds itself
    #[arg(long)]
    pub(crate) shallow: bool,
    /// Copy what soft links lead to in their place
    #[arg(long)]
    pub(crate) expand_soft: bool,
    /// Copy what external links lead to in their place
    #[arg(long)]
    pub(crate) expand_external: bool,
    /// Copy what references refer to as well
    #[arg(long)]
    pub(crate) expand_references: bool,
    /// Copy no attributes
    #[arg(long)]
    pub(crate) without_attributes: bool,
    /// New structures are for this version of the library, or newer ones
    #[arg(long, value_enum, value_name = "LOW", default_value_t = Version::Earliest)]
    pub(crate) low: Version,
}

#[derive(Args)]
#[command(after_help = "\
Writes a file anew: all objects, links, attributes, comments, orders of creation and the user block.
References refer to the copies. Free and lost space stays behind. Compressed chunks are copied as they
are.

Examples:
  hyperslab repack run.h5 small.h5
  hyperslab repack --low v110 run.h5 fast.h5      for libhdf5 1.10 and newer")]
pub(crate) struct Repack {
    /// The file
    pub(crate) from: PathBuf,
    /// The new file, which must not be there yet
    pub(crate) to: PathBuf,
    /// Structures are for this version of the library, or newer ones
    #[arg(long, value_enum, value_name = "LOW", default_value_t = Version::Earliest)]
    pub(crate) low: Version,
}
