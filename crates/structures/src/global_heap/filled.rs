//! A collection of the global heap while it is filled: as it will be in the file.

use hyperslab_file::{Error, Kind, OpenFile, Result};
use hyperslab_format::{Widths, heap::global};

use super::{Collection, GUESS, WHAT};

/// A collection that is being filled.
#[derive(Debug)]
pub(super) struct Filled {
    pub(super) address: u64,
    /// The collection as it will be in the file; zeros behind what is used.
    pub(super) bytes: Vec<u8>,
    /// How many objects it has.
    pub(super) objects: usize,
    /// How much of the collection is taken.
    used: usize,
    /// The index of the next object, if not all were used once.
    next: Option<u16>,
    /// The first byte that the storage does not have as it is here.
    changed: Option<usize>,
    /// Whether the storage has some form of it.
    pub(super) is_stored: bool,
    /// Whether it was made in the attempt that goes on.
    pub(super) is_new: bool,
    /// Objects that were added to it in the attempt that goes on, if it is not new.
    pub(super) added: Vec<u16>,
}

impl Filled {
    /// A new collection with room for an object that takes `need` bytes, in the memory of another. It has no place in the file yet.
    pub(super) fn create(need: usize, memory: Vec<u8>, widths: Widths) -> Result<Filled> {
        let size = need.saturating_add(global::head_size(widths)).max(GUESS as usize);
        let empty = Filled::empty(0, size, memory, widths)?;
        Ok(Filled { changed: Some(0), is_stored: false, is_new: true, ..empty })
    }

    /// Gives it a place.
    pub(super) fn place(mut self, file: &OpenFile) -> Result<Filled> {
        self.address = file.allocate(Kind::Raw, self.bytes.len() as u64)?;
        Ok(self)
    }

    fn empty(address: u64, size: usize, mut bytes: Vec<u8>, widths: Widths) -> Result<Filled> {
        let used = global::head_size(widths);
        bytes.clear();
        bytes.extend(global::encode_head(size, widths)?);
        bytes.resize(size, 0);
        let (changed, is_stored, is_new, added) = (None, true, false, Vec::new());
        Ok(Filled { address, bytes, objects: 0, used, next: Some(1), changed, is_stored, is_new, added })
    }

    pub(super) fn read(file: &OpenFile, address: u64) -> Result<Filled> {
        let (collection, widths) = (Collection::read(file, address)?, file.widths());
        let image = collection.own();
        let size = global::decode_size(image, widths).map_err(Error::at(address))?;
        if size != image.len() as u64 {
            return Err(Error::broken(WHAT, address, "it is cut"));
        }
        let empty = Filled::empty(address, image.len(), Vec::new(), widths)?;
        let found = global::decode_counted(image, widths).map_err(Error::at(address))?;
        Ok(found.into_iter().fold(empty, |mut filled, object| {
            filled.push(object.index, object.references, image.get(object.bytes).unwrap_or_default(), widths);
            filled
        }))
    }

    /// How many bytes are not taken.
    pub(super) fn room(&self) -> usize {
        self.bytes.len().saturating_sub(self.used)
    }

    pub(super) fn has_room(&self, need: usize) -> bool {
        self.room() >= need && (self.next.is_some() || self.objects < usize::from(u16::MAX))
    }

    pub(super) fn add(&mut self, value: &[u8], widths: Widths) -> u16 {
        let unused = || {
            let objects = self.values(widths);
            (1..=u16::MAX).find(|index| objects.iter().all(|(used, ..)| used != index))
        };
        let index = self.next.or_else(unused).unwrap_or(u16::MAX);
        // Objects are added one behind the other, so that the first change stays the first.
        self.changed.get_or_insert(self.used);
        self.push(index, 0, value, widths);
        if !self.is_new {
            self.added.push(index);
        }
        index
    }

    /// The attempt that goes on succeeded.
    pub(super) fn keep(&mut self) {
        self.is_new = false;
        self.added.clear();
    }

    /// The attempt that goes on failed. The storage may have a part of it, so that all of it is written once more.
    pub(super) fn undo(&mut self, widths: Widths) {
        let added = std::mem::take(&mut self.added);
        if !added.is_empty() {
            self.remove(&added, widths);
        }
    }

    fn push(&mut self, index: u16, references: u16, value: &[u8], widths: Widths) {
        let room = self.bytes.get_mut(self.used..).unwrap_or_default();
        global::place(room, index, references, value, widths);
        self.objects += 1;
        self.used += object_size(value.len(), widths);
        self.next = self.next.and_then(|next| next.max(index).checked_add(u16::from(index >= next)));
    }

    /// Each object with its index and references.
    fn values(&self, widths: Widths) -> Vec<(u16, u16, &[u8])> {
        let used = self.bytes.get(..self.used).unwrap_or(&self.bytes);
        let objects = global::decode_counted(used, widths).unwrap_or_default().into_iter();
        objects.map(|object| (object.index, object.references, used.get(object.bytes).unwrap_or_default())).collect()
    }

    /// Removes objects; the others move together and keep their indexes. Whether something was removed.
    pub(super) fn remove(&mut self, indexes: &[u16], widths: Widths) -> bool {
        let mut sorted = indexes.to_vec();
        sorted.sort_unstable();
        let Ok(left) = Filled::empty(self.address, self.bytes.len(), Vec::new(), widths) else { return false };
        let kept = self.values(widths).into_iter().filter(|(index, ..)| sorted.binary_search(index).is_err());
        let mut left = kept.fold(left, |mut left, (index, references, bytes)| {
            left.push(index, references, bytes, widths);
            left
        });
        let less = left.objects < self.objects;
        (left.is_stored, left.is_new, left.added) = (self.is_stored, self.is_new, std::mem::take(&mut self.added));
        left.changed = if less { Some(0) } else { self.changed };
        *self = left;
        less
    }

    /// Whether the storage does not have all of it.
    pub(super) fn is_changed(&self) -> bool {
        self.changed.is_some()
    }

    /// The storage has all of it now.
    pub(super) fn stored(&mut self) {
        (self.changed, self.is_stored) = (None, true);
    }

    /// What the storage does not have, and where it belongs; the free space is named behind the last object.
    pub(super) fn image(&mut self, widths: Widths) -> (u64, &[u8]) {
        global::place(self.bytes.get_mut(self.used..).unwrap_or_default(), 0, 0, &[], widths);
        let size = self.bytes.len();
        let start = self.changed.unwrap_or(size);
        let end = if start == 0 { size } else { self.used.saturating_add(global::head_size(widths)).min(size) };
        (self.address.saturating_add(start as u64), self.bytes.get(start..end).unwrap_or_default())
    }
}

/// What an object of `length` bytes takes of a collection.
pub(super) fn object_size(length: usize, widths: Widths) -> usize {
    global::head_size(widths).saturating_add(length.next_multiple_of(8))
}
