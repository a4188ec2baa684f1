//! The blocks of one object: which they are, or forgotten.

use crate::{OpenFile, Owner, Result};

impl OpenFile {
    /// The addresses of the blocks in memory that belong to the object whose header is at `object`, in rising order.
    pub fn blocks_of(&self, object: u64) -> Vec<u64> {
        self.store.as_ref().map_or_else(Vec::new, |store| store.cache.entries_of(Owner(object)))
    }

    /// Forgets the blocks of one object that the file has as they are, so that the next load reads them again; how many stay, since they were changed or are in
    /// use. None is there in a file that is only read: structures have decoded what they need, and pages belong to no object. Never waits: while an operation or a read goes on, nothing is forgotten, and the answer is `None`. What structures decoded is theirs to forget.
    pub fn evict_object(&self, object: u64) -> Result<Option<usize>> {
        let Some(store) = &self.store else { return Ok(Some(0)) };
        let Some(_alone) = store.operation.try_write() else { return Ok(None) };
        for address in self.blocks_of(object).into_iter().filter(|&address| !self.is_changed(address)) {
            let length = self.cached(address)?.map_or(Ok(0), |block| block.bytes().map(|bytes| bytes.len()))?;
            self.forget_pages(address, length as u64);
        }
        Ok(Some(store.cache.evict(Owner(object))))
    }
}
