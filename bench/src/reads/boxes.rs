//! Many parts of one dataset after the other, from opening the file on: who decodes a chunk once is fast.

use super::{Value, arrays::Target, file};
use crate::clock::{Times, side_by_side};
use crate::libhdf5::{Hdf5, Operation, Pattern};
use anyhow::Result;
use hyperslab::{
    File,
    dtype::Native,
    space::{Op, Slab, Space},
};

/// Parts of one shape, by their first element.
struct Boxes {
    name: &'static str,
    path: &'static str,
    dims: [u64; 2],
    count: [u64; 2],
    corners: Vec<[u64; 2]>,
}

/// Columns all over an array of integers, in chunks of 4 MiB.
pub(super) fn columns(hdf5: &Hdf5) -> Result<(Times, Times)> {
    let corners = (0..64).map(|nth| [0, 64 * nth]).collect();
    read::<i32>(hdf5, &Boxes { name: "columns.h5", path: "data", dims: [4096; 2], count: [4096, 1], corners })
}

/// Rows one after the other.
pub(super) fn rows(hdf5: &Hdf5) -> Result<(Times, Times)> {
    let corners = (0..2000).map(|row| [row, 0]).collect();
    read::<f32>(hdf5, &Boxes { name: "rows.h5", path: "data", dims: [8000, 4000], count: [1, 4000], corners })
}

/// Windows at random places, all over an array that fits the cache.
pub(super) fn windows(hdf5: &Hdf5) -> Result<(Times, Times)> {
    let mut random = fastrand::Rng::with_seed(7);
    let corners = (0..2000).map(|_| [random.u64(..4096 - 64), random.u64(..4096 - 64)]).collect();
    read::<f32>(hdf5, &Boxes { name: "grid.h5", path: "filtered", dims: [4096; 2], count: [64, 64], corners })
}

fn read<T: Value + Native>(hdf5: &Hdf5, boxes: &Boxes) -> Result<(Times, Times)> {
    let (name, elements) = (file(boxes.name)?, boxes.count.iter().product());
    let mut target = Target::<T>::new(elements)?;
    let mut values = vec![T::default(); usize::try_from(elements)?];
    let [rows, columns] = boxes.count;
    let mut ours = || -> Result<()> {
        let dataset = File::open(&name)?.dataset(boxes.path)?;
        for [row, column] in &boxes.corners {
            let mut selection = Space::simple(&boxes.dims)?;
            selection.select_hyperslab(Op::Set, &[Slab::block(*row, rows), Slab::block(*column, columns)])?;
            target.read(&dataset, &selection)?;
        }
        Ok(())
    };
    let mut theirs = || -> Result<()> {
        let file = hdf5.open(&name)?;
        let dataset = file.dataset(boxes.path)?;
        for corner in &boxes.corners {
            let mut selection = hdf5.space(&boxes.dims)?;
            let pattern = Pattern { start: corner, stride: &[1, 1], count: &boxes.count, block: &[1, 1] };
            selection.select(Operation::Set, &pattern)?;
            dataset.read(T::MEMORY, Some(&selection), &mut values)?;
        }
        Ok(())
    };
    ours()?;
    theirs()?;
    let times = side_by_side(ours, theirs)?;
    target.check(&values)?;
    Ok(times)
}
