//! Which external files an opening finds, and what it may do with them.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Weak},
};

use hyperslab_driver::{FileIdentity, FileStamp};

use super::raw_files::ExternalFiles;
use crate::{
    ExternalAccess, Session,
    external_access::Bounds,
    search::{self, Prefixes},
};

/// What of an opening decides which external files it finds, and what it may do with them. The openings of a file may differ in it.
#[derive(Debug)]
pub(super) struct ExternalRule {
    access: ExternalAccess,
    prefix: Option<PathBuf>,
    path: Option<PathBuf>,
    /// Weak, because what all openings share keeps the rule.
    pub(super) files: Weak<ExternalFiles>,
}

impl ExternalRule {
    pub(super) fn of(session: &Session) -> ExternalRule {
        let (options, path) = (&session.linked_files.options, session.path().map(Path::to_path_buf));
        let (access, prefix) = (options.external, options.raw_prefix.clone());
        ExternalRule { access, prefix, path, files: Arc::downgrade(&session.engine.external_files) }
    }

    /// Whether files that were found by this rule are those that this opening finds.
    pub(super) fn holds_for(&self, session: &Session) -> bool {
        let options = &session.linked_files.options;
        self.access == options.external && self.prefix == options.raw_prefix && self.path.as_deref() == session.path()
    }

    fn prefixes(&self) -> Prefixes<'_> {
        Prefixes { variable: search::RAW_PREFIX, option: self.prefix.as_deref() }
    }

    /// Where the file with this name is, and which file that is now; where it would be, if it is missing.
    pub(super) fn find(&self, name: &[u8]) -> (PathBuf, Option<FileIdentity>) {
        let mut places = search::raw_places(name, self.prefixes(), self.path.as_deref()).into_iter();
        let first = places.next().unwrap_or_default();
        for place in std::iter::once(first.clone()).chain(places) {
            if let Ok(found) = FileStamp::of_path(&place) {
                return (place, Some(found.identity()));
            }
        }
        (first, None)
    }

    /// Why the file at a place may not be read, or written; nothing if it may.
    pub(super) fn refusal(&self, files: &ExternalFiles, place: &Path, write: bool) -> Option<String> {
        let bounds = Bounds { access: self.access, path: self.path.as_deref(), granted: &files.granted };
        bounds.refusal(place, self.prefixes(), write)
    }
}
