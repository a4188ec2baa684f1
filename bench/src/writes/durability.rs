//! What it costs that a power failure loses nothing: many flushes, with each durability; libhdf5 flushes as often, and the file is synced
//! where ours is.

use super::{Both, numbers};
use crate::case::Case;
use crate::clock::side_by_side;
use crate::files::path;
use crate::libhdf5::Hdf5;
use anyhow::Result;
use hyperslab::{Durability, LibVersion, OpenOptions};
use std::path::Path;

/// In the order of the table.
pub(crate) const CASES: &[Case] = &[
    Case { name: "100 flushes of new datasets, none", aim: 1., run: |hdf5| new(hdf5, Durability::None) },
    Case { name: "100 flushes of new datasets, flush and fsync", aim: 1., run: |hdf5| new(hdf5, Durability::Flush) },
    Case { name: "100 flushes of new datasets, full and fsync", aim: 0.3, run: |hdf5| new(hdf5, Durability::Full) },
    Case { name: "100 flushes of values in place, none", aim: 1., run: |hdf5| old(hdf5, Durability::None) },
    Case { name: "100 flushes of values in place, flush and fsync", aim: 1., run: |hdf5| old(hdf5, Durability::Flush) },
    Case { name: "100 flushes of values in place, full and fsync", aim: 1., run: |hdf5| old(hdf5, Durability::Full) },
];

const FLUSHES: usize = 100;

/// What a program does that wants its values on the device and has libhdf5.
fn sync(path: &Path, durability: Durability) -> Result<()> {
    match durability {
        Durability::None => Ok(()),
        _ => Ok(std::fs::File::open(path)?.sync_data()?),
    }
}

/// A dataset of 1,000 values, then a flush.
fn new(hdf5: &Hdf5, durability: Durability) -> Result<Both> {
    let (our_path, their_path, values) = (path("ours.h5")?, path("theirs.h5")?, numbers(1000));
    let ours = || {
        let file = options(durability).open(&our_path)?;
        for nth in 0..FLUSHES {
            file.root()?.new_dataset::<f32>().contiguous().write(format!("data{nth}"), &values)?;
            file.flush()?;
        }
        Ok(file.close()?)
    };
    let theirs = || {
        let file = hdf5.create(&their_path, true)?;
        for nth in 0..FLUSHES {
            hdf5.write_floats(&file, &format!("data{nth}"), &[1000], None, &values)?;
            hdf5.flush(&file)?;
            sync(&their_path, durability)?;
        }
        drop(file);
        sync(&their_path, durability)
    };
    side_by_side(ours, theirs)
}

/// All values of one dataset anew, then a flush.
fn old(hdf5: &Hdf5, durability: Durability) -> Result<Both> {
    let (our_path, their_path, values) = (path("ours.h5")?, path("theirs.h5")?, numbers(1000));
    let ours = || {
        let file = options(durability).open(&our_path)?;
        let dataset = file.root()?.new_dataset::<f32>().contiguous().write("data", &values)?;
        for _ in 0..FLUSHES {
            dataset.write(&values)?;
            file.flush()?;
        }
        Ok(file.close()?)
    };
    let theirs = || {
        let file = hdf5.create(&their_path, true)?;
        let dataset = hdf5.new_floats(&file, "data", &[1000], None)?;
        for _ in 0..FLUSHES {
            hdf5.write_part(&dataset, &hdf5.space(&[1000])?, &values)?;
            hdf5.flush(&file)?;
            sync(&their_path, durability)?;
        }
        drop((dataset, file));
        sync(&their_path, durability)
    };
    side_by_side(ours, theirs)
}

fn options(durability: Durability) -> OpenOptions {
    OpenOptions::new().create().truncate().libver_min(LibVersion::V200).durability(durability)
}
