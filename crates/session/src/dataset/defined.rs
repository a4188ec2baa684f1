//! Which elements are defined. In layouts that do not keep account of that, all are: those that were never written have the fill value.

use hyperslab_chunk::{ChunkCoord, ChunkPartition, StripCut, for_each_strip};
use hyperslab_dtype::{Arena, Plan};
use hyperslab_space::{ElementRuns, Space};

use super::{OpenDataset, change::filling};
use crate::{Error, Result, many, value_buffer::room, virtual_read_budget::VirtualReadBudget};

impl OpenDataset {
    /// The selected elements that are defined: of a sparse dataset those that were written, of a virtual one those that its sources have defined, of others all of them.
    /// Points keep their order.
    pub fn defined(&self, selection: &Space) -> Result<Space> {
        self.defined_below(selection, &VirtualReadBudget::default())
    }

    /// As [`OpenDataset::defined`], for a request that may have come here through virtual datasets.
    pub(crate) fn defined_below(&self, selection: &Space, budget: &VirtualReadBudget) -> Result<Space> {
        if let Some(virtual_dataset) = &self.inner.virtual_dataset {
            self.check_extent(selection)?;
            return virtual_dataset.defined(selection, budget);
        }
        let _guard = self.lock_to_read(selection)?;
        match self.partition()?.filter(|_| self.is_sparse()) {
            Some(partition) => {
                let cache = &self.session().engine.partitions.cache;
                let defined = cache.defined(partition, self.request_options(), selection);
                let defined = defined.map_err(|why| self.locate(why.into()))?;
                self.session().check_current()?;
                Ok(defined)
            }
            None => Ok(selection.clone()),
        }
    }

    /// How many elements are defined, as [`OpenDataset::defined`] has it. Of a sparse dataset, chunks in memory and the index of others tell it, and no chunk is read.
    pub fn defined_count(&self) -> Result<u64> {
        let Some(partition) = self.partition()?.filter(|_| self.is_sparse()) else {
            return self.with_extent(|| Ok(self.defined(&self.space())?.npoints()));
        };
        let _guard = self.lock_to_read_all()?;
        let cache = &self.session().engine.partitions.cache;
        let count = cache.defined_count(partition, self.request_options(), &self.space());
        let count = count.map_err(|why| self.locate(why.into()))?;
        self.session().check_current()?;
        Ok(count)
    }

    /// The chunks of a sparse dataset that a selection may touch and that are in the file or in memory, by rising coordinate.
    pub fn stored_chunks(&self, selection: &Space) -> Result<Vec<ChunkCoord>> {
        self.check_extent(selection)?;
        let chunks = self.session().engine.partitions.cache.stored_chunks(self.sparse_partition()?, selection);
        chunks.map_err(|why| self.locate(why.into()))
    }

    /// The selected elements of some chunks of a sparse dataset that are defined, by rising coordinate of the chunks. Those without such elements are left out.
    pub fn defined_in_chunks(
        &self,
        selection: &Space,
        chunks: &[ChunkCoord],
    ) -> Result<Vec<(ChunkCoord, ElementRuns)>> {
        let (partition, _guard) = (self.sparse_partition()?, self.lock_to_read(selection)?);
        let cache = &self.session().engine.partitions.cache;
        let found = cache.defined_in_chunks(partition, self.request_options(), selection, chunks);
        let found = found.map_err(|why| self.locate(why.into()))?;
        self.session().check_current()?;
        Ok(found)
    }

    /// The chunks of a sparse dataset in the cache; an error for other datasets.
    pub(super) fn sparse_partition(&self) -> Result<&ChunkPartition> {
        let why = "its layout does not keep account of elements that are defined";
        let dense =
            || Error::Change(format!("a dataset that is not sparse has no chunks with defined elements: {why}"));
        self.partition()?.filter(|_| self.is_sparse()).ok_or_else(dense)
    }

    /// Lets the selected elements not be defined any more: they read as the fill value. Only sparse datasets can do that; [`OpenDataset::write_fill`] gives
    /// elements of others the fill value.
    pub fn erase(&self, selection: &Space) -> Result<()> {
        self.check_extent(selection)?;
        let Some(partition) = self.partition()?.filter(|_| self.is_sparse()) else {
            let why = "its layout does not keep account of elements that are defined; to give them the fill value, use write_fill";
            return Err(Error::Change(format!("elements of a dataset cannot be erased: {why}")));
        };
        self.session().check_changeable()?;
        let _writing = self.session().writing()?;
        let _guard = self.lock_to_write(partition, selection)?;
        let cache = &self.session().engine.partitions.cache;
        let erased = cache.erase(partition, self.request_options(), selection, &filling(self));
        erased.map_err(|why| self.locate(why.into()))
    }

    /// Gives the selected elements the value of those that were never written. One request: no thread sees some of them before all are so.
    pub fn write_fill(&self, selection: &Space) -> Result<()> {
        self.check_extent(selection)?;
        self.stored().check_writable()?;
        // A write to a virtual dataset waits for the range locks of its sources, and must have none then.
        let parts = [(self, selection)];
        let _turns = if self.is_virtual() { Vec::new() } else { many::range_locks::to_write(&parts)? };
        let dataset = if self.is_virtual() { self.clone() } else { self.under_lock() };
        dataset.check_extent(selection)?;
        // What the fill value names in the heap is its own: each element gets a copy.
        let datatype = self.memory_datatype()?;
        let (mut value, mut arena) = (room(1, datatype.size())?, Arena::default());
        if let Some(fill) = self.shown_fill() {
            Plan::new(self.datatype(), &datatype)?.convert(1, fill, &mut value, &self.session().heap(), &mut arena)?;
        }
        let put = |part: &Space| {
            let count = part.npoints();
            let mut values = room(count, value.len())?;
            values.chunks_exact_mut(value.len().max(1)).for_each(|place| place.copy_from_slice(&value));
            dataset.write_converted(part, &datatype, &Space::simple(&[count])?, &values, &arena)
        };
        // A part at a time, however much is selected.
        let cut = StripCut::of(self.now().dense_chunk(), datatype.size(), selection, false);
        let mem_selection = Space::simple(&[selection.npoints()])?;
        for_each_strip(selection, &mem_selection, cut.as_ref(), &mut |part, _| put(part))
    }
}
