//! Objects that lost their last name while handles of them were open, as in libhdf5: they can be used until the last handle is dropped.
//!
//! A handle may be dropped anywhere, also in the middle of an operation, so dropping it deletes nothing. What has neither name nor handle
//! is deleted before the next operation or flush, and when the file is closed.

use std::{collections::VecDeque, sync::Arc};

use hyperslab_file::Handle;
use hyperslab_object::{Life, Object};

use crate::{Result, Session, closed_objects::NoteClosed};

/// An object as it was when it was opened, and a handle of it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Opened {
    seen: Seen,
    handle: Option<Arc<Handle>>,
    _note_closed: Option<Arc<NoteClosed>>,
}

/// What was seen of an object when it was opened.
#[derive(Clone, Debug)]
enum Seen {
    Header(Object),
    /// It was just made, in a file that may be changed: there the header is read whenever it is asked for.
    New(Life),
}

impl Opened {
    /// The caller holds changes off, or is the operation itself.
    pub(crate) fn new(session: &Session, object: Object) -> Opened {
        Opened::seen(session, object.address(), Seen::Header(object))
    }

    /// An object that the current operation has just made.
    pub(crate) fn made(session: &Session, address: u64) -> Result<Opened> {
        Ok(Opened::seen(session, address, Seen::New(session.file().life(address)?)))
    }

    fn seen(session: &Session, address: u64, seen: Seen) -> Opened {
        let handle = session.file().handle(address).map(Arc::new);
        let closed_objects = session.engine.closed_objects.as_ref();
        Opened { seen, handle, _note_closed: closed_objects.map(|objects| objects.note_later(address)) }
    }

    /// The object as it was when it was opened, unless it was new.
    pub fn object(&self) -> Option<&Object> {
        match &self.seen {
            Seen::Header(object) => Some(object),
            Seen::New(_) => None,
        }
    }

    /// Which object it is, also if another one has its address later.
    pub fn life(&self) -> Life {
        match &self.seen {
            Seen::Header(object) => object.life(),
            Seen::New(life) => *life,
        }
    }

    /// Where its header is.
    pub fn address(&self) -> u64 {
        self.life().address()
    }

    /// What keeps the object.
    pub fn handle(&self) -> Option<Arc<Handle>> {
        self.handle.clone()
    }
}

impl Session {
    /// Deletes what has lost its last handle and has no name. What cannot be deleted is left to the next flush, which tells why; if the file is poisoned, the next
    /// operation does.
    pub fn delete_abandoned(&self) {
        if self.file().notice_abandoned() {
            let _ = self.delete_now();
        }
    }

    /// As [`Session::delete_abandoned`], also what could not be deleted before. An error tells why one of them still cannot be deleted.
    pub(crate) fn delete_all_abandoned(&self) -> Result<()> {
        let file = self.file();
        // In a forked process, a thread that is not there may have the lock of the handles.
        file.check_process()?;
        // Both are asked: this call serves also those that the next operation would notice.
        if file.notice_abandoned() | file.has_abandoned() { self.delete_now() } else { Ok(()) }
    }

    /// Each object is deleted by an operation of its own, so that one that cannot be read stands in the way of no other.
    /// The error is that of the first.
    fn delete_now(&self) -> Result<()> {
        let (context, file) = (self.context(), self.file());
        let (mut abandoned, mut kept, mut told) = (VecDeque::new(), Vec::new(), Ok(()));
        loop {
            let mut next = None;
            let deleted = file.operate(|| -> Result<()> {
                hyperslab_object::add_all_waiting(context)?;
                file.mark_whole();
                if abandoned.is_empty() {
                    // One object may hold the last handle of another: a virtual dataset that of its source.
                    abandoned.extend(file.take_abandoned());
                }
                next = abandoned.pop_front();
                match next {
                    // A reference led to it since.
                    Some(object) if file.has_handle(object.0) => file.keep_abandoned(&[object]),
                    Some((address, lost)) => {
                        let drop = &mut |object: &Object| self.drop_values(object);
                        hyperslab_object::delete_unnamed(context, address, lost, drop)?;
                    }
                    None => {}
                }
                Ok(())
            });
            if deleted.is_err() {
                kept.extend(next);
            }
            told = told.and(deleted);
            if next.is_none() {
                break;
            }
        }
        // If the file was poisoned meanwhile, some are left.
        kept.extend(abandoned);
        file.keep_abandoned(&kept);
        told
    }

    /// Deletes all objects that lost their last name, whether there are handles of them or not: the file is about to be closed.
    pub(crate) fn delete_unnamed(&self) {
        self.file().abandon_all();
        self.delete_abandoned();
    }
}
