//! What a flush does with what is kept of a heap: objects leave it, and free ranges go into the file when that is closed.

use hyperslab_file::{Attached, OpenFile, Result};

use super::{change::Change, state::State};

impl Attached for State {
    fn flush_pending(&self, file: &OpenFile, all: bool) -> Result<()> {
        let mut inner = self.lock();
        let waits = inner.free.as_ref().is_some_and(|free| free.is_changed() && free.is_in_memory());
        if waits && inner.removed.is_empty() && !all {
            return Ok(());
        }
        let mut change = Change::of(file.into(), self.address, &mut inner)?;
        change.let_go()?;
        if all {
            change.write_free()?;
        } else {
            change.forget_written()?;
        }
        let is_written = inner.free.as_ref().is_none_or(|free| !free.is_changed());
        if is_written && inner.removed.is_empty() { file.detach(self.address) } else { Ok(()) }
    }
}
