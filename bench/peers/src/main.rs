//! Hyperslab and other crates that read or write HDF5 without C code, side by side in one process: many small datasets.
//!
//! Run by `cargo xtask bench --peers`.

mod contents;
mod reads;
mod turns;
mod writes;

use anyhow::Result;

/// As in the other benchmarks.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |case: &str| arguments.is_empty() || arguments.iter().any(|part| case.contains(part.as_str()));
    for case in writes::CASES.iter().filter(|case| wanted(case.name)) {
        println!("\n{}\n{}", case.name, writes::table(case)?);
    }
    for case in reads::CASES.iter().filter(|case| wanted(case.name)) {
        println!("\n{}\n{}", case.name, reads::table(case)?);
    }
    Ok(())
}
