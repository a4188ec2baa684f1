//! What is kept of a heap between operations: free ranges, objects that are to leave it.
//!
//! An object that was removed is still named by the file until the next flush. So it leaves the heap after that one: then its space is free, the
//! statistics and the tree of huge objects change. The header of the heap can then always be written before what names its objects.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyperslab_file::{OpenFile, Result};
use hyperslab_format::heap::fractal::HeapId;
use rustc_hash::FxHashSet;

use super::free_list::FreeList;

/// What is kept of a heap while its file is open.
pub(super) struct State {
    pub(super) address: u64,
    inner: Mutex<Inner>,
}

#[derive(Default)]
pub(super) struct Inner {
    /// How many times the heap was changed, while this is kept.
    changes: u64,
    /// The free ranges, once they were needed.
    pub(super) free: Option<FreeList>,
    /// Objects that are to leave the heap, with the number of flushes there had been.
    pub(super) removed: Vec<(u64, HeapId)>,
    /// Those that have a place or a number: whether they are huge, and that.
    known: FxHashSet<(bool, u64)>,
}

impl State {
    /// What is kept of the heap at `address`.
    pub(super) fn of(file: &OpenFile, address: u64) -> Result<Arc<State>> {
        if let Some(state) = file.attached(address) {
            return Ok(state);
        }
        let state = Arc::new(State { address, inner: Mutex::default() });
        file.attach(address, state.clone())?;
        Ok(state)
    }

    /// A stamp for what was read of the heap at `address`: the number of flushes, and of changes since the last one.
    pub(super) fn stamp(file: &OpenFile, address: u64) -> (u64, u64) {
        (file.flushes(), file.attached::<State>(address).map_or(0, |state| state.lock().changes))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Counts a change, so that what others have read is read again.
    pub(super) fn touch(&mut self) {
        self.changes += 1;
    }

    /// Notes that an object is to leave the heap.
    pub(super) fn remove(&mut self, flushes: u64, id: HeapId) {
        self.known.extend(place(&id));
        self.removed.push((flushes, id));
    }

    /// Whether an object is to leave the heap.
    pub(super) fn is_removed(&self, id: &HeapId) -> bool {
        place(id).is_some_and(|place| self.known.contains(&place))
    }

    /// The objects that the file no longer names.
    pub(super) fn take_removed(&mut self, flushes: u64) -> Vec<HeapId> {
        // They are in the order in which they were noted.
        let count = self.removed.partition_point(|(noted, _)| *noted < flushes);
        let gone: Vec<HeapId> = self.removed.drain(..count).map(|(_, id)| id).collect();
        for place in gone.iter().filter_map(place) {
            self.known.remove(&place);
        }
        gone
    }
}

/// What an object is known by; tiny ones may be equal.
fn place(id: &HeapId) -> Option<(bool, u64)> {
    match id {
        HeapId::Managed { offset, .. } => Some((false, *offset)),
        HeapId::Huge(number) => Some((true, *number)),
        HeapId::HugeDirect(huge) => Some((true, huge.address)),
        HeapId::Tiny(_) => None,
    }
}
