//! One small dataset of a file with many: from opening the file to the values and the attribute.

use crate::contents::{Contents, dataset_name, path, values};
use crate::turns::{self, Side};
use crate::writes;
use anyhow::{Result, ensure};
use hyperslab::LibVersion;
use std::path::Path;

pub(crate) struct Case {
    pub(crate) name: &'static str,
    low: LibVersion,
}

pub(crate) const CASES: &[Case] = &[
    Case { name: "open and read one of 50,000 datasets, old", low: LibVersion::Earliest },
    Case { name: "open and read one of 50,000 datasets, latest", low: LibVersion::V200 },
];

const ALL: Contents = Contents { groups: 0, datasets: 50_000 };
/// The datasets that are read, one a time.
const READ: [usize; 5] = [24_999, 0, 49_999, 12_345, 37_037];

/// Reads a dataset with a number.
type Read = fn(&Path, usize) -> Result<Vec<f64>>;

const SIDES: &[(&str, Read)] = &[("Hyperslab", hyperslab), ("hdf5-reader 0.10", hdf5_reader)];

/// Times both sides; a turn opens the file anew for each of five datasets.
pub(crate) fn table(case: &Case) -> Result<String> {
    let path = path("read.h5")?;
    let path = path.as_path();
    writes::hyperslab(path, ALL, case.low, true)?;
    let all = |read: Read| {
        READ.iter().try_for_each(|&nth| {
            ensure!(read(path, nth)? == values(nth), "other values in dataset {nth}");
            Ok(())
        })
    };
    let side = |&(name, read): &(&'static str, Read)| Side {
        name,
        run: Box::new(move || all(read)),
        after: Box::new(|| Ok(())),
    };
    let is_able = |(name, read): &&(&'static str, Read)| {
        all(*read).inspect_err(|why| println!("{name} does not read the file: {why}")).is_ok()
    };
    let sides: Vec<_> = SIDES.iter().filter(is_able).map(side).collect();
    let mut times = turns::take(&sides)?;
    for times in &mut times {
        for time in [&mut times.median, &mut times.best, &mut times.cores] {
            *time /= READ.len() as u32;
        }
    }
    std::fs::remove_file(path)?;
    Ok(turns::table(&sides, &times, None))
}

fn hyperslab(path: &Path, nth: usize) -> Result<Vec<f64>> {
    Ok(hyperslab::File::open(path)?.dataset(dataset_name(nth))?.read()?)
}

fn hdf5_reader(path: &Path, nth: usize) -> Result<Vec<f64>> {
    let dataset = hdf5_reader::Hdf5File::open(path)?.dataset(&format!("/{}", dataset_name(nth)))?;
    Ok(dataset.read_array::<f64>()?.into_raw_vec_and_offset().0)
}
