//! What can be said to `copy` and `repack`.

use super::{Caching, Durable, library};
use crate::convert::{Form, Way};
use crate::storing::{Filters, For, Layout, SectionFilters};
use clap::Args;
use hyperslab::LibVersion;
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

#[derive(Args)]
#[command(after_help = "\
Writes a file anew: all objects, links, attributes, comments, orders of creation and the user block.
References refer to the copies. Free and lost space stays behind. Chunks are copied as they are
stored, unless --layout or --filter say how datasets shall be.

A layout is compact, contiguous, chunked, chunked:64x64, sparse, sparse:64x64 or dense. Sparse
chunks have only defined elements: of a dense dataset those that differ from the fill value. No
released libhdf5 reads them. dense gives sparse datasets all their elements, in chunks.
Filters are none, or names joined by +:
  shuffle, gzip:6, fletcher32, szip:nn:16, scaleoffset:0, nbit, lzf, zstd:3, lz4, bzip2:9,
  bitshuffle:lz4, blosc:5:lz4, blosc2:5:lz4, or a filter's number with its parameters, such as 307:9
With PATH= in front they are for one dataset, else for all datasets that they fit. A dataset keeps
its filters with other chunks, and its chunks with other filters. Values in other files or datasets
stay there.

Sparse chunks have sections: `selection` tells which elements are defined, `values` has their
values, `vlen` what is of variable length in them. --filter goes for all sections, --section-filter
for one: selection=delta+shuffle+gzip:9, values=none, /images=values=zstd. Other sections keep their
filters. delta is a filter for the selection alone; it comes before a compressor there, unless
filters of the selection are given. `hyperslab stat` lists the filters of each section.

--from makes sparse datasets of the lists in which other programs keep sparse data, --to does the
opposite; all else of the file is copied, but references. The forms:
  csr-group  /X with data, indices, indptr (anndata, 10x) is a dataset /X of rows and columns
  imaged11   nnz, row, col, intensity in a group are its dataset `frames`: frame, row, column
  cooler     /pixels with bin1_id, bin2_id, count is a dataset /pixels: bin, bin

The new file gets its name when it is complete. If anything of the old one cannot be read, each part
of it is named, and nothing is written. With --skip-damaged the rest is written: in place of an
object that cannot be read, the new file has one that cannot be opened; an attribute is left out.

With --json, one line has: file, objects, bytes (of values), before and after (bytes of the files),
damaged (parts that are left out).

Exit status: 0 all is written, 1 nothing is written, 3 some parts are left out (--skip-damaged).

Examples:
  hyperslab repack run.h5 small.h5
  hyperslab repack --version 1.10 run.h5 fast.h5      for libhdf5 1.10 and newer
  hyperslab repack --filter shuffle+gzip:9 --filter /mask=none run.h5 small.h5
  hyperslab repack --layout /images=chunked:1x512x512 run.h5 images.h5
  hyperslab repack --sparse=/images --filter /images=zstd run.h5 sparse.h5
  hyperslab repack --section-filter selection=delta+lzf --section-filter values=none a.h5 b.h5
  hyperslab repack --from csr-group --filter shuffle+zstd cells.h5ad cells.h5
  hyperslab repack --dense sparse.h5 all.h5           for programs that know no sparse datasets")]
pub(crate) struct Repack {
    /// The file
    pub(crate) from: PathBuf,
    /// The new file, which must not be there yet
    pub(crate) to: PathBuf,
    /// How datasets shall lie in the file
    #[arg(short, long, value_name = "[PATH=]LAYOUT")]
    pub(crate) layout: Vec<For<Layout>>,
    /// Let one dataset, or all that can be, be sparse: short for `--layout [PATH=]sparse`
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) sparse: Vec<String>,
    /// Let one dataset, or all that are, not be sparse any more: short for `--layout [PATH=]dense`
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) dense: Vec<String>,
    /// What their chunks shall go through
    #[arg(short, long, value_name = "[PATH=]FILTERS")]
    pub(crate) filter: Vec<For<Filters>>,
    /// What one section of sparse chunks shall go through: [PATH=]SECTION=FILTERS
    #[arg(long, value_name = "FILTERS")]
    pub(crate) section_filter: Vec<For<SectionFilters>>,
    /// Make sparse datasets of what other programs store in groups of lists
    #[arg(long = "from", value_enum, value_name = "FORM", conflicts_with_all = ["layout", "sparse", "dense", "skip_damaged"])]
    pub(crate) from_form: Option<Form>,
    /// Store sparse datasets in groups of lists, for other programs
    #[arg(long = "to", value_enum, value_name = "FORM", conflicts_with_all = ["from_form", "layout", "sparse", "dense", "skip_damaged", "filter", "section_filter"])]
    pub(crate) to_form: Option<Form>,
    /// Structures are for this version of the library, or newer ones
    #[arg(long = "version", value_name = "VERSION", default_value = "earliest", value_parser = library())]
    pub(crate) libver_min: LibVersion,
    /// Write no structures that are newer than this version: sparse chunks are an error then
    #[arg(long = "version-max", value_name = "VERSION", value_parser = library())]
    pub(crate) libver_max: Option<LibVersion>,
    /// Write what can be read, and say what is left out
    #[arg(long)]
    pub(crate) skip_damaged: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) caching: Caching,
}

impl Repack {
    /// How the file is converted, if it is.
    pub(crate) fn way(&self) -> Option<Way> {
        self.from_form.map(Way::From).or(self.to_form.map(Way::To))
    }

    /// All layouts that are asked for.
    pub(crate) fn layouts(&self) -> Vec<For<Layout>> {
        let sparse = self.sparse.iter().map(|path| For::at(path, Layout::Sparse(None)));
        let dense = self.dense.iter().map(|path| For::at(path, Layout::Dense));
        self.layout.iter().cloned().chain(sparse).chain(dense).collect()
    }
}
