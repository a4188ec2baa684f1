//! Reads of several datasets.

use hyperslab_dtype::{Arena, Datatype};
use hyperslab_space::Space;

use hyperslab_session::{Part, read_together};

use crate::{Dataset, Element, Result};

/// Where values of a dataset go, for [`read_many_converted`]: all as in [`Dataset::read_converted`].
#[derive(Debug)]
pub struct PartToRead<'a> {
    /// Which dataset.
    pub dataset: &'a Dataset,
    /// Which values of it.
    pub selection: &'a Space,
    /// What they are converted to.
    pub datatype: &'a Datatype,
    /// Their places in `buf`.
    pub mem_selection: &'a Space,
    /// Where they go.
    pub buf: &'a mut [u8],
    /// Where what is of variable length goes.
    pub arena: &'a mut Arena,
}

/// The selected values of several datasets, of any files. All are of one time: no thread changes a part while others are read. Chunks that
/// are not in memory come with one request for each file, as far as they fit the cache. The sources of virtual datasets are read one after the
/// other, after all the rest.
///
/// ```
/// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
/// # for (name, value) in [("wind", 3.5), ("rain", 0.25)] {
/// #     file.root()?.new_dataset::<f64>().shape([8, 8]).chunks([4, 4]).deflate(1).write(name, &[value; 64])?;
/// # }
/// use hyperslab::s;
/// let (wind, rain) = (file.dataset("wind")?, file.dataset("rain")?);
/// let (noon, here) = (wind.slice(s![4, ..])?, rain.slice(s![.., 2..4])?);
/// let values = hyperslab::read_many::<f64>(&[(&wind, noon.selection()), (&rain, here.selection())])?;
/// assert_eq!(values, [vec![3.5; 8], vec![0.25; 16]]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
pub fn read_many<T: Element>(parts: &[(&Dataset, &Space)]) -> Result<Vec<Vec<T>>> {
    let mut values: Vec<Vec<T>> = parts.iter().map(|_| Vec::new()).collect();
    let wanted: Vec<Part<'_>> = parts.iter().map(|(dataset, selection)| (&dataset.open, *selection)).collect();
    read_together(&wanted, &mut |nth, dataset| {
        if let (Some((_, selection)), Some(place)) = (wanted.get(nth), values.get_mut(nth)) {
            *place = Dataset::of(dataset.clone()).read_selection(selection)?;
        }
        Ok(())
    })?;
    Ok(values)
}

/// As [`read_many`], converted to any datatypes, and to any places in memory.
pub fn read_many_converted(parts: &mut [PartToRead<'_>]) -> Result<()> {
    let wanted: Vec<Part<'_>> = parts.iter().map(|part| (&part.dataset.open, part.selection)).collect();
    read_together(&wanted, &mut |nth, dataset| match parts.get_mut(nth) {
        Some(part) => dataset.read_converted(part.selection, part.datatype, part.mem_selection, part.buf, part.arena),
        None => Ok(()),
    })
}
