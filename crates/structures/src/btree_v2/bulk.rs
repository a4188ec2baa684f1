//! Many records at once, in rising order: all that belong to a leaf are added to it on one way down.

use std::cmp::Ordering;

use hyperslab_file::{Error, OpenFile, Result};

use super::{Tree, WHAT, balance::Change, path::Path};

impl Tree {
    /// Adds records, one after the other and in rising order, or puts them in the place of equal ones. `order` tells how a stored record stands to
    /// one of them. The tree is the same as if they came one by one.
    pub fn put_sorted(
        &mut self,
        file: &OpenFile,
        records: &[u8],
        order: &dyn Fn(&[u8], &[u8]) -> Ordering,
    ) -> Result<()> {
        let size = self.record_size();
        if !records.len().is_multiple_of(size) {
            let why = format!("{} bytes of records of {size} bytes", records.len());
            return Err(Error::broken(WHAT, self.address, why));
        }
        let mut rest = records;
        while !rest.is_empty() {
            let taken = self.put_run(file, rest, order)?;
            rest = rest.get(taken * size..).unwrap_or_default();
        }
        Ok(())
    }

    /// Adds the first records, as many as belong to the leaf of the first one and have room there: one at least. Says how many.
    fn put_run(&mut self, file: &OpenFile, records: &[u8], order: &dyn Fn(&[u8], &[u8]) -> Ordering) -> Result<usize> {
        let size = self.record_size();
        let first = records.get(..size).unwrap_or_default();
        let mut to_first = |stored: &[u8]| Ok(order(stored, first));
        let path = Path::find(self.owned(file), (&self.header, self.address), true, &mut to_first)?;
        let (found, in_leaf) = path.as_ref().map_or((false, false), |path| (path.is_found(), path.ends_in_leaf()));
        let room = path.as_ref().map_or(0, |path| path.room(&self.header));
        let Some(path) = path.filter(|_| found || room > 0) else {
            let header = Change::of(self, file)?.inserted(first, &mut to_first)?;
            self.set_header(file, header)?;
            return Ok(1);
        };
        if !in_leaf {
            let root = path.modify(self.owned(file), &self.header, &mut |stored| stored.copy_from_slice(first))?;
            self.set_root(file, root)?;
            return Ok(1);
        }
        let (mut taken, mut last) = (0, None);
        let is_behind = |record: &[u8]| path.bound.as_ref().is_some_and(|bound| order(bound, record).is_le());
        let root = path.add(self.owned(file), &self.header, |leaf, mut from| {
            let mut added = 0;
            for record in records.chunks_exact(size) {
                if is_behind(record) || last.is_some_and(|last| order(last, record).is_ge()) {
                    break;
                }
                let (at, found) = leaf.locate_from(from, &mut |stored| Ok(order(stored, record)))?;
                if found {
                    leaf.record_mut(at)?.copy_from_slice(record);
                } else if added < room {
                    leaf.insert(at, record);
                    added += 1;
                } else {
                    break;
                }
                (from, last, taken) = (at + 1, Some(record), taken + 1);
            }
            Ok(added)
        })?;
        self.set_root(file, root)?;
        if taken == 0 {
            return Err(Error::broken(WHAT, self.address, "a record that belongs to no leaf"));
        }
        Ok(taken)
    }
}
