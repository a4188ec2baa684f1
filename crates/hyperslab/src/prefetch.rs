//! Values of several datasets at once.

use std::sync::Arc;

use hyperslab_cache::Area;
use hyperslab_chunk::ChunkShelf;
use hyperslab_space::Space;

use crate::{Dataset, Result};

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
    let mut wanted = Vec::with_capacity(parts.len());
    for (dataset, selection) in parts {
        selection.check_inside()?;
        if let Some(shelf) = dataset.shelf()?.filter(|_| selection.npoints() > 0) {
            wanted.push((*dataset, shelf, *selection));
        }
    }
    let inner = |dataset: &Dataset| Arc::as_ptr(&dataset.file().inner).addr();
    // Everybody enters files and datasets in this order, so nobody waits for one who waits.
    wanted.sort_by_key(|(dataset, shelf, _)| (inner(dataset), shelf.number()));
    for file in wanted.chunk_by(|left, right| inner(left.0) == inner(right.0)) {
        let Some((first, ..)) = file.first() else { continue };
        let turns: Vec<_> = file
            .chunk_by(|left, right| left.1.is(right.1))
            .filter(|_| first.file().is_writable())
            .filter_map(|parts| {
                parts.first().map(|(_, shelf, selection)| shelf.enter(area(parts.len(), selection), false))
            })
            .collect();
        let parts: Vec<(&ChunkShelf, &Space)> = file.iter().map(|(_, shelf, selection)| (*shelf, *selection)).collect();
        first.file().inner.shelves.cache.prefetch(&parts)?;
        drop(turns);
    }
    Ok(())
}

/// Where several parts of a dataset are.
fn area(parts: usize, first: &Space) -> Area {
    if parts == 1 { Area::of(first) } else { Area::Whole }
}
