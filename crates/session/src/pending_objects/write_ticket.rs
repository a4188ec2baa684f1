//! A write that goes on: from the operation that puts its objects into the heap to the end of the request.

use super::PendingObjects;
use crate::{heap_object_run::HeapObjectRun, heap_objects::HeapObjectId};

/// A write whose objects are in the heap. If it is dropped before it has ended, by a panic, its objects stay there.
#[derive(Debug)]
#[must_use]
pub(crate) struct WriteTicket<'a> {
    pub(super) pending: &'a PendingObjects,
    pub(super) dataset: u64,
    pub(super) number: u64,
}

impl WriteTicket<'_> {
    /// The write ended, and values may name all of its objects.
    pub(crate) fn end(self, replaced: Vec<HeapObjectRun>) {
        self.finish(replaced, |objects| objects);
    }

    /// The write ended, and not all of its objects need be named. Those that are not, to be removed in the operation that calls this; none if the dataset was deleted,
    /// because they went with it.
    pub(crate) fn end_in_part(
        self,
        replaced: Vec<HeapObjectRun>,
        is_named: impl Fn(&HeapObjectId) -> bool,
    ) -> Vec<HeapObjectId> {
        let mut unnamed = Vec::new();
        self.finish(replaced, |objects| {
            let all = objects.into_iter().flat_map(HeapObjectRun::objects);
            let (named, rest): (Vec<_>, Vec<_>) = all.partition(is_named);
            unnamed = rest;
            HeapObjectRun::of(named)
        });
        unnamed
    }

    fn finish(self, replaced: Vec<HeapObjectRun>, named: impl FnOnce(Vec<HeapObjectRun>) -> Vec<HeapObjectRun>) {
        let mut table = self.pending.0.lock();
        let number = table.next();
        // A deleted dataset took its objects along, and with them those that this write replaced.
        let Some(of) = table.datasets.get_mut(&self.dataset) else { return };
        let Some(nth) = of.writing.iter().position(|(write, _)| *write == self.number) else { return };
        let (_, objects) = of.writing.swap_remove(nth);
        of.added.extend(named(objects).into_iter().map(|run| (number, run)));
        of.bytes = replaced.iter().fold(of.bytes, |bytes, run| bytes.saturating_add(run.length()));
        of.replaced.extend(replaced.into_iter().map(|run| (number, run)));
    }
}

impl Drop for WriteTicket<'_> {
    fn drop(&mut self) {
        let mut table = self.pending.0.lock();
        if let Some(of) = table.datasets.get_mut(&self.dataset) {
            of.writing.retain(|(write, _)| *write != self.number);
            if of.is_empty() {
                table.datasets.remove(&self.dataset);
            }
        }
    }
}
