//! A file anew: everything that it has, and no space that was lost.

use std::{fmt, io, path::Path, sync::Arc};

use hyperslab_driver::{Existing, Operation, Staged};

use super::{
    CopyOptions, CopyProgress, Lost,
    prepare::{group_settings, settings},
    restore::Restore,
    tree::Copier,
    user_block,
};
use crate::{CacheConfig, CacheStatistics, Dataset, Error, File, Low, NewDataset, OpenOptions, Result};

/// Writes a file anew: groups, datasets, committed datatypes, links, attributes, comments, the orders in which they were made, and the
/// bytes in front that are the user's. References refer to the copies of what they referred to. Free and lost space stays behind.
///
/// ```
/// use hyperslab::{File, Low, Repack};
/// # let folder = std::env::temp_dir();
/// # let (old, new) = ["old", "new"].map(|name| folder.join(format!("hyperslab-repack-{name}-{}.h5", std::process::id()))).into();
/// # let file = File::create(&old)?;
/// # file.root()?.new_dataset::<i32>().write("numbers", &[1, 2, 3])?;
/// # file.close()?;
/// Repack::new().low(Low::V110).run(&File::open(&old)?, &new)?;
/// assert_eq!(File::open(&new)?.dataset("numbers")?.read::<i32>()?, [1, 2, 3]);
/// # [old, new].map(|path| std::fs::remove_file(path).unwrap());
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone)]
pub struct Repack {
    low: Low,
    skips: bool,
    cache: Option<CacheConfig>,
    restore: Option<Arc<Restore>>,
}

impl fmt::Debug for Repack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repack").field("low", &self.low).field("skips", &self.skips).finish_non_exhaustive()
    }
}

impl Default for Repack {
    fn default() -> Repack {
        Repack { low: Low::Earliest, skips: false, cache: None, restore: None }
    }
}

impl Repack {
    /// A file that any library reads, if it can hold everything.
    pub fn new() -> Repack {
        Repack::default()
    }

    /// Which versions structures have: those that the given library can read. Where such a file cannot hold everything, as a large attribute, it is made for
    /// the next library whose versions can.
    #[must_use]
    pub fn low(self, low: Low) -> Repack {
        Repack { low, ..self }
    }

    /// What cannot be read is left out, and [`Repacked::lost`] tells of it; without this it is an error. In place of an object that cannot be
    /// read as a whole, the new file has one that cannot be opened. An attribute is left out by itself.
    #[must_use]
    pub fn skip_damaged(self) -> Repack {
        Repack { skips: true, ..self }
    }

    /// How large the chunk cache of the new file is while it is written.
    #[must_use]
    pub fn cache(self, cache: CacheConfig) -> Repack {
        Repack { cache: Some(cache), ..self }
    }

    /// How datasets are stored in the new file, if not as they were: `how` is given each dataset, and a new one of the same type, size
    /// and fill value, to which it may add a layout and filters. Those with values in other files or datasets stay as they are.
    ///
    /// ```
    /// # use hyperslab::{File, Repack};
    /// # let folder = std::env::temp_dir();
    /// # let (old, new) = ["old", "new"].map(|name| folder.join(format!("hyperslab-store-{name}-{}.h5", std::process::id()))).into();
    /// # let file = File::create(&old)?;
    /// # file.root()?.new_dataset::<i32>().write("numbers", &[7; 10_000])?;
    /// # file.close()?;
    /// let packed = Repack::new().store(|old, new| (!old.shape().is_empty()).then(|| new.auto_chunks().shuffle().deflate(6)));
    /// packed.run(&File::open(&old)?, &new)?;
    /// assert!(File::open(&new)?.dataset("numbers")?.stored_size()?.bytes < 1000);
    /// # [old, new].map(|path| std::fs::remove_file(path).unwrap());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn store(self, how: impl Fn(&Dataset, NewDataset) -> Option<NewDataset> + Send + Sync + 'static) -> Repack {
        Repack { restore: Some(Arc::new(how)), ..self }
    }

    /// Writes the file anew, to a path where no file is. The new file has another name beside it until it is complete and durable, so that
    /// there is no file at the path if something goes wrong, or if the program is killed. What cannot be read is an error that names it
    /// ([`Error::Damaged`]), unless [`Repack::skip_damaged`] is said.
    pub fn run(&self, from: &File, to: impl AsRef<Path>) -> Result<Repacked> {
        self.run_showing(from, to, &mut |_| {})
    }

    /// As [`Repack::run`]; shows how far it is. The values of a dataset in a file that can be changed are copied while its writers wait, and shown when they
    /// are all there.
    pub fn run_showing(
        &self,
        from: &File,
        to: impl AsRef<Path>,
        progress: &mut dyn FnMut(CopyProgress),
    ) -> Result<Repacked> {
        let to = to.as_ref();
        if to.symlink_metadata().is_ok() {
            return Err(Error::Exists(format!("the file {}", to.display())));
        }
        let newer = Low::ALL.into_iter().filter(|low| *low > self.low);
        newer.fold(self.run_once(self.low, from, to, progress), |done, low| match done {
            Err(why) if why.is_too_old() => self.run_once(low, from, to, progress),
            done => done,
        })
    }

    fn run_once(&self, low: Low, from: &File, to: &Path, progress: &mut dyn FnMut(CopyProgress)) -> Result<Repacked> {
        let root = from.root()?;
        let mut options = OpenOptions::new().truncate().low(low).user_block(from.user_block());
        if let Some(cache) = self.cache {
            options = options.cache(cache);
        }
        options.access.root = Some((settings(&*root.object()?), group_settings(&root)?));
        let new = Staged::beside(to).map_err(|why| trouble(to, Operation::Open, why))?;
        let target = options.open(new.path())?;
        let lost = self.copy_all(from, &target, progress)?;
        target.clone().close()?;
        user_block::copy(from, new.path())?;
        new.publish(Existing::Keep).map_err(|why| trouble(to, Operation::Sync, why))?;
        Ok(Repacked { lost, cache: target.cache_statistics() })
    }

    fn copy_all(&self, from: &File, target: &File, progress: &mut dyn FnMut(CopyProgress)) -> Result<Vec<Lost>> {
        let mut show = |done| progress(done);
        let mut copier = Copier::new(CopyOptions::new(), target, &mut show);
        copier.restore.clone_from(&self.restore);
        copier.skips = self.skips;
        copier.begin_at(&from.root()?, &target.root()?);
        copier.run()?;
        target.operate(|| copier.complete(b"/"))?;
        Ok(copier.lost)
    }
}

pub(super) fn trouble(path: &Path, operation: Operation, why: io::Error) -> Error {
    hyperslab_driver::Error::new(&path.display().to_string(), operation, 0, 0, why).into()
}

/// What is to be told of a file that was written anew.
#[derive(Debug)]
#[non_exhaustive]
pub struct Repacked {
    /// What could not be read, if it was to be left out.
    pub lost: Vec<Lost>,
    /// What the chunk cache of the new file did.
    pub cache: CacheStatistics,
}
