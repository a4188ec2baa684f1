//! Adding values to the global heap, and removing them.

use std::{collections::BTreeMap, ops::Range};

use hyperslab_file::{Error, Kind, OpenFile, Result};
use hyperslab_format::{Widths, heap::global};

use super::{Collection, GUESS, WHAT};

/// How many collections with room are kept, as in libhdf5.
const OPEN: usize = 16;
/// The most collections that are in memory at once when objects are taken back.
const MANY: usize = 256;

/// The global heap of a file that is changed. There is one per file, since it knows which collections have room.
///
/// A new object lies in space that nothing in the file names, or behind the objects of a collection with room. Collections are filled in
/// memory; [`GlobalHeap::settle`] writes them, and must be called before the values that name the objects are written.
///
/// An object that is removed stays where it is while the file may name it: until the flush after [`GlobalHeap::remove`]. The next object that
/// needs room, or the next call of `settle`, takes its room back, or the space of the collection if it was the last; so a file that is closed
/// is flushed, settled and flushed.
///
/// ```
/// # use std::sync::Arc;
/// # use hyperslab_file::{CreateOptions, OpenFile, OpenOptions};
/// # use hyperslab_structures::{Collection, GlobalHeap};
/// # let storage = Arc::new(hyperslab_driver::Memory::new());
/// # let file = OpenFile::create(storage, &CreateOptions::default(), &OpenOptions::default())?;
/// let mut heap = GlobalHeap::default();
/// let (collection, index) = heap.add(&file, b"text")?;
/// heap.settle(&file)?;
/// assert_eq!(Collection::read(&file, collection)?.get(index)?, b"text");
/// # Ok::<(), hyperslab_file::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct GlobalHeap {
    /// With room, the one used last at the end.
    open: Vec<Filled>,
    /// Without room, not written yet.
    full: Vec<Filled>,
    /// Objects to be removed, by collection, and from which flush on.
    removed: BTreeMap<u64, (u64, Vec<u16>)>,
}

impl GlobalHeap {
    /// Adds an object; says which collection it is in, and its index there.
    pub fn add(&mut self, file: &OpenFile, value: &[u8]) -> Result<(u64, u32)> {
        let need = object_size(value.len(), file.widths());
        if let Some(last) = self.open.last_mut().filter(|last| last.has_room(need)) {
            return Ok((last.address, u32::from(last.add(value, file.widths()))));
        }
        let room = |heap: &GlobalHeap| heap.open.iter().rposition(|filled| filled.has_room(need));
        let mut nth = room(self);
        if nth.is_none() && self.take_back(file)? {
            nth = room(self);
        }
        let mut filled = match nth {
            Some(nth) => self.open.remove(nth),
            None => {
                // Those without room for anything, and those that were used longest ago.
                let least = object_size(0, file.widths());
                self.full.extend(self.open.extract_if(.., |filled| !filled.has_room(least)));
                let many = self.open.len().saturating_sub(OPEN);
                self.full.extend(self.open.drain(..many));
                Filled::create(file, need)?
            }
        };
        let place = (filled.address, u32::from(filled.add(value, file.widths())));
        self.open.push(filled);
        Ok(place)
    }

    /// Removes an object, after the next flush if the file may name it. The values that named it were written before, or will be by that
    /// flush. What is not there is removed already.
    pub fn remove(&mut self, file: &OpenFile, collection: u64, index: u32) {
        let from = file.flushes() + u64::from(!file.is_fresh(collection));
        if let Ok(index) = u16::try_from(index) {
            let (when, indexes) = self.removed.entry(collection).or_default();
            *when = from.max(*when);
            indexes.push(index);
        }
    }

    /// Whether there is something to take back, now or after the next flush.
    pub fn has_removed(&self) -> bool {
        !self.removed.is_empty()
    }

    /// Writes all collections that were changed, and takes back what was removed before the last flush.
    pub fn settle(&mut self, file: &OpenFile) -> Result<()> {
        self.take_back(file)?;
        write(file, self.open.iter_mut().chain(&mut self.full))?;
        self.full.clear();
        self.open.retain(|filled| !filled.objects.is_empty());
        self.open.iter_mut().for_each(|filled| filled.changed = false);
        let many = self.open.len().saturating_sub(OPEN);
        self.open.drain(..many);
        Ok(())
    }

    /// Takes removed objects out of their collections; whether there were any.
    fn take_back(&mut self, file: &OpenFile) -> Result<bool> {
        if self.removed.is_empty() {
            return Ok(false);
        }
        let now = file.flushes();
        let ready: Vec<u64> =
            self.removed.iter().filter(|(_, (when, _))| *when <= now).map(|(&address, _)| address).collect();
        let mut taken = Vec::new();
        for address in &ready {
            let Some((_, indexes)) = self.removed.remove(address) else { continue };
            let here = |all: &mut Vec<Filled>| {
                all.iter().position(|filled| filled.address == *address).map(|nth| all.swap_remove(nth))
            };
            // What a bad value named may be anything: then there is nothing to take back.
            let filled = here(&mut self.open).or_else(|| here(&mut self.full));
            let Some(mut filled) = filled.or_else(|| Filled::read(file, *address).ok()) else { continue };
            if filled.remove(&indexes, file.widths()) || filled.changed {
                taken.push(filled);
            }
            if taken.len() == MANY {
                write(file, taken.iter_mut())?;
                taken.clear();
            }
        }
        self.open.splice(..0, taken);
        Ok(!ready.is_empty())
    }
}

/// Writes collections that were changed, and gives back the space of those that have no objects any more.
fn write<'a>(file: &OpenFile, all: impl Iterator<Item = &'a mut Filled>) -> Result<()> {
    let mut parts = Vec::new();
    for filled in all.filter(|filled| filled.changed) {
        if filled.objects.is_empty() {
            file.free(filled.address, filled.bytes.len() as u64)?;
        } else {
            parts.push((filled.address, filled.image(file.widths())));
        }
    }
    if parts.is_empty() { Ok(()) } else { file.write_raw(WHAT, &parts) }
}

/// A collection that is being filled.
#[derive(Debug)]
struct Filled {
    address: u64,
    /// The collection as it will be in the file; zeros behind what is used.
    bytes: Vec<u8>,
    /// Index, references, and where the bytes are.
    objects: Vec<(u16, u16, Range<usize>)>,
    /// How much of the collection is taken.
    used: usize,
    /// The index of the next object, if not all were used once.
    next: Option<u16>,
    changed: bool,
}

impl Filled {
    /// A new collection with room for an object that takes `need` bytes.
    fn create(file: &OpenFile, need: usize) -> Result<Filled> {
        let head = global::head_size(file.widths());
        let size = need.saturating_add(head).max(GUESS as usize);
        let address = file.allocate(Kind::Raw, size as u64)?;
        Ok(Filled { changed: true, ..Filled::empty(address, size, file.widths())? })
    }

    fn empty(address: u64, size: usize, widths: Widths) -> Result<Filled> {
        let bytes = global::encode(size, &[], widths)?;
        let (objects, used) = (Vec::with_capacity(128.min(size / 32)), global::head_size(widths));
        Ok(Filled { address, bytes, objects, used, next: Some(1), changed: false })
    }

    fn read(file: &OpenFile, address: u64) -> Result<Filled> {
        let (collection, widths) = (Collection::read(file, address)?, file.widths());
        let image = collection.own();
        let size = global::decode_size(image, widths).map_err(Error::at(address))?;
        if size != image.len() as u64 {
            return Err(Error::broken(WHAT, address, "it is cut"));
        }
        let empty = Filled::empty(address, image.len(), widths)?;
        let found = global::decode_counted(image, widths).map_err(Error::at(address))?;
        Ok(found.into_iter().fold(empty, |mut filled, object| {
            filled.push(object.index, object.references, image.get(object.bytes).unwrap_or_default(), widths);
            filled
        }))
    }

    fn has_room(&self, need: usize) -> bool {
        self.bytes.len().saturating_sub(self.used) >= need
            && (self.next.is_some() || self.objects.len() < usize::from(u16::MAX))
    }

    fn add(&mut self, value: &[u8], widths: Widths) -> u16 {
        let unused = || (1..=u16::MAX).find(|index| self.objects.iter().all(|(used, ..)| used != index));
        let index = self.next.or_else(unused).unwrap_or(u16::MAX);
        self.push(index, 0, value, widths);
        self.changed = true;
        index
    }

    fn push(&mut self, index: u16, references: u16, value: &[u8], widths: Widths) {
        let start = self.used + global::head_size(widths);
        let room = self.bytes.get_mut(self.used..).unwrap_or_default();
        global::place(room, index, references, value, widths);
        self.objects.push((index, references, start..start + value.len()));
        self.used += object_size(value.len(), widths);
        self.next = self.next.and_then(|next| next.max(index).checked_add(u16::from(index >= next)));
    }

    /// Each object with its index and references.
    fn values(&self) -> impl Iterator<Item = (u16, u16, &[u8])> {
        let bytes = |place: &Range<usize>| self.bytes.get(place.clone()).unwrap_or_default();
        self.objects.iter().map(move |(index, references, place)| (*index, *references, bytes(place)))
    }

    /// Removes objects; the others move together and keep their indexes. Whether something was removed.
    fn remove(&mut self, indexes: &[u16], widths: Widths) -> bool {
        let mut sorted = indexes.to_vec();
        sorted.sort_unstable();
        let Ok(left) = Filled::empty(self.address, self.bytes.len(), widths) else { return false };
        let kept = self.values().filter(|(index, ..)| sorted.binary_search(index).is_err());
        let mut left = kept.fold(left, |mut left, (index, references, bytes)| {
            left.push(index, references, bytes, widths);
            left
        });
        let less = left.objects.len() < self.objects.len();
        left.changed = self.changed || less;
        *self = left;
        less
    }

    /// The collection, with its free space named behind the last object.
    fn image(&mut self, widths: Widths) -> &[u8] {
        global::place(self.bytes.get_mut(self.used..).unwrap_or_default(), 0, 0, &[], widths);
        &self.bytes
    }
}

/// What an object of `length` bytes takes of a collection.
fn object_size(length: usize, widths: Widths) -> usize {
    global::head_size(widths).saturating_add(length.next_multiple_of(8))
}
