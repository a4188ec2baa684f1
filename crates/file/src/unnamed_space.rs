//! Values that are written between two operations.
//!
//! ```text
//!  operation              no lock of the file            operation
//!  take_space: allocate → write the values there → UnnamedSpace::name: let the file name them
//! ```
//!
//! Between the two, reads, other operations and flushes go on. A flush persists nothing of it but the end of the file: a process that is killed then loses
//! the space, and nothing else. A close waits, so that the lists of free space that it writes are complete and nothing is written behind it.

use hyperslab_alloc::Span;

use crate::{
    Error, Kind, OpenFile, Result,
    store::{InFlight, Store},
};

/// Space for values that nothing in the file names yet. The file is not closed while this lives. If it is dropped, the space is free again. To be dropped outside of
/// operations.
#[must_use]
pub struct UnnamedSpace<'a> {
    file: &'a OpenFile,
    taken: Vec<(Kind, Span)>,
    /// Dropped last: the file is closed after the space was given back.
    _in_flight: InFlight<'a>,
}

impl OpenFile {
    /// An operation in which `take` allocates space for values, and changes nothing else: if it fails, nothing has happened.
    pub fn take_space<T, E: From<Error> + std::error::Error + 'static>(
        &self,
        take: impl FnOnce() -> Result<T, E>,
    ) -> Result<(T, UnnamedSpace<'_>), E> {
        let store = self.store()?;
        let ((result, taken), in_flight) = self.operate(|| Ok::<_, E>((self.attempt(take)?, store.writes.begin())))?;
        Ok((result, UnnamedSpace { file: self, taken, _in_flight: in_flight }))
    }
}

impl UnnamedSpace<'_> {
    /// Adds space that was taken later. All of it is named together.
    pub fn append(&mut self, mut more: UnnamedSpace<'_>) {
        self.taken.append(&mut more.taken);
    }

    /// An operation in which `change` lets the file name the space, or gives back what it does not name. If it fails before it changes anything, the space is
    /// free again.
    pub fn name<T, E: From<Error> + std::error::Error + 'static>(
        mut self,
        change: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let named = self.file.operate(change)?;
        self.taken.clear();
        Ok(named)
    }
}

impl Drop for UnnamedSpace<'_> {
    fn drop(&mut self) {
        if !self.taken.is_empty() {
            // Of a file that cannot be changed any more, no space is given out.
            let _ = self.file.operate(|| self.file.untake(&self.taken));
        }
    }
}

impl OpenFile {
    /// Gives back space that nothing names, and forgets values that wait to be written there.
    fn untake(&self, taken: &[(Kind, Span)]) -> Result<()> {
        let store = self.store()?;
        store.space.lock().untake(taken);
        self.forget_waiting(store, taken);
        Ok(())
    }

    /// Forgets values that wait to be written to these ranges: they must not come over what lies there next.
    pub(crate) fn forget_waiting(&self, store: &Store, taken: &[(Kind, Span)]) {
        let place = |address: u64| self.base.saturating_add(address);
        taken.iter().for_each(|(_, span)| store.waiting.lock().forget(&(place(span.start)..place(span.end()))));
    }
}
