//! `cargo xtask bench`: us and libhdf5 in one process; `--growth`: what an item costs among few and among many; `--codecs`: our codecs and those of
//! hdf5plugin; `--python`: our Python package and h5py; `--sparse`: sparse datasets and dense ones; `--peers`: us and other crates without C code.

use crate::step::{cargo, run as execute};
use crate::{metadata, python, python::Profile};
use anyhow::Result;
use std::process::Command;

/// The scripts about structured chunks.
const STRUCTURED: &[&str] = &["sparse_stream.py", "detector_run.py", "vlen_vectors.py", "sparse_matrix.py", "vast.py"];

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only cases whose name contains one of these
    names: Vec<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// What an item costs among few and among many, instead of the cases of one size
    #[arg(long)]
    growth: bool,
    /// The codecs instead: encode and decode on one core, and sizes
    #[arg(long, conflicts_with_all = ["json", "growth"])]
    codecs: bool,
    /// The Python package instead, beside h5py: strings that are written, chunks that threads decode
    #[arg(long, conflicts_with_all = ["names", "json", "growth", "codecs"])]
    python: bool,
    /// Structured chunks of the Python package instead, beside h5py: a detector stream (beside TileDB, too, if the environment has it), a detector run, a sparse
    /// matrix, vectors of variable length, an extent of 100 GB
    #[arg(long, conflicts_with_all = ["names", "json", "growth", "codecs", "python"])]
    sparse: bool,
    /// Other crates without C code instead: many small datasets, written and read
    #[arg(long, conflicts_with_all = ["json", "growth", "codecs", "python", "sparse"])]
    peers: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let metadata = metadata::load()?;
    if options.peers {
        // A package of its own, because nothing else depends on the peers.
        let manifest = metadata.workspace_root.join("bench/peers/Cargo.toml");
        let mut command = cargo();
        command.args(["run", "--quiet", "--release", "--manifest-path"]).arg(manifest).arg("--").args(&options.names);
        return execute(&mut command);
    }
    let python = python::set_up(&metadata)?;
    if options.python || options.sparse {
        let package = python::build_package(&metadata, &python, Profile::Release)?;
        let scripts: &[&str] = if options.sparse { STRUCTURED } else { &["beside_h5py.py"] };
        return scripts
            .iter()
            .try_for_each(|name| execute(Command::new(&python).arg(package.join("bench").join(name))));
    }
    let mut command = cargo();
    if options.codecs {
        command
            .args(["bench", "--quiet", "--package", "hyperslab-bench", "--bench", "codecs", "--"])
            .args(&options.names);
    } else {
        command.args(["run", "--quiet", "--release", "--package", "hyperslab-bench", "--"]);
        command.args(options.json.then_some("--json")).args(options.growth.then_some("--growth")).args(&options.names);
    }
    execute(command.env(python::VARIABLE, python))
}
