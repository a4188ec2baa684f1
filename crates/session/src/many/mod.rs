//! Several datasets in one call.
//!
//! Lives here: the range locks of several datasets that are read or written together, and in which order their parts go. Does not live here: how one
//! dataset is read or written (`dataset`), and how chunks of several come with one request (`hyperslab_chunk`).

pub(crate) mod range_locks;
mod read;
mod write;

use hyperslab_space::Space;

use crate::{OpenDataset, Result};

pub use self::{
    read::read_together,
    write::{PartToWrite, write_together},
};

/// What is selected of a dataset.
pub type Part<'a> = (&'a OpenDataset, &'a Space);

/// Brings the chunks that hold parts of several datasets into the caches of their files, with one request for each file, as far as they fit there.
pub fn prefetch(parts: &[Part<'_>]) -> Result<()> {
    let _guards = range_locks::to_read(parts)?;
    parts.iter().try_for_each(|(dataset, selection)| dataset.check_extent(selection))?;
    bring(parts, false)
}

/// Brings the chunks of parts into the caches, with one request for each file, under the caller's range lock.
fn bring(parts: &[Part<'_>], to_write: bool) -> Result<()> {
    let mut wanted = range_locks::with_partitions(parts)?;
    wanted.retain(|wanted| wanted.dataset.uses_cache());
    wanted.sort_by_key(range_locks::order);
    for file in wanted.chunk_by(|left, right| range_locks::file(left.dataset) == range_locks::file(right.dataset)) {
        let Some(first) = file.first() else { continue };
        let parts: Vec<_> = file.iter().map(|wanted| (wanted.partition, wanted.selection)).collect();
        let cache = &first.dataset.session().engine.partitions.cache;
        cache.prefetch(first.dataset.stored(), &parts, to_write)?;
    }
    Ok(())
}
