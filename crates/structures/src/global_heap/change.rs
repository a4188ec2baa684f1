//! Adding values to the global heap, and removing them.

use std::collections::BTreeMap;

use hyperslab_file::{OpenFile, Result};

use super::{
    Pile, WHAT,
    filled::{Filled, object_size},
};

/// How many collections with room are kept, as in libhdf5.
pub(super) const OPEN: usize = 16;
/// Collections with less room are not noted for the next writer.
const WORTH: usize = 64;
/// The most collections that are in memory at once when objects are taken back.
const MANY: usize = 256;
/// So many full collections are written at once, and their memory is filled again.
const BATCH: usize = 64;

/// The global heap of a file that is changed. There is one per file, since it knows which collections have room.
///
/// A new object lies in space that nothing in the file names, or behind the objects of a collection with room. Collections are filled in
/// memory; [`GlobalHeap::commit`] writes them, and must be called before the values that name the objects are written.
///
/// An object that is removed stays where it is while the file may name it: until the flush after [`GlobalHeap::remove`]. The next object that
/// needs room, or the next call of `commit`, takes its room back, or the space of the collection if it was the last; so a file that is closed
/// is flushed, committed and flushed.
///
/// ```
/// # use std::sync::Arc;
/// # use hyperslab_file::{CreateOptions, OpenFile, OpenOptions};
/// # use hyperslab_structures::{Collection, GlobalHeap};
/// # let storage = Arc::new(hyperslab_driver::Memory::new());
/// # let file = OpenFile::create(storage, &CreateOptions::default(), &OpenOptions::default())?;
/// let mut heap = GlobalHeap::default();
/// let (collection, index) = heap.add(&file, b"text")?;
/// heap.commit(&file)?;
/// assert_eq!(Collection::read(&file, collection)?.get(index)?, b"text");
/// # Ok::<(), hyperslab_file::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct GlobalHeap {
    /// With room, the one used last at the end.
    open: Vec<Filled>,
    /// Without room, not written yet.
    full: Vec<Filled>,
    /// Memory of collections that were written.
    spare: Vec<Vec<u8>>,
    /// Objects to be removed, by collection, and from which flush on.
    removed: BTreeMap<u64, (u64, Vec<u16>)>,
    /// After how many flushes objects were last taken back, unless some could be since.
    taken_back: Option<u64>,
    /// After how many flushes values in the file were last changed, so that they name new objects.
    shown: Option<u64>,
    /// Objects of the attempt that goes on, by collection, in collections that were there before and are not in memory any more.
    added: Vec<(u64, Vec<u16>)>,
    /// Whether the collections that the file noted as having room are in `open`, or were.
    recalled: bool,
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
        if nth.is_none() && !self.recalled {
            self.recall(file);
            nth = room(self);
        }
        let mut filled = match nth {
            Some(nth) => self.open.remove(nth),
            None => {
                self.put_aside(file)?;
                Filled::create(need, self.spare.pop().unwrap_or_default(), file.widths())?.place(file)?
            }
        };
        let place = (filled.address, u32::from(filled.add(value, file.widths())));
        self.open.push(filled);
        Ok(place)
    }

    /// Takes over collections that were filled without a file; says where each is.
    pub fn adopt(&mut self, file: &OpenFile, pile: Pile) -> Result<Vec<u64>> {
        let mut places = Vec::with_capacity(pile.all.len());
        for filled in pile.all {
            let filled = filled.place(file)?;
            places.push(filled.address);
            self.open.push(filled);
        }
        self.put_aside(file)?;
        Ok(places)
    }

    /// Reads the collections that have room as the file noted them. One that cannot be read is passed over.
    fn recall(&mut self, file: &OpenFile) {
        self.recalled = true;
        let is_here = |address: &u64| self.open.iter().chain(&self.full).any(|filled| filled.address == *address);
        let noted: Vec<u64> = file.collections_with_room().into_iter().filter(|address| !is_here(address)).collect();
        let read = noted.into_iter().filter_map(|address| Filled::read(file, address).ok());
        self.open.splice(..0, read);
    }

    /// Notes which collections have room, for the next writer of the file.
    fn note(&self, file: &OpenFile) -> Result<()> {
        let is_open = |address: &u64| self.open.iter().any(|filled| filled.address == *address);
        let mut noted = if self.recalled { Vec::new() } else { file.collections_with_room() };
        noted.retain(|address| !is_open(address));
        noted.extend(self.open.iter().filter(|filled| filled.has_room(WORTH)).map(|filled| filled.address));
        noted.drain(..noted.len().saturating_sub(OPEN));
        file.note_collections(noted)
    }

    /// If many collections have room, those with the least are full.
    fn close_many(&mut self) {
        let many = self.open.len().saturating_sub(OPEN);
        if many > 0 {
            self.open.sort_by_key(Filled::room);
            self.full.extend(self.open.drain(..many));
        }
    }

    /// Collections without room for anything, and those with little if there are many, are full; many of these are written.
    fn put_aside(&mut self, file: &OpenFile) -> Result<()> {
        let least = object_size(0, file.widths());
        self.full.extend(self.open.extract_if(.., |filled| !filled.has_room(least)));
        self.close_many();
        if self.full.len() >= BATCH {
            free_empty(file, &mut self.full)?;
            write(file, self.shown, self.full.iter_mut())?;
            note_added(&mut self.added, &mut self.full);
            let memory = self.full.drain(..).map(|filled| filled.bytes);
            self.spare.extend(memory.take(BATCH));
        }
        Ok(())
    }

    /// To be called after each [attempt](OpenFile::tentative) to add objects that succeeded.
    pub fn keep(&mut self) {
        self.added.clear();
        self.open.iter_mut().chain(&mut self.full).for_each(Filled::keep);
    }

    /// To be called after each attempt to add objects that failed: the heap is as it was before. The space of new collections is free already.
    pub fn undo(&mut self, file: &OpenFile) {
        for (address, added) in std::mem::take(&mut self.added) {
            self.removed.entry(address).or_default().1.extend(added);
            self.taken_back = None;
        }
        for all in [&mut self.open, &mut self.full] {
            all.retain(|filled| !filled.is_new);
            all.iter_mut().for_each(|filled| filled.undo(file.widths()));
        }
        // The file is open for writing, so this cannot fail.
        let _ = self.note(file);
    }

    /// To be called before values that the file names already get to name objects of this heap: from now on the file may name any of them, and reaches so far.
    pub fn show(&mut self, file: &OpenFile) -> Result<()> {
        self.shown = Some(file.flushes());
        file.publish_end()
    }

    /// Removes an object, after the next flush if the file may name it: says whether that is so. The values that named it were written before, or
    /// will be by that flush. What is not there is removed already.
    pub fn remove(&mut self, file: &OpenFile, collection: u64, index: u32) -> bool {
        let now = file.flushes();
        let is_named = !file.is_fresh(collection) || self.shown == Some(now);
        let from = now + u64::from(is_named);
        if let Ok(index) = u16::try_from(index) {
            let (when, indexes) = self.removed.entry(collection).or_default();
            *when = from.max(*when);
            indexes.push(index);
            self.taken_back = self.taken_back.filter(|_| is_named);
        }
        is_named
    }

    /// Whether there is something to take back, now or after the next flush.
    pub fn has_removed(&self) -> bool {
        !self.removed.is_empty()
    }

    /// Writes all collections that were changed, and takes back what was removed before the last flush.
    pub fn commit(&mut self, file: &OpenFile) -> Result<()> {
        self.take_back(file)?;
        free_empty(file, &mut self.open)?;
        free_empty(file, &mut self.full)?;
        write(file, self.shown, self.open.iter_mut().chain(&mut self.full))?;
        self.open.iter_mut().for_each(|filled| filled.stored());
        self.close_many();
        note_added(&mut self.added, &mut self.full);
        self.full.clear();
        self.spare.clear();
        self.note(file)
    }

    /// Takes removed objects out of their collections; whether there were any.
    fn take_back(&mut self, file: &OpenFile) -> Result<bool> {
        let now = file.flushes();
        if self.removed.is_empty() || self.taken_back == Some(now) {
            return Ok(false);
        }
        self.taken_back = Some(now);
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
            if filled.remove(&indexes, file.widths()) || filled.is_changed() {
                taken.push(filled);
            }
            if taken.len() == MANY {
                let written = free_empty(file, &mut taken).and_then(|()| write(file, self.shown, taken.iter_mut()));
                if written.is_err() {
                    // They wait for the next call of `commit`.
                    self.open.splice(..0, taken);
                    return written.map(|()| true);
                }
                note_added(&mut self.added, &mut taken);
                taken.clear();
            }
        }
        self.open.splice(..0, taken);
        Ok(!ready.is_empty())
    }
}

/// Notes which of the collections that leave memory got objects in the attempt that goes on.
fn note_added(noted: &mut Vec<(u64, Vec<u16>)>, leaving: &mut [Filled]) {
    let added = leaving.iter_mut().map(|filled| (filled.address, std::mem::take(&mut filled.added)));
    noted.extend(added.filter(|(_, added)| !added.is_empty()));
}

/// Gives back the space of collections that have no objects any more. Their objects were removed when the file did not name them.
fn free_empty(file: &OpenFile, all: &mut Vec<Filled>) -> Result<()> {
    let mut empty = all.extract_if(.., |filled| filled.objects == 0);
    empty.try_for_each(|filled| file.release_values(filled.address, filled.bytes.len() as u64))
}

/// Writes collections that were changed. What the file may name, also by values that were `shown`, is rewritten with care.
fn write<'a>(file: &OpenFile, shown: Option<u64>, all: impl Iterator<Item = &'a mut Filled>) -> Result<()> {
    let shown = shown == Some(file.flushes());
    let (mut new, mut changed) = (Vec::new(), Vec::new());
    for filled in all.filter(|filled| filled.is_changed()) {
        let is_named = filled.is_stored && (shown || !file.is_fresh(filled.address));
        let parts = if is_named { &mut changed } else { &mut new };
        parts.push(filled.image(file.widths()));
    }
    if !new.is_empty() {
        file.write_raw(WHAT, &new)?;
    }
    if changed.is_empty() { Ok(()) } else { file.rewrite(WHAT, &changed) }
}
