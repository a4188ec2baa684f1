//! Several datasets in one call.
//!
//! Lives here: whose turn it is where several datasets are read or written together, and in which order their parts go. Does not live here: how one
//! dataset is read or written (`dataset`), and how chunks of several come with one request (`hyperslab_chunk`).

mod read;
pub(crate) mod turns;
mod write;

use hyperslab_space::Space;

use crate::{Dataset, Result};

pub use self::{
    read::{PartToRead, read_many, read_many_converted},
    write::{PartToWrite, write_many, write_many_converted},
};

/// A part of a dataset.
type Part<'a> = (&'a Dataset, &'a Space);

/// Brings the chunks that hold parts of several datasets into the caches of their files, with one request for each file, as far as they fit
/// there. Reads and writes of these parts then wait for the storage no more. What is not stored in chunks, and what is as fast without a
/// cache, is left out.
///
/// ```
/// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
/// # for name in ["a", "b"] {
/// #     file.root()?.new_dataset::<i32>().shape([8, 8]).chunks([4, 4]).deflate(1).write(name, &[7; 64])?;
/// # }
/// let (a, b) = (file.dataset("a")?, file.dataset("b")?);
/// hyperslab::prefetch(&[(&a, &a.space()), (&b, &b.space())])?;
/// let before = file.cache_statistics();
/// assert_eq!((a.read::<i32>()?, b.read::<i32>()?), (vec![7; 64], vec![7; 64]));
/// assert!(before.bytes == 0 || file.cache_statistics().misses == before.misses);
/// # Ok::<(), hyperslab::Error>(())
/// ```
pub fn prefetch(parts: &[(&Dataset, &Space)]) -> Result<()> {
    let _turns = turns::to_read(parts)?;
    parts.iter().try_for_each(|(dataset, selection)| dataset.check_extent(selection))?;
    bring(parts, false)
}

/// Brings the chunks of parts into the caches, with one request for each file, when it is the caller's turn.
fn bring(parts: &[Part<'_>], to_write: bool) -> Result<()> {
    let mut wanted = turns::with_partitions(parts)?;
    wanted.retain(|wanted| wanted.dataset.uses_cache());
    wanted.sort_by_key(turns::order);
    for file in wanted.chunk_by(|left, right| turns::file(left.dataset) == turns::file(right.dataset)) {
        let Some(first) = file.first() else { continue };
        let parts: Vec<_> = file.iter().map(|wanted| (wanted.partition, wanted.selection)).collect();
        first.dataset.file().inner.partitions.cache.prefetch(&parts, to_write)?;
    }
    Ok(())
}
