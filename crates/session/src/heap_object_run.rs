//! Objects of the global heap that follow each other: what one write puts there mostly does.

use crate::heap_objects::HeapObjectId;

/// Objects of one collection, numbered one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeapObjectRun {
    /// Their collection.
    address: u64,
    /// The number of the first.
    first: u32,
    /// How many they are.
    count: u32,
    /// How long all of them are, as far as that is known.
    length: u64,
}

impl HeapObjectRun {
    /// All objects of a new collection.
    pub(crate) fn collection(address: u64, count: u32) -> HeapObjectRun {
        HeapObjectRun { address, first: 1, count, length: 0 }
    }

    /// The runs of some objects.
    pub(crate) fn of(objects: impl IntoIterator<Item = HeapObjectId>) -> Vec<HeapObjectRun> {
        let mut runs = Vec::new();
        objects.into_iter().for_each(|object| HeapObjectRun::push(&mut runs, object));
        runs
    }

    /// Adds an object to the last run, or as a new one.
    pub(crate) fn push(runs: &mut Vec<HeapObjectRun>, HeapObjectId { address, index, length }: HeapObjectId) {
        match runs.last_mut() {
            Some(last) if last.address == address && last.first.checked_add(last.count) == Some(index) => {
                last.count += 1;
                last.length = last.length.saturating_add(length);
            }
            _ => runs.push(HeapObjectRun { address, first: index, count: 1, length }),
        }
    }

    /// How long all of them are.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Each of them.
    pub(crate) fn objects(self) -> impl Iterator<Item = HeapObjectId> {
        let HeapObjectRun { address, first, count, length } = self;
        let length = length / u64::from(count.max(1));
        (first..first.saturating_add(count)).map(move |index| HeapObjectId { address, index, length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_have_the_objects_that_they_were_made_of() {
        let object = |address, index| HeapObjectId { address, index, length: 8 };
        let objects = [object(1, 1), object(1, 2), object(1, 4), object(2, 5), object(2, 6), object(2, u32::MAX)];
        let runs = HeapObjectRun::of(objects);
        assert_eq!(runs.iter().map(|run| run.count).collect::<Vec<_>>(), [2, 1, 2, 1]);
        assert_eq!(runs.iter().map(HeapObjectRun::length).sum::<u64>(), 48);
        let found: Vec<_> = runs.into_iter().flat_map(HeapObjectRun::objects).collect();
        assert_eq!(found[..5], objects[..5]);
    }
}
