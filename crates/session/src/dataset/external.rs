//! The files that hold the values of a dataset outside of its own.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Weak},
};

use hyperslab_chunk::{ExternalFile, ExternalPart, Externals};
use hyperslab_driver::{Driver, FileIdentity, FileStamp, Local, Transfer};
use hyperslab_file::Durability;
use hyperslab_format::message::ExternalSlot;
use hyperslab_structures::LocalHeap;

use super::{OpenDataset, layout::ExternalName, raw_file::RawFile};
use crate::{
    ExternalAccess, Result, Session,
    engine::Engine,
    external_access::{Bounds, Prefixes},
    search,
};

/// What of an opening decides which external files it finds, and what it may do with them. The openings of a file may differ in it.
#[derive(Debug)]
pub(super) struct ExternalRule {
    access: ExternalAccess,
    prefix: Option<PathBuf>,
    path: Option<PathBuf>,
    /// Weak, because what all openings share keeps the rule.
    pub(super) engine: Weak<Engine>,
}

impl ExternalRule {
    pub(super) fn of(session: &Session) -> ExternalRule {
        let (options, path) = (&session.others.options, session.path().map(Path::to_path_buf));
        let (access, prefix) = (options.external, options.raw_prefix.clone());
        ExternalRule { access, prefix, path, engine: Arc::downgrade(&session.engine) }
    }

    /// Whether files that were found by this rule are those that this opening finds.
    pub(super) fn holds_for(&self, session: &Session) -> bool {
        let options = &session.others.options;
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
    pub(super) fn refusal(&self, engine: &Engine, place: &Path, write: bool) -> Option<String> {
        let bounds = Bounds { access: self.access, path: self.path.as_deref(), granted: &engine.granted };
        bounds.refusal(place, self.prefixes(), write)
    }
}

impl OpenDataset {
    pub(super) fn external_names(&self) -> Result<Option<Vec<ExternalName>>> {
        let context = self.session.context();
        let Some(files) = self.inner.object.external(context)? else { return Ok(None) };
        let heap = files.heap.ok_or_else(|| {
            hyperslab_file::Error::broken("list of external files", self.address(), "it has no heap with their names")
        })?;
        let heap = LocalHeap::open(context.file(), heap)?;
        let slot = |slot: &ExternalSlot| Ok((heap.string(slot.name)?.to_vec(), slot.offset, slot.size));
        files.slots.iter().map(slot).collect::<Result<_>>().map(Some)
    }

    /// The external files as this opening finds them.
    pub(super) fn externals(&self, rule: &Arc<ExternalRule>) -> Result<Option<Externals>> {
        let Some(names) = self.external_names()? else { return Ok(None) };
        // Slots often are parts of one file.
        let mut files: HashMap<Vec<u8>, Arc<dyn ExternalFile>> = HashMap::new();
        let part = |(name, offset, size): ExternalName| {
            let text = String::from_utf8_lossy(&name).into_owned();
            let file = files.entry(name).or_insert_with_key(|name| Arc::new(RawFile::new(name, rule)));
            ExternalPart { name: text, file: file.clone(), offset, size }
        };
        Ok(Some(Externals { parts: names.into_iter().map(part).collect() }))
    }
}

/// Makes an external file that the program names if it is missing. Its values may be written, wherever it is.
pub(crate) fn make_external(session: &Session, name: &[u8]) -> Result<()> {
    let (place, found) = ExternalRule::of(session).find(name);
    if found.is_none() {
        let made = Local::options().create(true).open(&place)?;
        if session.file().durability() != Durability::None {
            // The name is durable too.
            made.sync(&Transfer::default())?;
        }
    }
    session.engine.granted.add(&place);
    Ok(())
}
