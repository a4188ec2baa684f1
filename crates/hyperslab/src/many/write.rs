//! Writes of several datasets.

use hyperslab_dtype::{Arena, Datatype};
use hyperslab_space::Space;

use hyperslab_element::Writing;

use crate::{Dataset, Error, Result, Storable};

/// Values for a dataset, for [`write_many_converted`]: all as in [`Dataset::write_converted`].
#[derive(Clone, Copy, Debug)]
pub struct PartToWrite<'a> {
    /// Which dataset.
    pub dataset: &'a Dataset,
    /// Which values of it.
    pub selection: &'a Space,
    /// What they are in memory.
    pub datatype: &'a Datatype,
    /// Their places in `buf`.
    pub mem_selection: &'a Space,
    /// Where they are.
    pub buf: &'a [u8],
    /// Where what is of variable length is.
    pub arena: &'a Arena,
}

/// Writes the selected values of several datasets, of any files. No thread reads a part while others are written. Where parts overlap, the last
/// one counts. Chunks that are changed in part and not in memory come with one request for each file, as far as they fit the cache.
///
/// Whatever is wrong with a part is found out before anything is written. If the storage fails then, or a filter, [`Error::Part`] says how
/// many parts are written.
///
/// ```
/// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
/// # for name in ["wind", "rain"] {
/// #     file.root()?.new_dataset::<f64>().shape([8, 8]).chunks([4, 4]).deflate(1).create(name)?;
/// # }
/// use hyperslab::s;
/// let (wind, rain) = (file.dataset("wind")?, file.dataset("rain")?);
/// let (noon, here) = (wind.slice(s![4, ..])?, rain.slice(s![.., 2..4])?);
/// hyperslab::write_many(&[(&wind, noon.selection(), &[3.5; 8]), (&rain, here.selection(), &[0.25; 16])])?;
/// assert_eq!((noon.read::<f64>()?, here.read::<f64>()?), (vec![3.5; 8], vec![0.25; 16]));
///
/// let wrong = hyperslab::write_many(&[(&wind, noon.selection(), &[9.0; 8]), (&rain, here.selection(), &[9.0; 3])]);
/// assert!(wrong.is_err() && wind.read_slice::<f64>(s![4, 0])? == [3.5]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
pub fn write_many<T: Storable>(parts: &[(&Dataset, &Space, &[T])]) -> Result<()> {
    let mut given = Vec::with_capacity(parts.len());
    for (nth, (dataset, selection, values)) in parts.iter().enumerate() {
        let encoded = Writing::<T>::new(dataset.open.stored_datatype()).and_then(|writing| {
            let (bytes, arena) = writing.encode(values)?;
            Ok((writing.memory().clone(), Space::simple(&[values.len() as u64])?, bytes, arena))
        });
        given.push((*dataset, *selection, encoded.map_err(|why| Error::part(nth, 0, why))?));
    }
    let parts = given.iter().map(|(dataset, selection, (datatype, mem_selection, bytes, arena))| PartToWrite {
        dataset,
        selection,
        datatype,
        mem_selection,
        buf: bytes,
        arena,
    });
    write_many_converted(&parts.collect::<Vec<_>>())
}

/// As [`write_many`], of any datatypes, and from any places in memory.
pub fn write_many_converted(parts: &[PartToWrite<'_>]) -> Result<()> {
    let parts = parts.iter().map(|&PartToWrite { dataset, selection, datatype, mem_selection, buf, arena }| {
        hyperslab_session::PartToWrite { dataset: &dataset.open, selection, datatype, mem_selection, buf, arena }
    });
    hyperslab_session::write_together(&parts.collect::<Vec<_>>())
}
