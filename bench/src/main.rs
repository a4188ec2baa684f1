//! Hyperslab and libhdf5 side by side, in one process on one machine: a table of times and ratios.
//!
//! Run by `cargo xtask bench`, which sets up the Python environment whose h5py brings libhdf5.

mod case;
mod clock;
mod files;
mod growth;
mod libhdf5;
mod open_at_once;
mod reads;
mod selections;
mod writes;

use anyhow::{Context, Result};
use case::Timing;
use clap::Parser;
use clock::Times;
use comfy_table::{CellAlignment, Table, presets};
use std::path::PathBuf;
use std::time::Duration;

/// As in the command and the Python package. libhdf5 keeps free lists of its own.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Time Hyperslab and libhdf5 side by side.
#[derive(Parser)]
struct Arguments {
    /// Only cases whose name contains one of these
    names: Vec<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// What an item costs among few and among many, instead of the cases of one size
    #[arg(long)]
    growth: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let python = std::env::var_os("HYPERSLAB_PYTHON").context("run me through `cargo xtask bench`")?;
    let python = PathBuf::from(python);
    let environment = python.ancestors().nth(2).context("HYPERSLAB_PYTHON is not inside an environment")?;
    let hdf5 = libhdf5::Hdf5::load(environment)?;

    let wanted = |name: &str| arguments.names.is_empty() || arguments.names.iter().any(|part| name.contains(part));
    if arguments.growth {
        let mut rows = Vec::new();
        for case in growth::cases().filter(|case| wanted(case.name)) {
            eprintln!("{} …", case.name);
            rows.push(case.time(&hdf5).with_context(|| case.name)?);
        }
        match arguments.json {
            true => println!("{}", serde_json::to_string_pretty(&rows)?),
            false => println!("{}", growth::table(&rows, &hdf5.version())),
        }
        return Ok(());
    }
    let mut timings = Vec::new();
    for case in selections::CASES
        .iter()
        .chain(reads::CASES)
        .chain(writes::CASES)
        .chain(writes::DURABILITIES)
        .chain(writes::BESIDE)
        .chain(open_at_once::CASES)
        .filter(|case| wanted(case.name))
    {
        eprintln!("{} …", case.name);
        timings.push(case.time(&hdf5).with_context(|| case.name)?);
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&timings)?);
    } else {
        println!("{}", table(&timings, &hdf5.version()));
    }
    Ok(())
}

fn table(timings: &[Timing], version: &str) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["case", "Hyperslab", &format!("libhdf5 {version}"), "theirs ÷ ours", "best", "cores", "aim"]);
    for Timing { name, aim, ours, theirs } in timings {
        let ratio = |of: fn(&Times) -> Duration| format!("{:.2}", of(theirs).as_secs_f64() / of(ours).as_secs_f64());
        let ratios = (ratio(|times| times.median), ratio(|times| times.best), ratio(|times| times.cores));
        table.add_row([
            *name,
            &shown(ours.median),
            &shown(theirs.median),
            &ratios.0,
            &ratios.1,
            &ratios.2,
            &aim.to_string(),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Three digits or more, in the unit that fits.
fn shown(time: Duration) -> String {
    let microseconds = time.as_secs_f64() * 1e6;
    if microseconds < 1e4 { format!("{microseconds:.0} µs") } else { format!("{:.1} ms", microseconds / 1e3) }
}
