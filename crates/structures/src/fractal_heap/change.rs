//! Changing a heap. Objects go into unused bytes of direct blocks; indirect blocks are shadowed, and the header of the heap is written when they are
//! there.

use std::sync::Arc;

use hyperslab_file::{Error, Kind, OpenFile, Owned, Result};
use hyperslab_format::heap::fractal::{FractalHeap as Header, HeapId};

use super::{
    FractalHeap, HeapHeader, Parameters, Unfilter, WHAT,
    blocks::{self, Direct},
    free_list::FreeList,
    state::{Inner, State},
};
use crate::lazy::Lazy;

impl FractalHeap {
    /// A new heap without objects: its header.
    pub fn create<'f>(
        file: impl Into<Owned<'f>>,
        parameters: &Parameters,
        unfilter: Arc<Unfilter>,
    ) -> Result<FractalHeap> {
        let file = file.into();
        let bytes = parameters.header(file.widths())?.encode(file.widths())?;
        let address = file.allocate(Kind::Metadata, bytes.len() as u64)?;
        file.put(address, bytes)?;
        // Another heap may have been here.
        file.detach(address)?;
        FractalHeap::open(file, address, unfilter)
    }

    /// Adds an object; gives its id.
    pub fn insert(&mut self, file: &OpenFile, object: &[u8]) -> Result<Vec<u8>> {
        let mut id = Vec::new();
        self.insert_all(file, &[object], &mut |of| id = of)?;
        Ok(id)
    }

    /// Adds objects; `each` gets the id of each.
    pub fn insert_all(&mut self, file: &OpenFile, objects: &[&[u8]], each: &mut dyn FnMut(Vec<u8>)) -> Result<()> {
        let state = State::of(file, self.address)?;
        let mut inner = state.lock();
        let mut change = Change::of(file.owned(self.owner), self.address, &mut inner)?;
        change.insert_all(objects, each)?;
        change.write_header()?;
        self.touched.extend(change.touched);
        Ok(())
    }

    /// Takes an object out. What the file still names stays as it is until the next flush; the space is used again after that.
    pub fn remove(&mut self, file: &OpenFile, id: &[u8]) -> Result<()> {
        let state = State::of(file, self.address)?;
        let mut inner = state.lock();
        let mut change = Change::of(file.owned(self.owner), self.address, &mut inner)?;
        let id = HeapId::decode(id, &change.header, file.widths()).map_err(Error::at(self.address))?;
        change.check_removed(&id)?;
        inner.remove(file.flushes(), id);
        Ok(())
    }

    /// Has everything that was added through this handle written before the block at `later`, which names the objects and was changed too.
    pub fn before(&self, file: &OpenFile, later: u64) -> Result<()> {
        self.touched.iter().chain([&self.address]).try_for_each(|&block| file.order_within(block, later))
    }

    /// Gives back the space of the heap and of all its objects.
    pub fn delete(self, file: &OpenFile) -> Result<()> {
        let state = State::of(file, self.address)?;
        let mut inner = state.lock();
        let mut change = Change::of(file.owned(self.owner), self.address, &mut inner)?;
        let blocks = change.all_blocks()?;
        change.free_list()?;
        change.delete_huge()?;
        blocks.into_iter().try_for_each(|(address, size)| file.free(address, size))?;
        change.free_list()?.free(file)?;
        let size = change.header.encode(file.widths())?.len() as u64;
        file.detach(self.address)?;
        file.free(self.address, size)
    }
}

/// One change of a heap.
pub(super) struct Change<'a> {
    pub(super) file: Owned<'a>,
    pub(super) address: u64,
    pub(super) header: Header,
    /// The header as it was before.
    pub(super) before: Arc<Lazy<Header>>,
    pub(super) kept: &'a mut Inner,
    /// Published blocks that objects were added to.
    pub(super) touched: Vec<u64>,
}

impl<'a> Change<'a> {
    pub(super) fn of(file: Owned<'a>, address: u64, kept: &'a mut Inner) -> Result<Change<'a>> {
        let before = file.load(&HeapHeader, address)?;
        Ok(Change { file, address, header: Header::clone(&before), before, kept, touched: Vec::new() })
    }

    pub(super) fn broken(&self, why: impl Into<String>) -> Error {
        Error::broken(WHAT, self.address, why)
    }

    pub(super) fn refuse<T>(&self, why: impl std::fmt::Display) -> Result<T> {
        Err(Error::Refused(format!("{WHAT} at address {:#x}: {why}", self.address)))
    }

    pub(super) fn write_header(&mut self) -> Result<()> {
        self.kept.touch();
        Lazy::new(self.header.clone(), &self.file).put(self.file, self.address)
    }

    pub(super) fn free_list(&mut self) -> Result<&mut FreeList> {
        if self.kept.free.is_none() {
            self.kept.free = Some(FreeList::read(&self.file, &self.header)?);
        }
        self.kept.free.as_mut().ok_or_else(|| Error::broken(WHAT, self.address, "no list of free space"))
    }

    /// Puts the free ranges into the file.
    pub(super) fn write_free(&mut self) -> Result<()> {
        let before = self.header.free_manager;
        if let Some(free) = &mut self.kept.free {
            free.write(self.file, &mut self.header)?;
        }
        if self.header.free_manager != before { self.write_header() } else { Ok(()) }
    }

    /// Takes the free ranges out of the file, if they are no longer true: they are in memory.
    pub(super) fn forget_written(&mut self) -> Result<()> {
        let Some(free) = self.kept.free.as_mut().filter(|free| free.is_changed()) else { return Ok(()) };
        free.free(&self.file)?;
        match self.header.free_manager.take() {
            Some(_) => self.write_header(),
            None => Ok(()),
        }
    }

    pub(super) fn find(&self, offset: u64) -> Result<Direct> {
        let mut children = |at, rows| blocks::read_indirect(self.file, &self.header, at, rows);
        blocks::find(&self.header, self.address, offset, &mut children)
    }
}
