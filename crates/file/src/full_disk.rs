//! A full disk: what nothing needs any more is given back to it, so that what is deleted can go.
//!
//! To delete an object, blocks of others are written to new space before the file stops naming it: on a full disk there is none. But the values of what is
//! deleted are needed by no one, though the file still names them, and what is free in the file neither. Where the storage can do it (holes in a file), it gets
//! the room of both back, and the flush is tried again.

use hyperslab_alloc::Span;
use hyperslab_base::{ErrorKind, memory};
use hyperslab_driver::{CtlFlags, CtlOp, CtlReply, Driver};

use crate::{OpenFile, Result, store::Store};

impl OpenFile {
    /// Frees values of an object that is deleted: on a full disk, their room is given back before the file stops naming them.
    pub fn free_deleted<T, E>(&self, free: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let deletes = |deletes: bool| {
            self.store.iter().for_each(|store| store.space.lock().deletes = deletes);
        };
        deletes(true);
        let freed = free();
        deletes(false);
        freed
    }

    /// Writes; if the storage is full, once more when it got back what the file does not need.
    pub(crate) fn write_or_make_room(&self, mut write: impl FnMut() -> Result<()>) -> Result<()> {
        self.store.iter().try_for_each(|store| self.finish_journal(store))?;
        match (write(), &self.store) {
            (Err(why), Some(store)) if why.kind() == ErrorKind::NoSpace => {
                if self.give_room_back(store)? {
                    write()
                } else {
                    Err(why)
                }
            }
            (written, _) => written,
        }
    }

    /// Whether the storage has room for so many bytes more: a full one gets back what the file does not need. They are written behind the end of the file,
    /// and cut off again, since what comes may lie in space that was given back.
    pub(crate) fn has_room_for(&self, store: &Store, bytes: u64) -> Result<bool> {
        let Ok(zeros) = memory::zeroed(bytes) else { return Ok(false) };
        let (before, end) = (self.pages.len(&self.transfers.superblock)?, self.end_of_space(store));
        let behind = before.max(end);
        let written = self.write_or_make_room(|| Ok(self.pages.write_at(behind, &zeros, &self.transfers.metadata)?));
        self.pages.set_len(before, &self.transfers.superblock)?;
        match written {
            Err(why) if why.kind() == ErrorKind::NoSpace => Ok(false),
            written => written.map(|()| true),
        }
    }

    /// Gives the storage what the file does not need: values of deleted objects, and what is free. Whether it took some of it; not again before something
    /// else is freed.
    pub(crate) fn give_room_back(&self, store: &Store) -> Result<bool> {
        let (end, mut any) = (self.pages.len(&self.transfers.any)?, false);
        // The lock is held until the room is given back, so that no other thread takes space there and writes to it meanwhile.
        let mut space = store.space.lock();
        if space.lists_free || std::mem::replace(&mut space.returned, true) {
            return Ok(false);
        }
        let spans = joined(space.deleted.iter().copied().chain(space.allocator.sections()).collect());
        for span in spans {
            let (start, stop) = (self.base.saturating_add(span.start), self.base.saturating_add(span.end()).min(end));
            if start < stop {
                let flags = CtlFlags::ROUTE_TO_TERMINAL | CtlFlags::IGNORE_IF_UNKNOWN;
                let reply = self.raw.ctl(CtlOp::DISCARD, flags, Some(&(start..stop)))?;
                any |= matches!(reply, CtlReply::Done);
            }
        }
        Ok(any)
    }
}

/// Spans that touch each other as one: the storage gives back whole blocks only.
fn joined(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut joined: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match joined.last_mut().filter(|last| last.end() >= span.start) {
            Some(last) => *last = Span::between(last.start, last.end().max(span.end())),
            None => joined.push(span),
        }
    }
    joined
}
