//! New files with the same content, from creating the file to closing it.

use crate::contents::{Contents, SCALE, dataset_name, group_name, path, scale, values};
use crate::turns::{self, Side};
use anyhow::Result;
use hyperslab::{LibVersion, OpenOptions};
use std::path::Path;

pub(crate) struct Case {
    pub(crate) name: &'static str,
    contents: Contents,
}

pub(crate) const CASES: &[Case] = &[
    Case { name: "write 10,000 datasets in one group", contents: Contents { groups: 0, datasets: 10_000 } },
    Case { name: "write 100 datasets in each of 100 groups", contents: Contents { groups: 100, datasets: 100 } },
];

/// Writes a file.
type Write = fn(&Path, Contents) -> Result<()>;

const SIDES: &[(&str, Write)] = &[
    ("Hyperslab, old", |path, contents| hyperslab(path, contents, LibVersion::Earliest, true)),
    ("Hyperslab, latest", |path, contents| hyperslab(path, contents, LibVersion::V200, true)),
    ("old, attribute set afterwards", |path, contents| hyperslab(path, contents, LibVersion::Earliest, false)),
    ("latest, attribute set afterwards", |path, contents| hyperslab(path, contents, LibVersion::V200, false)),
    ("rust-hdf5 0.7.9", rust_hdf5),
    ("hdf5-writer 0.12.1", hdf5_writer),
    ("hdf5-pure 0.47", hdf5_pure),
];

/// Times all sides, and holds every file against what it should have.
pub(crate) fn table(case: &Case) -> Result<String> {
    let path = path("written.h5")?;
    let (path, contents) = (path.as_path(), case.contents);
    let mut sizes = Vec::new();
    for (_, write) in SIDES {
        write(path, contents)?;
        contents.check(path)?;
        sizes.push(format!("{:.2}", std::fs::metadata(path)?.len() as f64 / 1e6));
        std::fs::remove_file(path)?;
    }
    let side = |&(name, write): &(&'static str, Write)| Side {
        name,
        run: Box::new(move || write(path, contents)),
        // A file that is written over an old one waits for the disk.
        after: Box::new(move || Ok(std::fs::remove_file(path)?)),
    };
    let sides: Vec<_> = SIDES.iter().map(side).collect();
    Ok(turns::table(&sides, &turns::take(&sides)?, Some(("MB", &sizes))))
}

/// Ours, whose datasets have their attribute from the start or get it afterwards; also for the files that are read.
pub(crate) fn hyperslab(path: &Path, contents: Contents, low: LibVersion, at_once: bool) -> Result<()> {
    let file = OpenOptions::new().create().truncate().libver_min(low).open(path)?;
    let root = file.root()?;
    for group in 0..contents.groups.max(1) {
        let holder = if contents.groups == 0 { root.clone() } else { root.create_group(group_name(group))? };
        for nth in contents.numbers(group) {
            let new = holder.new_dataset::<f64>();
            match at_once {
                true => drop(new.attribute(SCALE, scale(nth)).write(dataset_name(nth), &values(nth))?),
                false => new.write(dataset_name(nth), &values(nth))?.set_attribute(SCALE, scale(nth))?,
            }
        }
    }
    Ok(file.close()?)
}

fn rust_hdf5(path: &Path, contents: Contents) -> Result<()> {
    let file = rust_hdf5::H5File::create(path)?;
    for group in 0..contents.groups.max(1) {
        let holder = match contents.groups {
            0 => file.root_group(),
            _ => file.create_group(&group_name(group))?,
        };
        for nth in contents.numbers(group) {
            let dataset = holder.new_dataset::<f64>().shape([4]).create(&dataset_name(nth))?;
            dataset.write_raw(&values(nth))?;
            dataset.new_attr::<f64>().shape(()).create(SCALE)?.write_numeric(&scale(nth))?;
        }
    }
    Ok(file.close()?)
}

fn hdf5_writer(path: &Path, contents: Contents) -> Result<()> {
    use hdf5_writer::{AttributeBuilder, DatasetBuilder, Hdf5Builder, WriteOptions};
    let mut builder = Hdf5Builder::new();
    for group in 0..contents.groups.max(1) {
        for nth in contents.numbers(group) {
            let name = match contents.groups {
                0 => dataset_name(nth),
                _ => format!("{}/{}", group_name(group), dataset_name(nth)),
            };
            let dataset = DatasetBuilder::typed_data(name, [4], &values(nth))?;
            builder = builder.dataset(dataset.attribute(AttributeBuilder::scalar(SCALE, scale(nth))?));
        }
    }
    Ok(std::fs::write(path, builder.into_plan()?.encode(WriteOptions::default())?)?)
}

fn hdf5_pure(path: &Path, contents: Contents) -> Result<()> {
    use hdf5_pure::{AttrValue, FileBuilder};
    let mut builder = FileBuilder::new();
    if contents.groups == 0 {
        for nth in contents.numbers(0) {
            let dataset = builder.create_dataset(&dataset_name(nth));
            dataset.with_f64_data(&values(nth)).set_attr(SCALE, AttrValue::F64(scale(nth)));
        }
    }
    for group in 0..contents.groups {
        let mut holder = builder.create_group(&group_name(group));
        for nth in contents.numbers(group) {
            let dataset = holder.create_dataset(&dataset_name(nth));
            dataset.with_f64_data(&values(nth)).set_attr(SCALE, AttrValue::F64(scale(nth)));
        }
        builder.add_group(holder.finish());
    }
    Ok(builder.write(path)?)
}
