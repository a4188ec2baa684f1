//! `cargo xtask programs`: a long run of the random programs that change files by us, by libhdf5 and in a model.

use crate::step::{cargo, run as execute, step};
use crate::{metadata, python};
use anyhow::Result;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// How many programs of 200 operations
    #[arg(long, default_value_t = 2000)]
    count: u64,
    /// The first program's seed; each failure prints its own
    #[arg(long, default_value_t = 20_240_229)]
    seed: u64,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let python = python::set_up(&metadata::load()?)?;
    let (count, seed) = (options.count.to_string(), options.seed.to_string());
    let settings = [("HYPERSLAB_PROGRAMS", &count), ("HYPERSLAB_SEED", &seed)];
    step("random programs", || {
        let mut command = cargo();
        command.args([
            "test",
            "--release",
            "--package",
            "hyperslab-oracle",
            "--test",
            "all",
            "--",
            "changes::",
            "--nocapture",
        ]);
        execute(command.envs(settings).env(python::VARIABLE, &python))
    })
}
