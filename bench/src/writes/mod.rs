//! Writes: new files with the same content, made by us and by libhdf5 at the same settings, from creating the file to closing it.

mod beside;
mod durability;

use crate::case::Case;
use crate::clock::{Times, side_by_side};
use crate::files::{create, path};
use crate::libhdf5::{Hdf5, Operation, Pattern};
use anyhow::{Result, ensure};
use std::ffi::CString;
use std::path::Path;

pub(crate) use beside::CASES as BESIDE;
pub(crate) use durability::CASES as DURABILITIES;

/// In the order of the table.
pub(crate) const CASES: &[Case] = &[
    Case { name: "write contiguous 256 MiB", aim: 1., run: |hdf5| array(hdf5, 256, None) },
    Case { name: "write chunks of 1 MiB, 128 MiB", aim: 1., run: |hdf5| array(hdf5, 128, Some(None)) },
    Case { name: "write shuffle+gzip-4 128 MiB", aim: 4., run: |hdf5| array(hdf5, 128, Some(Some(4))) },
    Case { name: "write 1,000 rows to gzip chunks", aim: 3., run: rows },
    Case { name: "write 20,000 datasets, old", aim: 3., run: |hdf5| tree(hdf5, false) },
    Case { name: "write 20,000 datasets, latest", aim: 3., run: |hdf5| tree(hdf5, true) },
    Case { name: "write 200,000 strings", aim: 3., run: strings },
];

/// No file of ours may be larger than this part of libhdf5's.
const SIZE: f64 = 1.05;
/// A MiB of floats.
const ROW: u64 = 1 << 18;

/// Ours and theirs.
type Both = (Times, Times);

/// Times both, then holds the sizes of the files against each other.
fn both(ours: impl Fn(&Path) -> Result<()>, theirs: impl Fn(&Path) -> Result<()>) -> Result<Both> {
    let (our_path, their_path) = (path("ours.h5")?, path("theirs.h5")?);
    let ours = || ours(&our_path).map(|()| Written(&our_path));
    let theirs = || theirs(&their_path).map(|()| Written(&their_path));
    let times = side_by_side(ours, theirs)?;
    let (our_size, their_size) = (ours()?.size()?, theirs()?.size()?);
    eprintln!("  {our_size} bytes, libhdf5 {their_size}: {:.3}", our_size as f64 / their_size as f64);
    ensure!(our_size as f64 <= their_size as f64 * SIZE, "our file is too large");
    Ok(times)
}

/// A file that goes outside the clock: one that is written over an old one waits for the disk, as file systems guard against losing both.
struct Written<'a>(&'a Path);

impl Written<'_> {
    fn size(&self) -> Result<u64> {
        Ok(std::fs::metadata(self.0)?.len())
    }
}

impl Drop for Written<'_> {
    fn drop(&mut self) {
        // What stays is overwritten.
        let _ = std::fs::remove_file(self.0);
    }
}

/// Numbers that gzip makes smaller, as a detector's would be.
fn numbers(count: u64) -> Vec<f32> {
    let mut random = fastrand::Rng::with_seed(5);
    (0..count).map(|nth| (nth % 1000) as f32 + random.u8(..) as f32).collect()
}

/// So many MiB: in one piece, or in chunks of one, perhaps filtered.
fn array(hdf5: &Hdf5, rows: u64, chunks: Option<Option<u32>>) -> Result<Both> {
    let (values, shape, chunk) = (numbers(rows * ROW), [rows, ROW], [1, ROW]);
    let ours = |path: &Path| {
        let file = create(path, true)?;
        let new = file.root()?.new_dataset::<f32>().shape(shape);
        let new = match chunks {
            None => new.contiguous(),
            Some(None) => new.chunks(chunk),
            Some(Some(level)) => new.chunks(chunk).shuffle().deflate(level),
        };
        new.write("data", &values)?;
        Ok(file.close()?)
    };
    let theirs = |path: &Path| {
        let file = hdf5.create(path, true)?;
        hdf5.write_floats(&file, "data", &shape, chunks.map(|level| (&chunk[..], level)), &values).map(drop)
    };
    both(ours, theirs)
}

/// Rows of an array, one after the other, to chunks that hold 100 rows of 500 values.
fn rows(hdf5: &Hdf5) -> Result<Both> {
    let (shape, chunk, row) = ([1000, 4000], [100, 500], numbers(4000));
    let ours = |path: &Path| {
        let file = create(path, true)?;
        let new = file.root()?.new_dataset::<f32>().shape(shape).chunks(chunk).shuffle().deflate(4);
        let dataset = new.create("data")?;
        for nth in 0..1000u64 {
            dataset.write_slice(hyperslab::s![nth, ..], &row)?;
        }
        Ok(file.close()?)
    };
    let theirs = |path: &Path| {
        let file = hdf5.create(path, true)?;
        let dataset = hdf5.new_floats(&file, "data", &shape, Some((&chunk, Some(4))))?;
        for nth in 0..1000 {
            let mut space = hdf5.space(&shape)?;
            let pattern = Pattern { start: &[nth, 0], stride: &[1, 1], count: &[1, 4000], block: &[1, 1] };
            space.select(Operation::Set, &pattern)?;
            hdf5.write_part(&dataset, &space, &row)?;
        }
        Ok(())
    };
    both(ours, theirs)
}

/// 100 datasets of ten values with an attribute in each of 200 groups.
fn tree(hdf5: &Hdf5, latest: bool) -> Result<Both> {
    let values = numbers(10);
    let ours = |path: &Path| {
        let file = create(path, latest)?;
        for group in 0..200 {
            let group = file.root()?.create_group(format!("group{group}"))?;
            for nth in 0..100 {
                let made = group.new_dataset::<f32>().shape([10]).contiguous().write(format!("data{nth}"), &values)?;
                made.set_attribute("scale", f64::from(nth))?;
            }
        }
        Ok(file.close()?)
    };
    let theirs = |path: &Path| {
        let file = hdf5.create(path, latest)?;
        for group in 0..200 {
            let group = hdf5.new_group(&file, &format!("group{group}"))?;
            for nth in 0..100 {
                let made = hdf5.write_floats(&group, &format!("data{nth}"), &[10], None, &values)?;
                hdf5.write_attribute(&made, "scale", f64::from(nth))?;
            }
        }
        Ok(())
    };
    both(ours, theirs)
}

/// Strings of 5 to 24 bytes.
fn strings(hdf5: &Hdf5) -> Result<Both> {
    let texts: Vec<String> =
        (0..200_000).map(|nth: usize| "a string, or more of it!"[..5 + nth % 20].to_owned()).collect();
    let their_texts = texts.iter().map(|text| Ok(CString::new(text.as_str())?)).collect::<Result<Vec<_>>>()?;
    let ours = |path: &Path| {
        let file = create(path, true)?;
        file.root()?.new_dataset::<String>().shape([texts.len() as u64]).contiguous().write("data", &texts)?;
        Ok(file.close()?)
    };
    let theirs = |path: &Path| {
        let file = hdf5.create(path, true)?;
        hdf5.write_strings(&file, "data", &their_texts).map(drop)
    };
    both(ours, theirs)
}
