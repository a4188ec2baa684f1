//! Datasets that grow and shrink.

use std::collections::HashMap;

use hyperslab_file::{Error as FileError, OpenFile};
use hyperslab_format::{
    ChunkEntry,
    message::{AllocTime, ChunkIndex},
};
use hyperslab_space::{Extent, Op, Slab, Space};

use crate::{
    Chunked, Filling, Index, Result,
    allocate::Places,
    index::{Change, check_extent},
    make::{Blank, Job},
};

/// A dataset on its way to another size, between [`Values::begin_resize`](crate::Values::begin_resize) and
/// [`Values::end_resize`](crate::Values::end_resize).
#[must_use]
pub struct Resizing {
    pub(crate) extent: Extent,
    /// The layout message must say something new before the header tells the new extent.
    pub moved: bool,
    /// Chunks were stored in another way, which must be in the file before the header tells the new extent.
    pub stored: bool,
    /// Values will go, which the file must not show any more: the header that tells the new extent must be there before.
    pub loses: bool,
    /// The filters that were left out of chunks which will not go through them, by their places.
    masks: HashMap<Vec<u64>, u32>,
}

impl Resizing {
    pub(crate) fn to(extent: Extent) -> Resizing {
        Resizing { extent, moved: false, stored: false, loses: false, masks: HashMap::new() }
    }
}

impl Chunked {
    /// Prepares for another extent. Where that decides whether a chunk went through the filters, it is stored without, and the index says
    /// so: both extents can read that.
    pub(crate) fn begin_resize(&mut self, file: &OpenFile, new: Extent, filling: &Filling<'_>) -> Result<Resizing> {
        check_extent(self.kind, &new, self.chunk())?;
        let mut resizing = Resizing::to(new);
        let new = &resizing.extent;
        if self.kind == ChunkIndex::Implicit {
            resizing.loses = self.shrinks(new);
            if !matches!(self.index, Index::Empty) {
                // They may hold what a larger dataset had; nobody sees them before the header tells the new extent.
                self.fill_places(file, Some(&self.extent), new, filling)?;
            }
            return Ok(resizing);
        }
        let (gone, kept) = self.touched_by_resize(file, new)?;
        resizing.loses = !gone.is_empty() || kept.iter().any(|(place, _)| self.loses(place, new));
        let all = self.coder.mask_of_all();
        let mut jobs = Vec::new();
        for (place, entry) in kept {
            let coded = self.is_coded(&place, &self.extent);
            resizing.masks.insert(place.to_vec(), entry.mask);
            let is_ready = !coded && entry.mask == all && entry.size == self.bytes as u64;
            if coded != self.is_coded(&place, new) && !is_ready {
                let (old, read, blank) = (Some(entry), Some(coded), Blank::Nothing);
                jobs.push(Job { place, old, read, piece: None, blank, coded: false, mask: all });
            }
        }
        resizing.stored = !jobs.is_empty();
        resizing.moved = self.make(file, &jobs, &[], filling)?;
        Ok(resizing)
    }

    /// Takes on the new extent. Chunks that are outside from now on are given back; of those that reach over the edge, what is outside
    /// gets the fill value, so that nothing old is seen when the dataset grows again. Whether the layout message must say something new.
    pub(crate) fn end_resize(&mut self, file: &OpenFile, resizing: Resizing, filling: &Filling<'_>) -> Result<bool> {
        let Resizing { extent: new, masks, .. } = resizing;
        let (old, mut moved) = (self.extent.clone(), false);
        if self.kind == ChunkIndex::Implicit && !matches!(self.index, Index::Empty) {
            self.blank_edges(file, &new, filling)?;
            self.extent = new;
            return Ok(false);
        }
        let (gone, kept) = self.touched_by_resize(file, &new)?;
        let mut jobs = Vec::with_capacity(kept.len());
        for (place, entry) in kept {
            let (was, is, loses) = (self.is_coded(&place, &old), self.is_coded(&place, &new), self.loses(&place, &new));
            let blank = if loses { Blank::Part(Box::new(self.outside(&place, &new)?)) } else { Blank::Nothing };
            // What changes sides was stored without filters before.
            if loses || is {
                let read = Some(was && is);
                // As libhdf5 leaves it, which counts on that when the chunk goes through the filters again.
                let mask = masks.get(place.as_slice()).copied().unwrap_or(0);
                jobs.push(Job { place, old: Some(entry), read, piece: None, blank, coded: is, mask });
            }
        }
        self.extent = new;
        moved |= self.make(file, &jobs, &[], filling)?;
        let nothing = ChunkEntry { start: Vec::new(), address: None, size: 0, mask: 0 };
        let nothing = |(place, _): &Change| (place.clone(), nothing.clone());
        moved |= self.enter(file, &gone.iter().map(nothing).collect::<Vec<_>>())?;
        for (_, entry) in gone {
            if let Some(address) = entry.address {
                file.free_values(address, entry.size)?;
            }
        }
        if filling.alloc == AllocTime::Early {
            moved |= self.allocate_all(file, filling)?;
        }
        Ok(moved)
    }

    /// Whether no chunk changes with a resize to these sizes.
    pub fn keeps_chunks(&self, dims: &[u64], filling: &Filling<'_>) -> bool {
        let grows = self.extent.dims().iter().zip(dims).all(|(old, new)| new >= old);
        let is_free = self.kind != ChunkIndex::Implicit && filling.alloc != AllocTime::Early;
        grows && is_free && !self.has_plain_edges()
    }

    fn shrinks(&self, new: &Extent) -> bool {
        self.extent.dims().iter().zip(new.dims()).any(|(old, new)| new < old)
    }

    /// Chunks that go, and chunks that stay but must be made anew; both by rising place.
    fn touched_by_resize(&self, file: &OpenFile, new: &Extent) -> Result<(Vec<Change>, Vec<Change>)> {
        let (mut gone, mut kept, mut visited) = (Vec::new(), Vec::new(), 0u64);
        if !self.shrinks(new) && !self.has_plain_edges() {
            return Ok((gone, kept));
        }
        self.index.for_each(file, self.chunk(), &mut |place, entry| {
            visited += 1;
            // Blocks of an index that name each other could go on for very long.
            if visited > file.end() {
                return Err(FileError::broken("chunk index", 0, "more chunks than the file has bytes"));
            }
            let Some(place) = place.filter(|_| entry.address.is_some()) else { return Ok(()) };
            if self.is_outside(&place, new) {
                file.check("chunk", entry.address.unwrap_or(0), entry.size)?;
                gone.push((place, entry.clone()));
            } else if self.loses(&place, new) || self.is_coded(&place, &self.extent) != self.is_coded(&place, new) {
                kept.push((place, entry.clone()));
            }
            Ok(())
        })?;
        gone.sort_by(|left, right| left.0.cmp(&right.0));
        kept.sort_by(|left, right| left.0.cmp(&right.0));
        Ok((gone, kept))
    }

    /// Whether elements of a chunk, but not all, are in the dataset now and not in `new`.
    fn loses(&self, place: &[u64], new: &Extent) -> bool {
        let sides = self.chunk().iter().zip(self.extent.dims().iter().zip(new.dims()));
        let mut sides = place.iter().zip(sides);
        sides.any(|(nth, (size, (old, new)))| {
            let (first, end) = (nth.saturating_mul(*size), nth.saturating_add(1).saturating_mul(*size));
            new < old && first < *new && *new < end
        })
    }

    /// What of a chunk is outside of an extent.
    fn outside(&self, place: &[u64], extent: &Extent) -> Result<Space> {
        let sides = place.iter().zip(self.chunk().iter().zip(extent.dims()));
        let side = |(nth, (size, dim)): (&u64, (&u64, &u64))| {
            Slab::block(0, dim.saturating_sub(nth.saturating_mul(*size)).min(*size))
        };
        let mut outside = self.whole()?;
        outside.select_hyperslab(Op::NotB, &sides.map(side).collect::<Vec<_>>())?;
        Ok(outside)
    }

    /// Chunks that lie one after the other keep their places, so the fill value is written over what goes.
    fn blank_edges(&self, file: &OpenFile, new: &Extent, filling: &Filling<'_>) -> Result<()> {
        let bytes = filling.bytes(self.bytes)?;
        for place in Places::of(self.chunk(), new)?.filter(|place| self.loses(place, new)) {
            let outside = self.outside(&place, new)?;
            let entry = self.index.find_all(file, std::slice::from_ref(&place), self.chunk())?.pop().flatten();
            let Some(address) = entry.and_then(|entry| entry.address) else { continue };
            let offset = file.check("chunk", address, self.bytes as u64)?;
            let pair = hyperslab_driver::SelectionPair {
                memory: &outside,
                file: &outside,
                offset,
                element_size: self.element(),
            };
            file.write_selection(&[pair], &bytes)?;
        }
        Ok(())
    }
}
