//! The datasets behind a virtual one, opened when first needed.

use std::{
    collections::HashMap,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    Error, OpenDataset, OpenObject, Result, Session, VirtualName,
    follow::Reached,
    renewal::Renewal,
    search::{self, Prefixes},
    virtual_read_budget::VirtualReadBudget,
};

/// The sources of a virtual dataset that are open, by file and path. A source that is missing is looked for by each request.
#[derive(Default)]
pub(crate) struct Sources(Mutex<OpenSources>);

#[derive(Default)]
struct OpenSources {
    datasets: HashMap<VirtualName, OpenDataset>,
    /// Whether the file of the virtual dataset was closed: then none are kept.
    closed: bool,
}

/// More open sources than this are not kept: each may be a file of its own.
const MOST: usize = 256;

impl Sources {
    fn lock(&self) -> MutexGuard<'_, OpenSources> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A source of a virtual dataset in `above`; none if it is missing.
    pub(super) fn get(
        &self,
        above: &Session,
        file: Arc<[u8]>,
        path: Arc<[u8]>,
        budget: &VirtualReadBudget,
    ) -> Result<Option<OpenDataset>> {
        let key = (file, path);
        let known = self.lock().datasets.get(&key).cloned();
        match known.filter(is_current) {
            Some(known) => Ok(Some(known)),
            None => self.open(above, key, budget, false),
        }
    }

    /// As [`Sources::get`], for a source that is to be changed.
    pub(super) fn edit(
        &self,
        above: &Session,
        file: Arc<[u8]>,
        path: Arc<[u8]>,
        budget: &VirtualReadBudget,
    ) -> Result<Option<OpenDataset>> {
        self.open(above, (file, path), budget, true)
    }

    fn open(
        &self,
        above: &Session,
        key: VirtualName,
        budget: &VirtualReadBudget,
        write: bool,
    ) -> Result<Option<OpenDataset>> {
        let opened = open(above, &key, budget, write)?;
        if let Some(opened) = &opened {
            self.keep(key, opened.clone(), write);
        }
        Ok(opened)
    }

    fn keep(&self, key: VirtualName, opened: OpenDataset, write: bool) {
        let (mut kept, mut gone) = (self.lock(), HashMap::new());
        if kept.closed {
            return;
        }
        if kept.datasets.len() >= MOST {
            mem::swap(&mut kept.datasets, &mut gone);
        } else if write {
            // Other sources may be in the same file, as it was before it was opened for writing.
            let (current, old) = mem::take(&mut kept.datasets).into_iter().partition(|(_, known)| is_current(known));
            (kept.datasets, gone) = (current, old);
        }
        let replaced = kept.datasets.insert(key, opened);
        // The last handle of a source closes its file, which waits for other threads: so it is dropped without this lock.
        drop(kept);
        drop((gone, replaced));
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

/// A source that lost its name is another one by now, or none; so is one in a file that was opened for writing since.
fn is_current(known: &OpenDataset) -> bool {
    known.is_current() && !known.is_unnamed()
}

impl Session {
    fn virtual_prefixes(&self) -> Prefixes<'_> {
        Prefixes { variable: search::VIRTUAL_PREFIX, option: self.linked_files.options.virtual_prefix.as_deref() }
    }

    /// Lets the values of a source that the program names be written, wherever it is.
    pub(crate) fn grant_source(&self, name: &[u8]) {
        let places = search::places(name, self.virtual_prefixes(), self.path());
        places.iter().for_each(|place| self.engine.external_files.granted.add(place));
    }
}

fn open(above: &Session, key: &VirtualName, budget: &VirtualReadBudget, write: bool) -> Result<Option<OpenDataset>> {
    reach(above, &key.0, &key.1, budget, write).map_err(|why| {
        let name = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Error::Values(why.at(format!("{} in {}", name(&key.1), name(&key.0))).of_source())
    })
}

fn reach(
    above: &Session,
    file: &[u8],
    path: &[u8],
    budget: &VirtualReadBudget,
    write: bool,
) -> Result<Option<OpenDataset>> {
    let file = if file == b"." {
        above.clone()
    } else {
        let Some(found) = above.find_other(file, above.virtual_prefixes(), write)? else { return Ok(None) };
        found
    };
    if let Some(renewal) = &budget.renewal {
        renewal.renew(&file)?;
    }
    match file.follow(file.root()?, path, budget)? {
        Reached::Object(OpenObject::Dataset(dataset)) => match &budget.renewal {
            Some(renewal) => renewed(renewal, dataset, budget).map(Some),
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

/// The source as its file has it now. Links may have led to another file than the one that was named.
fn renewed(renewal: &Renewal, dataset: OpenDataset, budget: &VirtualReadBudget) -> Result<OpenDataset> {
    let is_old = renewal.renew(dataset.session())?;
    // Handles of a virtual dataset share nothing; those of others share what they know of their chunks.
    if dataset.session().engine.is_writable() || dataset.is_virtual() && !is_old {
        return Ok(dataset);
    }
    dataset.reopened()?.grown(budget)
}
