//! The seeds: small files that between them hold every structure of the format. `seeds/make.py` makes them, and `examples/sparse.rs` the one with
//! sparse datasets.

use std::{fs, io, path::Path};

/// All of them, with their names, in order.
pub fn seeds() -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut seeds = Vec::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "h5") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            seeds.push((name, fs::read(&path)?));
        }
    }
    seeds.sort();
    Ok(seeds)
}

/// The seed with sparse datasets.
pub fn sparse_seed() -> io::Result<Vec<u8>> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds/sparse.h5"))
}
