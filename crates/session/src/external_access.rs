//! Which other files a file may lead to: external raw data, external links, sources of virtual datasets.

use std::{
    collections::HashSet,
    env,
    path::{Path, PathBuf},
};

use parking_lot::Mutex;

use crate::{
    Session,
    search::{Prefixes, expand},
};

/// Which other files a file may lead to, by external raw data, external links and virtual datasets.
///
/// A file that comes from elsewhere may name any path. What this program named itself, when it made a dataset, can always be read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExternalAccess {
    /// Those in the folder of the file and below it, and in folders that were given as prefixes.
    Inside,
    /// Any may be read; written only those that [`ExternalAccess::Inside`] names.
    #[default]
    ReadAnywhere,
    /// Any may be read and written.
    Anywhere,
}

/// The files that this program named when it made datasets.
#[derive(Debug, Default)]
pub(crate) struct Granted(Mutex<HashSet<PathBuf>>);

impl Granted {
    pub(crate) fn add(&self, place: &Path) {
        self.0.lock().insert(resolved(place));
    }

    fn has(&self, resolved: &Path) -> bool {
        self.0.lock().contains(resolved)
    }
}

/// What of an opening decides which other files it may lead to.
pub(crate) struct Bounds<'a> {
    pub(crate) access: ExternalAccess,
    /// Where the file was opened.
    pub(crate) path: Option<&'a Path>,
    pub(crate) granted: &'a Granted,
}

impl Session {
    /// Why a file that this one names may not be read, or written; nothing if it may.
    pub(crate) fn refusal(&self, place: &Path, prefixes: Prefixes<'_>, write: bool) -> Option<String> {
        let (access, path, granted) =
            (self.linked_files.options.external, self.path(), &self.engine.external_files.granted);
        Bounds { access, path, granted }.refusal(place, prefixes, write)
    }
}

impl Bounds<'_> {
    /// Why a file may not be read, or written; nothing if it may.
    pub(crate) fn refusal(&self, place: &Path, prefixes: Prefixes<'_>, write: bool) -> Option<String> {
        let Bounds { access, path, granted } = *self;
        if access == ExternalAccess::Anywhere || access == ExternalAccess::ReadAnywhere && !write {
            return None;
        }
        let (place, folder) = (resolved(place), path.and_then(|path| resolved(path).parent().map(Path::to_path_buf)));
        let given = env::var_os(prefixes.variable).unwrap_or_default();
        let given = env::split_paths(&given).chain(prefixes.option.map(Path::to_path_buf)).collect::<Vec<_>>();
        let origin = path.and_then(Path::parent);
        let given = given.iter().filter_map(|prefix| expand(prefix.as_os_str(), origin));
        let mut folders = folder.into_iter().chain(given.map(|prefix| resolved(&prefix)));
        if folders.any(|folder| place.starts_with(folder)) || granted.has(&place) {
            return None;
        }
        let verb = if write { "write" } else { "read" };
        Some(format!(
            "{} is outside of the folder of the file: open the file with external access {} to {verb} it",
            place.display(),
            if write { "anywhere" } else { "for reading anywhere" }
        ))
    }
}

/// A path without symbolic links, as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    path.canonicalize().unwrap_or_else(|_| match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolved(parent).join(name),
        _ => path.clone(),
    })
}
