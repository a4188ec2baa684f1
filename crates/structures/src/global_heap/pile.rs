//! Collections of the global heap that are filled before they have places: several threads fill one each.

use hyperslab_file::Result;
use hyperslab_format::Widths;

use super::{
    change::OPEN,
    filled::{Filled, object_size},
};

/// Some collections that no file has yet. [`GlobalHeap::adopt`](super::GlobalHeap::adopt) says where they come to lie.
///
/// ```
/// # use std::sync::Arc;
/// # use hyperslab_file::{CreateOptions, OpenFile, OpenOptions};
/// # use hyperslab_structures::{Collection, GlobalHeap, Pile};
/// # let storage = Arc::new(hyperslab_driver::Memory::new());
/// # let file = OpenFile::create(storage, &CreateOptions::default(), &OpenOptions::default())?;
/// let mut heap = GlobalHeap::default();
/// let mut pile = Pile::new(file.widths());
/// let (nth, index) = pile.add(b"text")?;
/// let places = heap.adopt(&file, pile)?;
/// heap.commit(&file)?;
/// assert_eq!(Collection::read(&file, places[nth])?.get(index)?, b"text");
/// # Ok::<(), hyperslab_file::Error>(())
/// ```
#[derive(Debug)]
pub struct Pile {
    widths: Widths,
    pub(super) all: Vec<Filled>,
}

impl Pile {
    /// An empty pile for a file of these widths.
    pub fn new(widths: Widths) -> Pile {
        Pile { widths, all: Vec::new() }
    }

    /// How many objects each of its collections has. They are numbered from one on.
    pub fn counts(&self) -> impl Iterator<Item = u32> {
        self.all.iter().map(|filled| filled.objects as u32)
    }

    /// Adds an object; says which collection of the pile it is in, and its index there.
    pub fn add(&mut self, value: &[u8]) -> Result<(usize, u32)> {
        let need = object_size(value.len(), self.widths);
        let recent = self.all.len().saturating_sub(OPEN);
        let room = self.all.iter().skip(recent).rposition(|filled| filled.has_room(need));
        let nth = room.map_or(self.all.len(), |room| recent + room);
        if nth == self.all.len() {
            self.all.push(Filled::create(need, Vec::new(), self.widths)?);
        }
        let index = self.all.get_mut(nth).map_or(0, |filled| filled.add(value, self.widths));
        Ok((nth, u32::from(index)))
    }
}
