//! Datasets that grow and shrink.

use hyperslab_file::{Error as FileError, OpenFile};
use hyperslab_format::message::{AllocTime, ChunkIndex};
use hyperslab_space::{Extent, Op, Slab, Space};

use crate::{
    Chunked, Coder, Error, Filling, Index, Result, StoredAs, WriteBuffer,
    index::{Change, check_resize},
    transfer::{
        allocate::GridCoords,
        allocation::Allocation,
        job::{Blank, Job},
    },
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
    /// Chunks that will be outside.
    gone: Vec<Change>,
    /// Chunks that will be at the edge, or be new: they are in the file, but the index does not know of them yet.
    made: Vec<Allocation>,
}

impl Resizing {
    pub(crate) fn to(extent: Extent) -> Resizing {
        Resizing { extent, moved: false, stored: false, loses: false, gone: Vec::new(), made: Vec::new() }
    }

    /// The dataset keeps its size: gives back the space of chunks that the index does not know of.
    pub fn abandon(self, file: &OpenFile) -> Result<()> {
        let mut made = self.made.iter().flat_map(|allocation| &allocation.changes);
        Ok(made.try_for_each(|(_, entry)| entry.address.map_or(Ok(()), |at| file.free_values(at, entry.size())))?)
    }
}

impl Chunked {
    /// Prepares for another extent: whatever takes space is written here, so that nothing has changed if it cannot be. Where the extent decides whether
    /// a chunk went through the filters, it is stored without, and the index says so: both extents can read that.
    pub(crate) fn begin_resize(&mut self, file: &OpenFile, new: Extent, filling: &Filling<'_>) -> Result<Resizing> {
        let mut resizing = Resizing::to(new);
        let new = &resizing.extent;
        if self.structure().is_some() && self.has_plain_edges() {
            let why = "sparse chunks of which those at the edge have no filters are made by other programs, and cannot change their size yet";
            return Err(Error::Layout(why.into()));
        }
        if self.kind == ChunkIndex::Implicit {
            resizing.loses = self.shrinks(new);
            if !matches!(self.index, Index::Empty) {
                // They may hold what a larger dataset had; no reader sees them before the header tells the new extent.
                self.fill_places(file, &self.index, Some(&self.extent), new, filling)?;
            } else if self.alloc_time(filling) == AllocTime::Early {
                self.index = file.tentative(|| self.filled_index(file, new, filling))?;
                self.generation += 1;
                resizing.moved = true;
            }
            return Ok(resizing);
        }
        let (gone, kept) = self.touched_by_resize(file, new)?;
        resizing.loses = !gone.is_empty() || kept.iter().any(|(coord, _)| self.loses(coord, new));
        let (readable, edges) = self.resize_jobs(file, kept, new)?;
        let (between, made) = file.tentative(|| {
            let between = self.write_jobs(file, &readable, WriteBuffer::stored(&[]), filling)?;
            let mut edge = self.write_jobs(file, &edges, WriteBuffer::stored(&[]), filling)?;
            edge.follow(&readable, &between);
            let mut made = vec![edge];
            if self.alloc_time(filling) == AllocTime::Early {
                made.extend(self.store_missing(file, new, filling, &|_| true)?);
            }
            Ok::<_, Error>((between, made))
        })?;
        resizing.stored = !readable.is_empty();
        resizing.moved = self.insert(file, between)?;
        (resizing.gone, resizing.made) = (gone, made);
        Ok(resizing)
    }

    /// How chunks at the edge are made: those that both extents can read, and those of the new extent.
    fn resize_jobs(
        &self,
        file: &OpenFile,
        kept: Vec<Change>,
        new: &Extent,
    ) -> Result<(Vec<Job<'static>>, Vec<Job<'static>>)> {
        let all = self.chunks.codec().map_or(0, Coder::mask_of_all);
        let (mut readable, mut edges) = (Vec::new(), Vec::new());
        for (coord, entry) in kept {
            let (was, is) = (self.is_filtered(&coord, &self.extent), self.stored_as(&coord, new));
            let is_ready = !was && entry.mask() == all && entry.size() == self.bytes() as u64;
            let (read, mask) = (self.stored_at(file, &coord, &entry)?, entry.mask());
            let old = Some(entry);
            if was != (is == StoredAs::Filtered) && !is_ready {
                let (coord, old, read, blank) = (coord.clone(), old.clone(), read.clone(), Blank::Nothing);
                let form = StoredAs::Plain(self.bytes() as u64);
                readable.push(Job { coord, old, read, piece: None, blank, form, mask: all });
            }
            let loses = self.loses(&coord, new);
            if loses || is == StoredAs::Filtered {
                let blank = if loses { Blank::Part(Box::new(self.outside(&coord, new)?)) } else { Blank::Nothing };
                // The mask is as libhdf5 leaves it, which counts on that when the chunk goes through the filters again.
                edges.push(Job { coord, old, read, piece: None, blank, form: is, mask });
            }
        }
        Ok((readable, edges))
    }

    /// Takes on the new extent. Chunks that are outside from now on are given back; of those that reach over the edge, what is outside
    /// gets the fill value, so that nothing old is seen when the dataset grows again. Whether the layout message must say something new.
    pub(crate) fn end_resize(&mut self, file: &OpenFile, resizing: Resizing, filling: &Filling<'_>) -> Result<bool> {
        let Resizing { extent: new, gone, made, .. } = resizing;
        if self.kind == ChunkIndex::Implicit && !matches!(self.index, Index::Empty) {
            self.blank_edges(file, &new, filling)?;
            self.set_extent(new);
            return Ok(false);
        }
        self.set_extent(new);
        let mut moved = false;
        for allocation in made {
            moved |= self.insert(file, allocation)?;
        }
        let nothing = |(coord, _): &Change| (coord.clone(), self.nowhere());
        moved |= self.change_index(file, &gone.iter().map(nothing).collect::<Vec<_>>())?;
        for (_, entry) in gone {
            if let Some(address) = entry.address {
                file.free_values(address, entry.size())?;
            }
        }
        Ok(moved)
    }

    fn set_extent(&mut self, extent: Extent) {
        self.extent = extent;
        self.generation += 1;
    }

    /// Refuses an extent that these chunks cannot have.
    pub(crate) fn check_resize(&self, new: &Extent) -> Result<()> {
        check_resize(&self.kind, new, self.chunk())
    }

    /// Whether no chunk changes with a resize to these sizes.
    pub fn keeps_chunks(&self, dims: &[u64], filling: &Filling<'_>) -> bool {
        let grows = self.extent.dims().iter().zip(dims).all(|(old, new)| new >= old);
        let is_free = self.kind != ChunkIndex::Implicit && self.alloc_time(filling) != AllocTime::Early;
        grows && is_free && !self.has_plain_edges()
    }

    fn shrinks(&self, new: &Extent) -> bool {
        self.extent.dims().iter().zip(new.dims()).any(|(old, new)| new < old)
    }

    /// Chunks that go, and chunks that stay but must be made anew; both by rising coordinate.
    fn touched_by_resize(&self, file: &OpenFile, new: &Extent) -> Result<(Vec<Change>, Vec<Change>)> {
        let (mut gone, mut kept, mut visited) = (Vec::new(), Vec::new(), 0u64);
        if !self.shrinks(new) && !self.has_plain_edges() {
            return Ok((gone, kept));
        }
        self.index.for_each(file, self.chunk(), &mut |coord, entry| {
            visited += 1;
            // Blocks of an index that name each other could go on for very long.
            if visited > file.end() {
                return Err(FileError::broken("chunk index", 0, "more chunks than the file has bytes"));
            }
            let Some(coord) = coord.filter(|_| entry.address.is_some()) else { return Ok(()) };
            if self.is_outside(&coord, new) {
                file.check("chunk", entry.address.unwrap_or(0), entry.size())?;
                gone.push((coord, entry.clone()));
            } else if self.loses(&coord, new) || self.is_filtered(&coord, &self.extent) != self.is_filtered(&coord, new)
            {
                kept.push((coord, entry.clone()));
            }
            Ok(())
        })?;
        gone.sort_by(|left, right| left.0.cmp(&right.0));
        kept.sort_by(|left, right| left.0.cmp(&right.0));
        Ok((gone, kept))
    }

    /// Whether elements of a chunk, but not all, are in the dataset now and not in `new`.
    fn loses(&self, coord: &[u64], new: &Extent) -> bool {
        let sides = self.chunk().iter().zip(self.extent.dims().iter().zip(new.dims()));
        let mut sides = coord.iter().zip(sides);
        sides.any(|(nth, (size, (old, new)))| {
            let (first, end) = (nth.saturating_mul(*size), nth.saturating_add(1).saturating_mul(*size));
            new < old && first < *new && *new < end
        })
    }

    /// What of a chunk is outside of an extent.
    fn outside(&self, coord: &[u64], extent: &Extent) -> Result<Space> {
        let sides = coord.iter().zip(self.chunk().iter().zip(extent.dims()));
        let side = |(nth, (size, dim)): (&u64, (&u64, &u64))| {
            Slab::block(0, dim.saturating_sub(nth.saturating_mul(*size)).min(*size))
        };
        let mut outside = self.chunks.whole()?;
        outside.select_hyperslab(Op::NotB, &sides.map(side).collect::<Vec<_>>())?;
        Ok(outside)
    }

    /// Chunks that lie one after the other keep their places, so the fill value is written over what goes.
    fn blank_edges(&self, file: &OpenFile, new: &Extent, filling: &Filling<'_>) -> Result<()> {
        let bytes = filling.bytes(self.bytes())?;
        for coord in GridCoords::of(self.chunk(), new)?.filter(|coord| self.loses(coord, new)) {
            let outside = self.outside(&coord, new)?;
            let entry = self.index.find_all(file, std::slice::from_ref(&coord), self.chunk())?.pop().flatten();
            let Some(address) = entry.and_then(|entry| entry.address) else { continue };
            let offset = file.check("chunk", address, self.bytes() as u64)?;
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
