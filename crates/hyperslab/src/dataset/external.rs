//! The files that hold the values of a dataset outside of its own.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use hyperslab_chunk::{ExternalPart, Externals};
use hyperslab_driver::{Driver, Local};
use hyperslab_format::message::ExternalSlot;
use hyperslab_structures::LocalHeap;

use super::{Dataset, layout::ExternalName};
use crate::{Durability, Error, ExternalAccess, File, Result, external_access::Prefixes, search};

/// What of an opening decides which external files it finds, and what it may do with them. The openings of a file may differ in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ExternalRule {
    access: ExternalAccess,
    prefix: Option<PathBuf>,
    path: Option<PathBuf>,
}

impl ExternalRule {
    pub(super) fn of(file: &File) -> ExternalRule {
        let options = &file.others.options;
        let path = file.path().map(Path::to_path_buf);
        ExternalRule { access: options.external, prefix: options.raw_prefix.clone(), path }
    }

    /// Whether files that were opened by this rule are those that this opening finds.
    pub(super) fn holds_for(&self, file: &File) -> bool {
        let options = &file.others.options;
        self.access == options.external && self.prefix == options.raw_prefix && self.path.as_deref() == file.path()
    }
}

impl Dataset {
    pub(super) fn external_names(&self) -> Result<Option<Vec<ExternalName>>> {
        let context = &self.file.inner.context;
        let Some(files) = self.inner.object.external(context)? else { return Ok(None) };
        let heap = files.heap.ok_or_else(|| Error::Missing("heap of the external files' names".into()))?;
        let heap = LocalHeap::open(context.file(), heap)?;
        let slot = |slot: &ExternalSlot| Ok((heap.string(slot.name)?.to_vec(), slot.offset, slot.size));
        files.slots.iter().map(slot).collect::<Result<_>>().map(Some)
    }

    pub(super) fn externals(&self) -> Result<Option<Externals>> {
        let Some(names) = self.external_names()? else { return Ok(None) };
        // Slots often are parts of one file.
        let mut opened = HashMap::new();
        let part = |(name, offset, size): ExternalName| {
            let open = |name: &Vec<u8>| open(&self.file, name);
            let (storage, read_only) = opened.entry(name.clone()).or_insert_with_key(open).clone();
            ExternalPart { name: String::from_utf8_lossy(&name).into_owned(), storage, read_only, offset, size }
        };
        Ok(Some(Externals { parts: names.into_iter().map(part).collect() }))
    }
}

/// An external file or why it cannot be read, and why it cannot be written.
type OpenedPart = (std::result::Result<Arc<dyn Driver>, String>, Option<String>);

fn open(file: &File, name: &[u8]) -> OpenedPart {
    let (place, prefixes) = (external_place(file, name), raw_prefixes(file));
    let read_only = file.refusal(&place, prefixes, true);
    if let Some(why) = file.refusal(&place, prefixes, false) {
        return (Err(why), read_only);
    }
    let writable = || Local::options().write(true).open(&place);
    let may_write = file.inner.is_writable() && read_only.is_none();
    let local = if may_write { writable().or_else(|_| Local::open(&place)) } else { Local::open(&place) };
    (local.map(|local| Arc::new(local) as Arc<dyn Driver>).map_err(|why| why.to_string()), read_only)
}

fn raw_prefixes(file: &File) -> Prefixes<'_> {
    Prefixes { variable: search::RAW_PREFIX, option: file.others.options.raw_prefix.as_deref() }
}

/// Where an external file is, or would be.
fn external_place(file: &File, name: &[u8]) -> PathBuf {
    let places = search::raw_places(name, raw_prefixes(file), file.path());
    places.iter().find(|place| place.exists()).or(places.first()).cloned().unwrap_or_default()
}

/// Makes an external file that the program names if it is missing. Its values may be written, wherever it is.
pub(crate) fn make_external(file: &File, name: &[u8]) -> Result<()> {
    let place = external_place(file, name);
    if !place.exists() {
        let made = Local::options().create(true).open(&place)?;
        if file.inner.context.file().durability() != Durability::None {
            // The name is durable too.
            made.sync()?;
        }
    }
    file.inner.granted.add(&place);
    Ok(())
}
