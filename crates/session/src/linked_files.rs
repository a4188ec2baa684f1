//! The files that a file leads to, kept for the next time.

use std::{
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use hyperslab_base::os_error;

use crate::{
    Error, Options, Result, Session, engine::Engine, error::opened, opening::Opening, opening_count::OpenedBy,
    options::Access, storage::Source,
};

/// Files that were opened through a file, and how. Shared by all of them.
pub(crate) struct LinkedFiles {
    pub(crate) options: Options,
    /// Engines that read files, the last used at the end. An engine that has no openings has no lock; it is used again if the file did not change.
    kept: Mutex<Vec<(PathBuf, Arc<Engine>)>>,
}

/// More files than this are not kept.
const MOST: usize = 64;

impl LinkedFiles {
    pub(crate) fn new(options: Options) -> Arc<LinkedFiles> {
        Arc::new(LinkedFiles { options, kept: Mutex::default() })
    }

    /// The first of these places that has a file; none if no place has one. The file can be changed only if `write` says so, or if this process has
    /// it open for writing. An error if that file is one that `refusal` tells of.
    pub(crate) fn find(
        self: &Arc<LinkedFiles>,
        places: &[PathBuf],
        write: bool,
        refusal: &dyn Fn(&Path) -> Option<String>,
    ) -> Result<Option<Session>> {
        for place in places {
            if let Some(why) = refusal(place).filter(|_| Source::is_there(place)) {
                return Err(Error::Forbidden(why));
            }
            match self.open(place, write) {
                Err(why) if is_missing(&why) => {}
                other => return other.map(Some),
            }
        }
        Ok(None)
    }

    /// Opens a file that another one leads to.
    fn open(self: &Arc<LinkedFiles>, path: &Path, write: bool) -> Result<Session> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        if let Some(engine) = self.take_kept(&path).filter(|_| !write)
            && let Some(opening) = opened(&path, Opening::again(&engine, &path, OpenedBy::Linked))?
        {
            return Ok(self.keep(path, opening));
        }
        let access = self.options.access.of_linked(write);
        let opening = opened(&path, self.open_source(&path, &access, OpenedBy::Linked))?;
        Ok(self.keep(path, opening))
    }

    /// Opens the file that leads to all others, as the options say.
    pub(crate) fn open_first(self: &Arc<LinkedFiles>, path: &Path) -> Result<Session> {
        let access = &self.options.access;
        access.check()?;
        let opening = opened(path, self.open_source(path, access, OpenedBy::Direct))?;
        Ok(Session::of(opening, self))
    }

    fn open_source(&self, path: &Path, access: &Access, way: OpenedBy) -> Result<Arc<Opening>> {
        let cache = self.options.cache_config();
        Opening::of_file(Source::find(path, access)?, access, way, |source| {
            let storage = source.lock(access)?;
            if access.write { Engine::writable(storage, access, cache) } else { Engine::open(storage, access, cache) }
        })
    }

    /// Keeps the engine of a file that is only read for the next time. One that writes ends with its last opening.
    fn keep(self: &Arc<LinkedFiles>, path: PathBuf, opening: Arc<Opening>) -> Session {
        if !opening.engine().is_writable() {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() == MOST {
                kept.remove(0);
            }
            kept.push((path, opening.engine().clone()));
        }
        Session::of(opening, self)
    }

    fn take_kept(&self, path: &Path) -> Option<Arc<Engine>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().position(|(known, _)| known == path)?;
        Some(kept.remove(found).1)
    }
}

/// Whether there is no such file, or none that may be read. Other errors must not pass for it: a file that cannot be opened now may
/// hold values.
fn is_missing(why: &Error) -> bool {
    use ErrorKind::{InvalidFilename, IsADirectory, NotADirectory, NotFound, PermissionDenied};
    let kind = os_error(why).map(io::Error::kind);
    matches!(kind, Some(NotFound | NotADirectory | IsADirectory | PermissionDenied | InvalidFilename))
}
