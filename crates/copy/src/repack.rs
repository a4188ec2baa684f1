//! A file anew: everything that it has, and no space that was lost.

use std::{fmt, path::Path, sync::Arc};

use hyperslab_driver::{Existing, Operation, Staged};
use hyperslab_format::version::LibVersion;
use hyperslab_session::{Access, CacheConfig, CacheStatistics, Error, Lost, Options, Result, Session};

use super::{
    CopyOptions, CopyProgress, Restore,
    prepared::{group_settings, settings},
    tree::Copier,
    user_block::{self, trouble},
};

/// How a file is written anew.
#[derive(Clone, Default)]
pub struct Repack {
    /// The oldest library that should read the new file. Where such a file cannot hold everything, it is made for the next library whose
    /// versions can.
    pub libver_min: LibVersion,
    /// The newest library whose structures may be written, if there is a bound.
    pub libver_max: Option<LibVersion>,
    /// What cannot be read is left out; else it is an error.
    pub skips: bool,
    /// The chunk cache of the new file.
    pub cache: Option<CacheConfig>,
    /// How the storage of the new file is asked: pages, retries, what goes with each request.
    pub access: Access,
    /// How datasets are stored in the new file, if not as they were.
    pub restore: Option<Arc<Restore>>,
}

impl fmt::Debug for Repack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repack")
            .field("libver_min", &self.libver_min)
            .field("skips", &self.skips)
            .finish_non_exhaustive()
    }
}

impl Repack {
    /// Writes the file anew, to a path where no file is. The new file has another name beside it until it is complete and durable.
    pub fn run(&self, from: &Session, to: &Path, progress: &mut dyn FnMut(CopyProgress)) -> Result<Repacked> {
        if to.symlink_metadata().is_ok() {
            return Err(Error::Exists(format!("the file {}", to.display())));
        }
        let newer = LibVersion::ALL.into_iter().filter(|libver_min| *libver_min > self.libver_min);
        newer.fold(self.run_once(self.libver_min, from, to, progress), |done, libver_min| match done {
            Err(why) if why.is_too_old() => self.run_once(libver_min, from, to, progress),
            done => done,
        })
    }

    fn run_once(
        &self,
        libver_min: LibVersion,
        from: &Session,
        to: &Path,
        progress: &mut dyn FnMut(CopyProgress),
    ) -> Result<Repacked> {
        let root = from.root_group()?;
        let access = Access { truncate: true, ..self.access.of_linked(true) };
        let mut options = Options { cache: self.cache, access, ..Options::default() };
        (options.access.libver_min, options.access.user_block) = (libver_min, from.file().user_block());
        options.access.libver_max = self.libver_max;
        options.access.root = Some((settings(&*root.current()?), group_settings(&root)?));
        let new = Staged::beside(to).map_err(|why| trouble(to, Operation::Open, why))?;
        let target = Session::open(new.path(), options)?;
        let lost = self.copy_all(from, &target, progress)?;
        target.close()?;
        user_block::copy(from, new.path())?;
        new.publish(Existing::Keep).map_err(|why| trouble(to, Operation::Sync, why))?;
        Ok(Repacked { lost, cache: target.cache_statistics() })
    }

    fn copy_all(&self, from: &Session, target: &Session, progress: &mut dyn FnMut(CopyProgress)) -> Result<Vec<Lost>> {
        let mut show = |done| progress(done);
        let mut copier = Copier::new(CopyOptions::default(), target, &mut show);
        copier.restore.clone_from(&self.restore);
        copier.skips = self.skips;
        copier.begin_at(&from.root_group()?, &target.root_group()?);
        copier.run()?;
        target.operate(|| copier.complete(b"/"))?;
        Ok(copier.lost)
    }
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
