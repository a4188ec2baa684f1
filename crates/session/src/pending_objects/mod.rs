//! Objects of the global heap that the chunk cache and the file see otherwise, by dataset.
//!
//! ```text
//!  begin      objects are in the heap, no value names them yet           in an operation
//!  end        values in the cache, or in the file, name them: *added*;
//!             what these values named before is *replaced*
//!  remove     chunks were written since: what is replaced goes           in an operation
//! ```
//!
//! Each object that a value in the cache names is named by the file, too, or is added here. What is replaced is named by no value that a program sees, but
//! perhaps by the file. It leaves this table and the heap in one operation, and a deleted dataset takes all that is here of it in the operation that deletes
//! it: so nothing is removed twice, when its number may be another object's.

mod write_ticket;

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;

use crate::{heap_object_run::HeapObjectRun, heap_objects::HeapObjectId};

pub(crate) use self::write_ticket::WriteTicket;

/// The objects that wait for chunks to be written.
///
/// The lock guards the whole table. It is a leaf: taken in operations and outside of them, for a few steps.
#[derive(Debug, Default)]
pub(crate) struct PendingObjects(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    /// By the address of the header; only datasets that have something here.
    datasets: HashMap<u64, OfDataset>,
    /// The number of the last write that began or ended: writes that ended by then have lower numbers, or this one.
    last: u64,
}

#[derive(Debug, Default)]
struct OfDataset {
    /// Objects of writes that go on, by the number of the write.
    writing: Vec<(u64, Vec<HeapObjectRun>)>,
    /// By the number that a write ended with, which rises.
    added: VecDeque<(u64, HeapObjectRun)>,
    /// As `added`.
    replaced: VecDeque<(u64, HeapObjectRun)>,
    /// How many bytes are replaced.
    bytes: u64,
    /// How much was here when its chunks could not be written.
    refused: Waiting,
    /// Whether its chunks are being discarded: the file may name again what is replaced.
    is_held: bool,
}

/// How much of a dataset waits for its chunks to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Runs of objects.
    pub(crate) runs: usize,
    /// Bytes of objects that are replaced.
    pub(crate) bytes: u64,
}

impl PendingObjects {
    /// Notes the objects that a write to a dataset put into the heap. Within the operation that put them there: if the dataset is deleted later, they go with it.
    pub(crate) fn begin(&self, dataset: u64, objects: Vec<HeapObjectRun>) -> WriteTicket<'_> {
        let mut table = self.0.lock();
        let number = table.next();
        table.datasets.entry(dataset).or_default().writing.push((number, objects));
        WriteTicket { pending: self, dataset, number }
    }

    /// A number that all writes have which ended so far, or a lower one. To be asked for before chunks are written.
    pub(crate) fn mark(&self) -> u64 {
        self.0.lock().last
    }

    /// The datasets that have something here.
    pub(crate) fn datasets(&self) -> Vec<u64> {
        self.0.lock().datasets.keys().copied().collect()
    }

    /// Whether a dataset has something here.
    pub(crate) fn has(&self, dataset: u64) -> bool {
        self.0.lock().datasets.contains_key(&dataset)
    }

    /// All chunks of these datasets that were changed by writes up to a mark are in the file: so it names what was added. Whether something that was
    /// [replaced](Self::take_replaced) is to be removed.
    pub(crate) fn forget_added(&self, mark: u64, datasets: &[u64]) -> bool {
        self.0.lock().written(mark, datasets, |of| {
            drop(up_to(mark, &mut of.added));
            of.replaced.front().is_some_and(|(number, _)| *number <= mark)
        })
    }

    /// As [`PendingObjects::forget_added`]: what was replaced, and is named by nothing in the file that a flush would leave. Within the operation that removes it.
    pub(crate) fn take_replaced(&self, mark: u64, datasets: &[u64]) -> Vec<HeapObjectRun> {
        let mut taken = Vec::new();
        self.0.lock().written(mark, datasets, |of| {
            let before = taken.len();
            taken.extend(up_to(mark, &mut of.replaced));
            let bytes = taken.iter().skip(before).fold(0u64, |bytes, run| bytes.saturating_add(run.length()));
            of.bytes = of.bytes.saturating_sub(bytes);
            of.refused = Waiting::default();
            true
        });
        taken
    }

    /// How much of a dataset waits, beside what its chunks were [tried](Self::postpone) for.
    pub(crate) fn waiting(&self, dataset: u64) -> Waiting {
        let table = self.0.lock();
        let Some(of) = table.datasets.get(&dataset) else { return Waiting::default() };
        let (Waiting { runs, bytes }, refused) = (of.waiting(), of.refused);
        Waiting { runs: runs.saturating_sub(refused.runs), bytes: bytes.saturating_sub(refused.bytes) }
    }

    /// Chunks of a dataset could not be written: they are tried again when as much waits once more.
    pub(crate) fn postpone(&self, dataset: u64) {
        if let Some(of) = self.0.lock().datasets.get_mut(&dataset) {
            of.refused = of.waiting();
        }
    }

    /// Chunks of a dataset are about to be discarded: nothing of it is removed until it is [taken](Self::take), [released](Self::release) or
    /// [resumed](Self::resume).
    pub(crate) fn hold(&self, dataset: u64) {
        if let Some(of) = self.0.lock().datasets.get_mut(&dataset) {
            of.is_held = true;
        }
    }

    /// It is not known which chunks were discarded: what was replaced stays in the heap.
    pub(crate) fn release(&self, dataset: u64) {
        if let Some(of) = self.0.lock().datasets.get_mut(&dataset) {
            of.replaced.clear();
            (of.is_held, of.bytes) = (false, 0);
        }
    }

    /// No chunk was discarded: all goes on as if that had never been begun.
    pub(crate) fn resume(&self, dataset: u64) {
        if let Some(of) = self.0.lock().datasets.get_mut(&dataset) {
            of.is_held = false;
        }
    }

    /// All that is here of a dataset, each once, within the operation that deletes it or compares it with the file.
    pub(crate) fn take(&self, dataset: u64) -> Vec<HeapObjectId> {
        let of = self.0.lock().datasets.remove(&dataset).unwrap_or_default();
        let ended = of.added.into_iter().chain(of.replaced).map(|(_, run)| run);
        let all = of.writing.into_iter().flat_map(|(_, runs)| runs).chain(ended);
        all.flat_map(HeapObjectRun::objects).collect()
    }
}

impl Table {
    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Does `each` for those of some datasets of which something ended up to a mark, and whose chunks are not being discarded. Whether it was so for any.
    fn written(&mut self, mark: u64, datasets: &[u64], mut each: impl FnMut(&mut OfDataset) -> bool) -> bool {
        let mut any = false;
        for dataset in datasets {
            let Some(of) = self.datasets.get_mut(dataset) else { continue };
            let ended = of.added.front().into_iter().chain(of.replaced.front()).any(|(number, _)| *number <= mark);
            any |= ended && !of.is_held && each(of);
            if of.is_empty() {
                self.datasets.remove(dataset);
            }
        }
        any
    }
}

impl OfDataset {
    fn is_empty(&self) -> bool {
        self.writing.is_empty() && self.added.is_empty() && self.replaced.is_empty()
    }

    fn waiting(&self) -> Waiting {
        Waiting { runs: self.added.len() + self.replaced.len(), bytes: self.bytes }
    }
}

/// Takes out what ended up to a mark.
fn up_to(mark: u64, all: &mut VecDeque<(u64, HeapObjectRun)>) -> impl Iterator<Item = HeapObjectRun> {
    let count = all.partition_point(|(number, _)| *number <= mark);
    all.drain(..count).map(|(_, run)| run)
}

#[cfg(test)]
mod tests;
