//! Reads: whole files from h5py, read by us and by libhdf5 into the same buffer, which must then hold the same.

mod arrays;
mod boxes;
mod objects;

use crate::case::Case;
use crate::libhdf5::Memory;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// In the order of the table.
pub(crate) const CASES: &[Case] = &[
    Case { name: "read contiguous 256 MiB", aim: 1., run: |hdf5| arrays::whole(hdf5, "contiguous.h5", "data") },
    Case { name: "read contiguous 256 MiB, against a plain read", aim: 0.9, run: arrays::plain },
    Case { name: "read shuffle+gzip 128 MiB", aim: 3., run: |hdf5| arrays::whole(hdf5, "filtered.h5", "data") },
    Case { name: "read shuffle+gzip 128 MiB, all cores against one", aim: 1.7, run: arrays::all_cores },
    Case { name: "read unfiltered chunks 64 MiB", aim: 1., run: |hdf5| arrays::whole(hdf5, "grid.h5", "chunked") },
    Case { name: "read 64 MiB as f64, contiguous", aim: 1., run: |hdf5| arrays::converted(hdf5, "contiguous") },
    Case { name: "read 64 MiB as f64, chunked", aim: 1., run: |hdf5| arrays::converted(hdf5, "chunked") },
    Case { name: "read 20,000 points, contiguous", aim: 5., run: |hdf5| arrays::points(hdf5, "contiguous") },
    Case { name: "read 20,000 points, chunked", aim: 5., run: |hdf5| arrays::points(hdf5, "chunked") },
    Case { name: "read 20,000 points, gzip", aim: 5., run: |hdf5| arrays::points(hdf5, "filtered") },
    Case { name: "read [::3, ::5], contiguous", aim: 5., run: |hdf5| arrays::strided(hdf5, "contiguous") },
    Case { name: "read [::3, ::5], chunked", aim: 5., run: |hdf5| arrays::strided(hdf5, "chunked") },
    Case { name: "read [::3, ::5], gzip", aim: 5., run: |hdf5| arrays::strided(hdf5, "filtered") },
    Case { name: "read 1,000 × 100 elements, contiguous", aim: 1., run: |hdf5| arrays::small(hdf5, "contiguous") },
    Case { name: "read 1,000 × 100 elements, chunked", aim: 1., run: |hdf5| arrays::small(hdf5, "chunked") },
    Case { name: "read 64 columns, gzip chunks of 4 MiB", aim: 50., run: boxes::columns },
    Case { name: "read 2,000 rows, gzip", aim: 2., run: boxes::rows },
    Case { name: "read 2,000 windows of 64 × 64, gzip", aim: 3., run: boxes::windows },
    Case { name: "read 100,000 chunks, btree1", aim: 1., run: |hdf5| arrays::cold(hdf5, "earliest", "plain") },
    Case { name: "read 100,000 chunks, fixed array", aim: 1., run: |hdf5| arrays::cold(hdf5, "latest", "plain") },
    Case {
        name: "read 100,000 chunks, fixed array, gzip",
        aim: 1.,
        run: |hdf5| arrays::cold(hdf5, "latest", "filtered"),
    },
    Case { name: "read 100,000 chunks, ext. array", aim: 1., run: |hdf5| arrays::cold(hdf5, "latest", "growing") },
    Case { name: "read 100,000 chunks, btree2", aim: 1., run: |hdf5| arrays::cold(hdf5, "latest", "growing2") },
    Case { name: "read 200,000 strings", aim: 3., run: objects::strings },
    Case { name: "read 200,000 strings, in one buffer", aim: 3., run: objects::strings_together },
    Case { name: "read a tree of 20,000 datasets, old", aim: 3., run: |hdf5| objects::tree(hdf5, "tree-earliest.h5") },
    Case { name: "read a tree of 20,000 datasets, latest", aim: 3., run: |hdf5| objects::tree(hdf5, "tree-latest.h5") },
    Case { name: "read a group of 20,000 datasets, old", aim: 3., run: |hdf5| objects::tree(hdf5, "flat-earliest.h5") },
    Case {
        name: "read a group of 20,000 datasets, latest",
        aim: 3.,
        run: |hdf5| objects::tree(hdf5, "flat-latest.h5"),
    },
    Case { name: "read one of 50,000 datasets, old", aim: 1., run: |hdf5| objects::one(hdf5, "many-earliest.h5") },
    Case { name: "read one of 50,000 datasets, latest", aim: 1., run: |hdf5| objects::one(hdf5, "many-latest.h5") },
];

/// A file of the benchmarks; all are made when the first is asked for.
pub(crate) fn file(name: &str) -> Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("no workspace")?;
    let directory = root.join("target/bench-files");
    let path = directory.join(name);
    if !path.exists() {
        eprintln!("making the files …");
        std::fs::create_dir_all(&directory)?;
        let python = std::env::var_os("HYPERSLAB_PYTHON").context("run me through `cargo xtask bench`")?;
        let script = root.join("bench/src/reads/files.py");
        let status = Command::new(python).arg(script).arg(&directory).status()?;
        ensure!(status.success(), "the script that makes the files failed");
    }
    Ok(path)
}

/// Values that libhdf5 puts in memory.
trait Value: Copy + Default {
    const MEMORY: Memory;

    /// The bytes of values, one after the other.
    fn bytes(values: &[Self]) -> impl Iterator<Item = u8>;
}

impl Value for f32 {
    const MEMORY: Memory = Memory::Float;

    fn bytes(values: &[f32]) -> impl Iterator<Item = u8> {
        values.iter().flat_map(|value| value.to_ne_bytes())
    }
}

impl Value for i32 {
    const MEMORY: Memory = Memory::Int;

    fn bytes(values: &[i32]) -> impl Iterator<Item = u8> {
        values.iter().flat_map(|value| value.to_ne_bytes())
    }
}

impl Value for f64 {
    const MEMORY: Memory = Memory::Double;

    fn bytes(values: &[f64]) -> impl Iterator<Item = u8> {
        values.iter().flat_map(|value| value.to_ne_bytes())
    }
}
