//! Objects as they are now: others may have changed them since they were opened.

use std::{borrow::Cow, ops::Deref};

use hyperslab_driver::shown_path;
use hyperslab_file::Reading;
use hyperslab_object::{Life, Object};

use crate::{Error, Opened, Result, Session};

/// An object that no operation changes while this lives.
pub struct Current<'a> {
    object: Cow<'a, Object>,
    _held: Reading<'a>,
}

impl Session {
    /// Refuses a file that was closed, and one that was reached by links and read as it was before this process opened it for writing.
    pub fn check_current(&self) -> Result<()> {
        if self.engine.has_ended() {
            return Err(hyperslab_file::Error::Closed.into());
        }
        if !self.engine.is_replaced() {
            return Ok(());
        }
        Err(self.path().map_or(Error::Replaced, |path| Error::Replaced.at(shown_path(path))))
    }

    /// Reads something of a file that may be closed or replaced meanwhile: then another process may have changed it, so that what was read, or why
    /// it could not be read, says nothing.
    pub fn read_current<T>(&self, read: impl FnOnce() -> Result<T>) -> Result<T> {
        self.check_current()?;
        let done = read();
        self.check_current()?;
        done.map_err(|why| self.locate(why))
    }

    /// Refuses an object that was deleted since it was opened.
    pub fn check_alive(&self, life: Life) -> Result<()> {
        self.check_current()?;
        self.engine.context.file().check_alive(life).map_err(|_| Error::Deleted(life.address()))
    }

    /// What an object is now; `known` is what it was when it was opened. In a file that is only read nothing changes.
    pub fn current<'a>(&'a self, known: &'a Opened) -> Result<Current<'a>> {
        let context = &self.engine.context;
        let held = context.file().reading();
        self.check_alive(known.life())?;
        let object = match known.object().filter(|_| !context.file().is_writable()) {
            Some(known) => Cow::Borrowed(known),
            None => Cow::Owned(Object::open(context, known.address()).map_err(|why| self.locate(why.into()))?),
        };
        Ok(Current { object, _held: held })
    }
}

impl Deref for Current<'_> {
    type Target = Object;

    fn deref(&self) -> &Object {
        &self.object
    }
}
