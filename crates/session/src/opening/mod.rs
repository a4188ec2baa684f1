//! Openings: each call that opens a file makes one, and all openings of a file in this process share one engine ([`Engine`]).
//!
//! ```text
//!  Session, OpenDataset, … --> Opening --> Engine        one engine for each file that is open
//!                         |           ^
//!                         +--> Slot --+ (weak)   found by device and inode
//! ```
//!
//! Lives here: the table of open files (`registry`), which openings go beside each other (`beside`), and the end of an opening. Does not live here:
//! locks against other processes (`storage`). Used by `session` and `linked_files`.

mod beside;
mod registry;
mod sources;

use std::{
    mem,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use hyperslab_base::ErrorKind;

use registry::{Entry, Patience};
use sources::OpenSources;

use crate::{
    Error, Result, engine::Engine, opening_count::OpenedBy, options::Access, storage::Source, virtual_dataset::Sources,
};

/// One call that opened a file. It ends when it is closed, or with its last handle. The engine ends with its last opening.
pub(crate) struct Opening {
    entry: Entry,
    engine: Arc<Engine>,
    way: OpenedBy,
    /// Absolute, as it was given; none for other storage than files.
    path: Option<PathBuf>,
    /// What virtual datasets have open in other files.
    sources: OpenSources,
    is_open: AtomicBool,
}

impl Opening {
    /// An opening of a file. The engine is made by `make` unless the process has one already.
    pub(crate) fn of_file(
        source: Source,
        access: &Access,
        way: OpenedBy,
        make: impl FnOnce(Source) -> Result<Engine>,
    ) -> Result<Arc<Opening>> {
        let entry = Entry::of(source.identity());
        let patience = if way == OpenedBy::Direct { Patience::Waits } else { Patience::Refuses };
        let path = Some(source.path().to_path_buf());
        let mut slot = entry.wait(patience).ok_or_else(being_closed)?;
        let engine = match slot.engine() {
            Some(known) if beside::replaces(&known, access) => known.replaced_by(|| make(source).map(Arc::new))?,
            Some(known) => {
                beside::check(&known, access, way)?;
                known
            }
            None => Arc::new(make(source)?),
        };
        slot.set(&engine);
        engine.openings.add(way);
        drop(slot);
        Ok(Opening::new(entry, engine, way, path, true))
    }

    /// An opening of storage that no other opening shares.
    pub(crate) fn of_storage(engine: Engine) -> Arc<Opening> {
        let (entry, engine) = (Entry::private(), Arc::new(engine));
        entry.lock().set(&engine);
        engine.openings.add(OpenedBy::Direct);
        Opening::new(entry, engine, OpenedBy::Direct, None, true)
    }

    /// What the engine itself uses to end: no opening of the file.
    pub(crate) fn within(engine: &Arc<Engine>) -> Arc<Opening> {
        Opening::new(Entry::private(), engine.clone(), OpenedBy::Linked, None, false)
    }

    /// Another opening of a file by an engine that was kept when its last opening ended, or of the engine that the file has now. Nothing if the
    /// file at `path` is another one, or has changed.
    pub(crate) fn again(kept: &Arc<Engine>, path: &Path, way: OpenedBy) -> Result<Option<Arc<Opening>>> {
        let Some(identity) = kept.identity().filter(|&identity| registry::leads_to(path, identity)) else {
            return Ok(None);
        };
        let entry = Entry::of(identity);
        let mut slot = entry.wait(Patience::Refuses).ok_or_else(being_closed)?;
        let engine = match slot.engine() {
            Some(now) => now,
            None if kept.resume(path)? => kept.clone(),
            None => return Ok(None),
        };
        slot.set(&engine);
        engine.openings.add(way);
        drop(slot);
        let path = Some(path.to_path_buf());
        Ok(Some(Opening::new(entry, engine, way, path, true)))
    }

    fn new(entry: Entry, engine: Arc<Engine>, way: OpenedBy, path: Option<PathBuf>, is_open: bool) -> Arc<Opening> {
        let (sources, is_open) = (OpenSources::default(), AtomicBool::new(is_open));
        Arc::new(Opening { entry, engine, way, path, sources, is_open })
    }

    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The sources of a virtual dataset that this opening found, none of them open yet.
    pub(crate) fn new_sources(&self) -> Arc<Sources> {
        self.sources.add()
    }

    /// Ends the opening; nothing happens if it has ended. What was changed is in the file afterwards; the last opening closes the file.
    ///
    /// A process that was forked from the one that opened the file only forgets it: its parent writes what was changed, and has the lock.
    pub(crate) fn close(&self) -> Result<()> {
        if !self.is_open.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        if !self.engine.process.is_this() {
            // To drop the engine would mean to wait for locks, which another thread of the parent may have had.
            mem::forget(self.engine.clone());
            return Ok(());
        }
        self.sources.close();
        let mut slot = self.entry.lock();
        if self.engine.openings.remove(self.way) > 0 {
            drop(slot);
            return match self.engine.flush() {
                // Another thread has ended the last opening meanwhile, which wrote everything.
                Err(why) if why.kind() == ErrorKind::Closed => Ok(()),
                flushed => flushed,
            };
        }
        if !self.engine.is_writable() {
            let ended = self.engine.end();
            slot.vacate(&self.engine);
            return ended;
        }
        // Closing waits for other threads, which may be opening files.
        slot.begin_closing(&self.engine);
        drop(slot);
        let _closing = Closing(self);
        self.engine.end()
    }
}

/// The last opening of an engine that writes, while it ends. However that ends, the file can be opened again.
struct Closing<'a>(&'a Opening);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        let Opening { entry, engine, .. } = self.0;
        if !engine.has_ended() {
            // Closing panicked.
            let _ = engine.release();
        }
        entry.lock().end_closing(engine);
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        // A program that wants to know what goes wrong closes the file.
        let _ = self.close();
    }
}

fn being_closed() -> Error {
    Error::Busy("another thread is closing the file; try again")
}
