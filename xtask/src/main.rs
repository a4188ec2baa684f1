//! The jobs of the workshop, one file each. `cargo xtask help` lists them.
//!
//! Lives here: the command line. Does not live here: anything that a user of Hyperslab runs.

mod bench;
mod fuzz;
mod layers;
mod lexer;
mod memcheck;
mod metadata;
mod plan;
mod programs;
mod python;
mod repack;
mod sample;
mod step;
mod test;
mod torn;
mod tsan;
mod unit_tests;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Jobs around the Hyperslab workspace.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    job: Job,
}

#[derive(Subcommand)]
enum Job {
    /// Everything that CI runs: layers, format, clippy, tests, documentation
    Test(test::Options),
    /// Check that no crate imports upward in the house plan
    Layers,
    /// Time us and libhdf5 side by side
    Bench(bench::Options),
    /// Fuzz the decoders for some seconds each
    Fuzz(fuzz::Options),
    /// Make a small file that shows much of what HDF5 can hold
    Sample(sample::Options),
    /// Change files by random programs, by us, by libhdf5 and in a model, and compare
    Programs(programs::Options),
    /// Write the files of a corpus anew, and hold them against the originals
    Repack(repack::Options),
    /// Run h5py's own tests with our Python package in its place
    H5pyTests(python::H5pyOptions),
    /// Run tests while reads of metadata are torn, and read again
    Torn(torn::Options),
    /// Run the test of many threads under the thread sanitizer
    Tsan(tsan::Options),
    /// Run the tests of arrays that users give to the Python package under valgrind
    PythonMemcheck(memcheck::Options),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().job {
        Job::Test(options) => test::run(&options),
        Job::Layers => layers::run(),
        Job::Bench(options) => bench::run(&options),
        Job::Fuzz(options) => fuzz::run(&options),
        Job::Sample(options) => sample::run(&options),
        Job::Programs(options) => programs::run(&options),
        Job::Repack(options) => repack::run(&options),
        Job::H5pyTests(options) => python::h5py_tests(&options),
        Job::Torn(options) => torn::run(&options),
        Job::Tsan(options) => tsan::run(&options),
        Job::PythonMemcheck(options) => memcheck::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
