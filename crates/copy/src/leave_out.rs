//! What cannot be read of the source of a copy, and is left out.

use hyperslab_object::PathId;
use hyperslab_session::{Error, Lost, Result};

use crate::{
    damage::{Step, Trouble},
    tree::Copier,
};

impl Copier<'_> {
    /// Notes what is wrong with the source of a step; the step is left out. All else is an error at once.
    pub(super) fn leave_out<T>(&mut self, step: Step<T>, path: impl FnOnce(&Self) -> String) -> Result<Option<T>> {
        match step {
            Ok(done) => Ok(Some(done)),
            Err(Trouble::Source(why)) => {
                let path = path(self);
                self.lost.push(Lost::new(path, why));
                Ok(None)
            }
            Err(Trouble::Target(why)) => Err(why),
        }
    }

    /// The path of an object as text.
    pub(super) fn path(&self, path: PathId) -> String {
        String::from_utf8_lossy(&self.paths.get(path)).into_owned()
    }

    /// An error if something was left out, unless that is allowed.
    pub(super) fn check_whole(&mut self) -> Result<()> {
        match self.skips || self.lost.is_empty() {
            true => Ok(()),
            false => Err(Error::Damaged(std::mem::take(&mut self.lost).into())),
        }
    }
}
