//! The free bytes of a heap whose data lie apart from its header. They are in memory while the file is open, and the header in the file says that there are none,
//! so that names can be put into bytes that nothing names, where they are. When the file is closed, the list of them is written again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyperslab_file::{Attached, OpenFile, Result};

use super::LocalHeap;
use crate::ranges::Ranges;

/// The free pieces of a heap, as long as its file is open.
pub(super) struct FreeList {
    address: u64,
    free: Mutex<Free>,
}

#[derive(Default)]
pub(super) struct Free {
    pub(super) ranges: Ranges,
    /// Whether the header in the file leads to a list of them.
    pub(super) is_listed: bool,
    /// Whether the file does not have them as they are.
    pub(super) changed: bool,
}

impl FreeList {
    /// The free pieces of a heap.
    pub(super) fn of(file: &OpenFile, heap: &LocalHeap) -> Result<Arc<FreeList>> {
        if let Some(kept) = file.attached(heap.address) {
            return Ok(kept);
        }
        let free = Free { ranges: heap.read_free(file)?, is_listed: heap.free.is_some(), changed: false };
        FreeList::attach(file, heap.address, free)
    }

    pub(super) fn attach(file: &OpenFile, address: u64, free: Free) -> Result<Arc<FreeList>> {
        let kept = Arc::new(FreeList { address, free: Mutex::new(free) });
        file.attach(address, kept.clone())?;
        Ok(kept)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attached for FreeList {
    fn flush_pending(&self, file: &OpenFile, all: bool) -> Result<()> {
        let mut free = self.lock();
        if free.changed {
            if !all {
                return Ok(());
            }
            LocalHeap::open(file, self.address)?.write_free(file, &mut free)?;
        }
        file.detach(self.address)
    }
}
