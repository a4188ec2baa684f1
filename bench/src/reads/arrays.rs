//! Numbers: whole datasets, selections of them, and many small reads.

use super::{Value, file};
use crate::clock::{Times, side_by_side};
use crate::libhdf5::{Hdf5, Operation, Pattern, Space as Theirs};
use anyhow::{Result, ensure};
use hyperslab::{
    Dataset, File,
    driver::cores,
    dtype::{Arena, Datatype, Native},
    space::{Op, Slab, Space},
};
use std::io::{Read, Seek, SeekFrom};

/// Ours and theirs.
type Both = (Times, Times);

const SIDE: u64 = 4096;
const POINTS: usize = 20_000;
const SMALL: (u64, u64) = (1000, 100);

/// All values of an open dataset.
pub(super) fn whole(hdf5: &Hdf5, name: &str, path: &str) -> Result<Both> {
    warm::<f32>(hdf5, name, path, None)
}

/// All values of an open dataset, as doubles.
pub(super) fn converted(hdf5: &Hdf5, path: &str) -> Result<Both> {
    warm::<f64>(hdf5, "grid.h5", path, None)
}

/// Points at random places, in no order.
pub(super) fn points(hdf5: &Hdf5, path: &str) -> Result<Both> {
    let mut random = fastrand::Rng::with_seed(3);
    let coords: Vec<u64> = (0..POINTS * 2).map(|_| random.u64(0..SIDE)).collect();
    let (mut ours, mut theirs) = (Space::simple(&[SIDE; 2])?, hdf5.space(&[SIDE; 2])?);
    ours.select_points(&coords)?;
    theirs.select_points(&coords)?;
    warm::<f32>(hdf5, "grid.h5", path, Some((ours, theirs)))
}

/// Every third row, and of it every fifth value.
pub(super) fn strided(hdf5: &Hdf5, path: &str) -> Result<Both> {
    let count = [SIDE.div_ceil(3), SIDE.div_ceil(5)];
    let [rows, columns] = count;
    let (mut ours, mut theirs) = (Space::simple(&[SIDE; 2])?, hdf5.space(&[SIDE; 2])?);
    ours.select_hyperslab(Op::Set, &[Slab::new(0, 3, rows, 1), Slab::new(0, 5, columns, 1)])?;
    let pattern = Pattern { start: &[0, 0], stride: &[3, 5], count: &count, block: &[1, 1] };
    theirs.select(Operation::Set, &pattern)?;
    warm::<f32>(hdf5, "grid.h5", path, Some((ours, theirs)))
}

/// Reads of an open dataset, into a buffer that is there.
fn warm<T: Value + Native>(
    hdf5: &Hdf5,
    name: &str,
    path: &str,
    selections: Option<(Space, Theirs<'_>)>,
) -> Result<Both> {
    let name = file(name)?;
    let dataset = File::open(&name)?.dataset(path)?;
    let (selection, theirs) = selections.map_or((dataset.space(), None), |(ours, theirs)| (ours, Some(theirs)));
    let their_file = hdf5.open(&name)?;
    let their_dataset = their_file.dataset(path)?;
    let mut target = Target::<T>::new(selection.npoints())?;
    let mut values = vec![T::default(); usize::try_from(selection.npoints())?];
    target.read(&dataset, &selection)?;
    their_dataset.read(T::MEMORY, theirs.as_ref(), &mut values)?;
    target.check(&values)?;
    side_by_side(|| target.read(&dataset, &selection), || their_dataset.read(T::MEMORY, theirs.as_ref(), &mut values))
}

/// Everything from opening the file on: the index of the chunks is not yet known.
pub(super) fn cold(hdf5: &Hdf5, format: &str, path: &str) -> Result<Both> {
    let name = file(&format!("chunks-{format}.h5"))?;
    let space = File::open(&name)?.dataset(path)?.space();
    let mut target = Target::<f32>::new(space.npoints())?;
    let mut values = vec![0f32; usize::try_from(space.npoints())?];
    hdf5.open(&name)?.dataset(path)?.read(f32::MEMORY, None, &mut values)?;
    target.read(&File::open(&name)?.dataset(path)?, &space)?;
    target.check(&values)?;
    side_by_side(
        || target.read(&File::open(&name)?.dataset(path)?, &space),
        || hdf5.open(&name)?.dataset(path)?.read(f32::MEMORY, None, &mut values),
    )
}

/// The same bytes, without a file format between.
pub(super) fn plain(_: &Hdf5) -> Result<Both> {
    let name = file("contiguous.h5")?;
    let dataset = File::open(&name)?.dataset("data")?;
    let space = dataset.space();
    let mut target = Target::<f32>::new(space.npoints())?;
    let mut same = std::cell::RefCell::new(std::mem::take(&mut target.bytes));
    let mut plain = std::fs::File::open(&name)?;
    let front = plain.metadata()?.len() - same.get_mut().len() as u64;
    side_by_side(
        || {
            Ok(dataset.read_converted(
                &space,
                &target.datatype,
                &target.places,
                &mut same.borrow_mut(),
                &mut Arena::default(),
            )?)
        },
        || {
            plain.seek(SeekFrom::Start(front))?;
            Ok(plain.read_exact(&mut same.borrow_mut())?)
        },
    )
}

/// All values of a dataset, decoded by all cores and by one: we against ourselves.
pub(super) fn all_cores(_: &Hdf5) -> Result<Both> {
    let dataset = File::open(file("filtered.h5")?)?.dataset("data")?;
    let space = dataset.space();
    let (mut all, mut alone) = (Target::<f32>::new(space.npoints())?, Target::<f32>::new(space.npoints())?);
    side_by_side(|| all.read(&dataset, &space), || cores::alone(|| alone.read(&dataset, &space)))
}

/// Many reads of few elements, each with a selection of its own.
pub(super) fn small(hdf5: &Hdf5, path: &str) -> Result<Both> {
    let (reads, count) = SMALL;
    let name = file("grid.h5")?;
    let dataset = File::open(&name)?.dataset(path)?;
    let their_file = hdf5.open(&name)?;
    let their_dataset = their_file.dataset(path)?;
    let mut target = Target::<f32>::new(count)?;
    let mut values = vec![0f32; usize::try_from(count)?];
    let corner = |read: u64| [read * 37 % SIDE, read * 61 % (SIDE - count)];
    let mut ours = || -> Result<()> {
        for read in 0..reads {
            let [row, column] = corner(read);
            let mut selection = Space::simple(&[SIDE; 2])?;
            selection.select_hyperslab(Op::Set, &[Slab::block(row, 1), Slab::block(column, count)])?;
            target.read(&dataset, &selection)?;
        }
        Ok(())
    };
    let mut theirs = || -> Result<()> {
        for read in 0..reads {
            let mut selection = hdf5.space(&[SIDE; 2])?;
            let pattern = Pattern { start: &corner(read), stride: &[1, 1], count: &[1, count], block: &[1, 1] };
            selection.select(Operation::Set, &pattern)?;
            their_dataset.read(f32::MEMORY, Some(&selection), &mut values)?;
        }
        Ok(())
    };
    ours()?;
    theirs()?;
    let times = side_by_side(ours, theirs)?;
    target.check(&values)?;
    Ok(times)
}

/// Where our reads go.
pub(super) struct Target<T> {
    bytes: Vec<u8>,
    places: Space,
    datatype: Datatype,
    value: std::marker::PhantomData<T>,
}

impl<T: Value + Native> Target<T> {
    pub(super) fn new(count: u64) -> Result<Target<T>> {
        let bytes = vec![0; usize::try_from(count)? * size_of::<T>()];
        let (places, datatype) = (Space::simple(&[count])?, Datatype::of::<T>());
        Ok(Target { bytes, places, datatype, value: std::marker::PhantomData })
    }

    pub(super) fn read(&mut self, dataset: &Dataset, selection: &Space) -> Result<()> {
        let (places, bytes) = (&self.places, &mut self.bytes);
        Ok(dataset.read_converted(selection, &self.datatype, places, bytes, &mut Arena::default())?)
    }

    pub(super) fn check(&self, values: &[T]) -> Result<()> {
        let theirs = T::bytes(values);
        ensure!(self.bytes.iter().copied().eq(theirs), "the two sides read different values");
        Ok(())
    }
}
