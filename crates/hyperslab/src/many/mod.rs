//! Several datasets in one call, as Rust values or converted.

mod read;
mod write;

use hyperslab_space::Space;

use crate::{Dataset, Result};

pub use self::{
    read::{PartToRead, read_many, read_many_converted},
    write::{PartToWrite, write_many, write_many_converted},
};

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
    let parts: Vec<_> = parts.iter().map(|(dataset, selection)| (&dataset.open, *selection)).collect();
    hyperslab_session::prefetch(&parts)
}
