//! The datasets behind a virtual one, opened when first needed.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    Dataset, Error, File, Node, Result, VirtualName, external_access::Prefixes, follow::Reached, search, trip::Trip,
};

/// The sources of a virtual dataset by file and path, those that are missing too.
#[derive(Default)]
pub(super) struct Sources {
    opened: Mutex<HashMap<VirtualName, Option<Dataset>>>,
}

/// More open sources than this are not kept: each may be a file of its own.
const MOST: usize = 256;

impl Sources {
    /// A source of a virtual dataset in `above`; none if it is missing.
    pub(super) fn get(&self, above: &File, file: Arc<[u8]>, path: Arc<[u8]>, trip: &Trip) -> Result<Option<Dataset>> {
        let key = (file, path);
        let lock = || self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        // A source that lost its name is another one by now, or none; so is one in a file that was opened for writing since.
        let is_current = |known: &Dataset| known.is_current() && !known.is_unnamed();
        if let Some(known) = lock().get(&key).filter(|known| known.as_ref().is_none_or(is_current)) {
            return Ok(known.clone());
        }
        let opened = open(above, &key, trip, false)?;
        // What is missing may come as long as somebody writes.
        if opened.is_none() && above.inner.context.file().is_writable() {
            return Ok(None);
        }
        let mut kept = lock();
        if kept.len() >= MOST {
            kept.clear();
        }
        kept.insert(key, opened.clone());
        Ok(opened)
    }
}

impl Sources {
    /// As [`Sources::get`], for a source that is to be changed. Others that were opened for reading are opened anew.
    pub(super) fn edit(&self, above: &File, file: Arc<[u8]>, path: Arc<[u8]>, trip: &Trip) -> Result<Option<Dataset>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).clear();
        open(above, &(file, path), trip, true)
    }
}

impl File {
    fn virtual_prefixes(&self) -> Prefixes<'_> {
        Prefixes { variable: search::VIRTUAL_PREFIX, option: self.others.options.virtual_prefix.as_deref() }
    }

    /// Lets the values of a source that the program names be written, wherever it is.
    pub(crate) fn grant_source(&self, name: &[u8]) {
        let places = search::places(name, self.virtual_prefixes(), self.path());
        places.iter().for_each(|place| self.inner.granted.add(place));
    }
}

fn open(above: &File, key: &VirtualName, trip: &Trip, write: bool) -> Result<Option<Dataset>> {
    reach(above, &key.0, &key.1, trip, write).map_err(|why| {
        let name = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let why = format!("{} in {}: {why}", name(&key.1), name(&key.0));
        Error::Values(hyperslab_chunk::Error::Source(why))
    })
}

fn reach(above: &File, file: &[u8], path: &[u8], trip: &Trip, write: bool) -> Result<Option<Dataset>> {
    let file = if file == b"." {
        above.clone()
    } else {
        let Some(found) = above.find_other(file, above.virtual_prefixes(), write)? else { return Ok(None) };
        found
    };
    match file.follow(file.root_address()?, path, trip)? {
        Reached::Object(Node::Dataset(dataset)) => Ok(Some(dataset)),
        Reached::Missing { last: true, .. } | Reached::NoFile { .. } => Ok(None),
        Reached::Object(other) => {
            let path = String::from_utf8_lossy(path).into_owned();
            Err(Error::Kind { path, found: other.kind(), wanted: "dataset" })
        }
        // As in libhdf5: a group that is missing on the way is an error.
        missing @ Reached::Missing { .. } => missing.object().map(|_| None),
    }
}
