//! The datasets behind a virtual one, opened when first needed.

use std::{
    collections::HashMap,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    Dataset, Error, File, Node, Result, VirtualName, external_access::Prefixes, follow::Reached, search, trip::Trip,
};

/// The sources of a virtual dataset that are open, by file and path. A source that is missing is looked for by each request.
#[derive(Default)]
pub(crate) struct Sources(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    datasets: HashMap<VirtualName, Dataset>,
    /// Whether some of them may be in other files that can be changed.
    writable: bool,
    /// Whether the file of the virtual dataset was closed: then none are kept.
    closed: bool,
}

/// More open sources than this are not kept: each may be a file of its own.
const MOST: usize = 256;

impl Sources {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A source of a virtual dataset in `above`; none if it is missing.
    pub(super) fn get(&self, above: &File, file: Arc<[u8]>, path: Arc<[u8]>, trip: &Trip) -> Result<Option<Dataset>> {
        let key = (file, path);
        // A source that lost its name is another one by now, or none; so is one in a file that was opened for writing since.
        let is_current = |known: &Dataset| known.is_current() && !known.is_unnamed();
        let known = self.lock().datasets.get(&key).cloned();
        if let Some(known) = known.filter(is_current) {
            return Ok(Some(known));
        }
        let opened = open(above, &key, trip, false)?;
        if let Some(opened) = &opened {
            self.keep(above, key, opened.clone());
        }
        Ok(opened)
    }

    fn keep(&self, above: &File, key: VirtualName, opened: Dataset) {
        let mut kept = self.lock();
        if kept.closed {
            return;
        }
        // The last handle of a source closes its file, which waits for other threads: so it is dropped without this lock.
        let all = if kept.datasets.len() >= MOST { mem::take(&mut kept.datasets) } else { HashMap::new() };
        kept.writable |= opened.file().inner.is_writable() && opened.file() != above;
        let replaced = kept.datasets.insert(key, opened);
        drop(kept);
        drop((all, replaced));
    }

    /// As [`Sources::get`], for a source that is to be changed. Others that were opened for reading are opened anew.
    pub(super) fn edit(&self, above: &File, file: Arc<[u8]>, path: Arc<[u8]>, trip: &Trip) -> Result<Option<Dataset>> {
        let all = mem::take(&mut self.lock().datasets);
        drop(all);
        open(above, &(file, path), trip, true)
    }

    /// Ends a request. Sources in files that only virtual datasets have open for writing are closed: their files would stay locked, and marked
    /// as open for writing.
    pub(super) fn end_request(&self, above: &File) {
        let (mut kept, mut gone) = (self.lock(), Vec::new());
        if !mem::take(&mut kept.writable) {
            return;
        }
        let mut writable = false;
        kept.datasets.retain(|_, dataset| {
            let file = dataset.file();
            if file == above || !file.inner.is_writable() {
                return true;
            }
            let stays = file.inner.openings.direct() > 0;
            writable |= stays;
            if !stays {
                gone.push(dataset.clone());
            }
            stays
        });
        kept.writable = writable;
        drop(kept);
        drop(gone);
    }

    /// Closes all sources, and keeps none from now on.
    pub(crate) fn close(&self) {
        let mut kept = self.lock();
        kept.closed = true;
        let all = mem::take(&mut kept.datasets);
        drop(kept);
        drop(all);
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
    if let Some(renewal) = &trip.renewal {
        renewal.renew(&file)?;
    }
    match file.follow(file.root_address()?, path, trip)? {
        Reached::Object(Node::Dataset(dataset)) => match &trip.renewal {
            Some(renewal) => renewal.renewed(dataset, trip).map(Some),
            None => Ok(Some(dataset)),
        },
        Reached::Missing { last: true, .. } | Reached::NoFile { .. } => Ok(None),
        Reached::Object(other) => {
            let path = String::from_utf8_lossy(path).into_owned();
            Err(Error::Kind { path, found: other.kind(), wanted: "dataset" })
        }
        // As in libhdf5: a group that is missing on the way is an error.
        missing @ Reached::Missing { .. } => missing.object().map(|_| None),
    }
}
