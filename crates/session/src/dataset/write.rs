//! Writing values: encoded and converted as they go, each operation as a whole.

use hyperslab_chunk::{ChunkPartition, FirstValues, Storage, StripCut, Values, WriteBuffer, write_strips};
use hyperslab_dtype::{Arena, Datatype, Plan};
use hyperslab_space::Space;

use super::{
    OpenDataset,
    at_once::AtOnce,
    change::{Change, filling},
    named_values::NamedValues,
    vlen_chunks::VlenWrites,
};
use crate::{
    Error, Result, heap_writer::HeapWriter, piled::Piled, virtual_dataset::Request,
    virtual_read_budget::VirtualReadBudget,
};

/// Values in memory: where they are in a buffer, their bytes, and what is of variable length.
struct Given<'a> {
    plan: &'a Plan,
    datatype: &'a Datatype,
    mem_selection: &'a Space,
    bytes: &'a [u8],
    sequences: &'a Arena,
}

impl OpenDataset {
    /// Writes values that were converted for this dataset, one after the other.
    pub fn write_piled(&self, selection: &Space, piled: Piled) -> Result<()> {
        if let Some(partition) = self.partition_to_write()? {
            self.session().check_changeable()?;
            let writing = self.session().writing()?;
            let _guard = self.lock_to_write(partition, selection)?;
            let (stored, ticket) = self.put_objects(&writing, |heap| piled.commit(heap))?;
            return self.write_named(partition, (selection, &stored), ticket, false);
        }
        self.write_at_once(selection, |change, heap| {
            let stored = heap.attempt(|heap| {
                let stored = piled.commit(heap)?;
                self.show(heap).map(|()| stored)
            })?;
            change.replace_naming(heap, selection, &stored)
        })
    }

    /// Writes values that were encoded for this dataset, one after the other.
    pub fn write_encoded(
        &self,
        selection: &Space,
        (plan, datatype): (&Plan, &Datatype),
        bytes: &[u8],
        sequences: &Arena,
    ) -> Result<()> {
        let mem_selection = Space::simple(&[selection.npoints()])?;
        self.write_given(selection, &Given { plan, datatype, mem_selection: &mem_selection, bytes, sequences })
    }

    /// Writes the selected values from the selected places of `buf`, whose extent is in values of `datatype`. What is of variable
    /// length is taken from `arena`; `datatype` says so if it is [in memory](Datatype::in_memory).
    pub fn write_converted(
        &self,
        selection: &Space,
        datatype: &Datatype,
        mem_selection: &Space,
        buf: &[u8],
        arena: &Arena,
    ) -> Result<()> {
        let plan = Plan::new(datatype, self.stored_datatype())?;
        check_places(mem_selection, buf.len() / datatype.size().max(1))?;
        self.write_given(selection, &Given { plan: &plan, datatype, mem_selection, bytes: buf, sequences: arena })
    }

    /// As [`OpenDataset::write_converted`], for a write that came here through virtual datasets.
    pub(crate) fn write_below(
        &self,
        request: &Request<'_>,
        buf: &[u8],
        arena: &Arena,
        budget: &VirtualReadBudget,
    ) -> Result<()> {
        match &self.inner.virtual_dataset {
            Some(virtual_dataset) => {
                self.check_extent(request.wanted)?;
                virtual_dataset.write(request, buf, arena, budget)
            }
            None => self.write_converted(request.wanted, request.datatype, request.mem_selection, buf, arena),
        }
    }

    /// Refuses what cannot be written from the selected places of `buf`, which holds values of `size` bytes.
    pub(crate) fn check_write(&self, selection: &Space, size: usize, mem_selection: &Space, buf: &[u8]) -> Result<()> {
        check_places(mem_selection, buf.len() / size.max(1))?;
        let (left, right) = (selection.npoints(), mem_selection.npoints());
        if left != right {
            return Err(hyperslab_space::Error::Counts { left, right }.into());
        }
        self.session().check_changeable()?;
        self.check_extent(selection)
    }

    fn write_given(&self, selection: &Space, given: &Given<'_>) -> Result<()> {
        let (left, right) = (selection.npoints(), given.mem_selection.npoints());
        if left != right {
            return Err(hyperslab_space::Error::Counts { left, right }.into());
        }
        if let Some(virtual_dataset) = &self.inner.virtual_dataset {
            self.check_extent(selection)?;
            let request = Request { wanted: selection, datatype: given.datatype, mem_selection: given.mem_selection };
            return virtual_dataset.write(&request, given.bytes, given.sequences, &VirtualReadBudget::default());
        }
        match self.partition_to_write()? {
            Some(partition) if self.has_vlen_chunks() => self.write_vlen_chunks(partition, selection, given),
            None if self.has_vlen_chunks() => self.check_whole_values(),
            Some(partition) if self.datatype().has_vlen() && !given.plan.is_copy() => {
                self.in_portions(selection, given.mem_selection, |dataset, part, mem_selection| {
                    dataset.write_named_values(partition, (part, mem_selection), given)
                })
            }
            Some(partition) => self.write_through_cache(partition, selection, given),
            None if !self.names_objects() && self.write_first(selection, given)? => Ok(()),
            None => self.in_portions(selection, given.mem_selection, |dataset, part, mem_selection| {
                dataset.write_at_once(part, |change, heap| {
                    let mut at_once = AtOnce { change, heap, sequences: given.sequences };
                    if given.plan.is_copy() {
                        return at_once.write_places(part, mem_selection, given.bytes);
                    }
                    let cut = StripCut::of(at_once.change.state().dense_chunk(), self.datatype().size(), part, false);
                    write_strips(&mut at_once, given.plan, (part, mem_selection), cut.as_ref(), given.bytes)
                })
            }),
        }
    }

    /// Writes values so that they wait in the cache, or past it where that is better. No other request is in the way.
    fn write_through_cache(&self, partition: &ChunkPartition, selection: &Space, given: &Given<'_>) -> Result<()> {
        self.session().check_changeable()?;
        let writing = self.session().writing()?;
        let _guard = self.lock_to_write(partition, selection)?;
        if self.datatype().has_reference() {
            self.session().operate_within(&writing, || self.publish_objects())?;
        }
        let from = WriteBuffer::converted(given.bytes, given.plan);
        self.write_part(partition, selection, given.mem_selection, from).map_err(|why| self.locate(why))
    }

    /// Writes the first values of a dataset in one piece, while other threads use the file; whether it had none.
    fn write_first(&self, selection: &Space, given: &Given<'_>) -> Result<bool> {
        // Without a range lock, two threads may be the first.
        let has_range_lock = self.partition()?.is_some();
        let has_none = |values: &Values| matches!(values.storage, Storage::Contiguous(None));
        if !has_range_lock || !self.inner.storage.with_state(|state| state.values().is_ok_and(has_none)) {
            return Ok(false);
        }
        self.session().check_changeable()?;
        let _writing = self.session().writing()?;
        let _guard = self.lock_all()?;
        self.check_extent(selection)?;
        let (storage, request) = (&self.inner.storage, (selection, !given.plan.keeps_background()));
        let Some(mut first) = FirstValues::take(storage, self.stored(), request, &filling(self))? else {
            return Ok(false);
        };
        self.count_bypass(selection.npoints().saturating_mul(self.datatype().size() as u64))?;
        let written = match given.plan.is_copy() {
            true => first.write_places(selection, given.mem_selection, given.bytes),
            false => {
                let cut = self.strip_cut(selection, false);
                write_strips(&mut first, given.plan, (selection, given.mem_selection), cut.as_ref(), given.bytes)
            }
        };
        written.and_then(|()| first.name()).map_err(|why| self.locate(why.into()))?;
        Ok(true)
    }

    /// As [`OpenDataset::write_through_cache`], of values that have what is of variable length in their chunks.
    fn write_vlen_chunks(&self, partition: &ChunkPartition, selection: &Space, given: &Given<'_>) -> Result<()> {
        self.session().check_changeable()?;
        let writing = self.session().writing()?;
        let _guard = self.lock_to_write(partition, selection)?;
        if self.datatype().has_reference() {
            self.session().operate_within(&writing, || self.publish_objects())?;
        }
        let (cut, mut writes) = (self.strip_cut(selection, false), VlenWrites::new(self, partition, given.sequences)?);
        write_strips(&mut writes, given.plan, (selection, given.mem_selection), cut.as_ref(), given.bytes)
    }

    /// As [`OpenDataset::write_through_cache`], of values that name objects of the heap. These are put there first.
    fn write_named_values(
        &self,
        partition: &ChunkPartition,
        (selection, mem_selection): (&Space, &Space),
        given: &Given<'_>,
    ) -> Result<()> {
        self.session().check_changeable()?;
        let writing = &self.session().writing()?;
        let _guard = self.lock_to_write(partition, selection)?;
        if selection.npoints() == 0 {
            return Ok(());
        }
        let (cut, sequences) = (self.strip_cut(selection, false), given.sequences);
        let keeps_background = given.plan.keeps_background();
        let mut values = NamedValues { dataset: self, partition, writing, sequences, keeps_background, ticket: None };
        write_strips(&mut values, given.plan, (selection, mem_selection), cut.as_ref(), given.bytes)
    }

    /// Changes selected values in one operation: those that belong together with what it changes elsewhere.
    fn write_at_once<'a>(
        &'a self,
        selection: &Space,
        work: impl FnOnce(&mut Change<'a>, &mut HeapWriter<'a>) -> Result<()>,
    ) -> Result<()> {
        let _guard = self.lock_all()?;
        self.count_bypass(selection.npoints().saturating_mul(self.datatype().size() as u64))?;
        self.session().operate_on(self.address(), || {
            let mut change = self.change()?;
            self.check_selection(selection, change.extent())?;
            self.publish_objects()?;
            work(&mut change, &mut HeapWriter::new(self.session()))?;
            change.save()
        })
    }

    /// Before values name sequences that are new in the heap.
    pub(super) fn show(&self, heap: &mut HeapWriter<'_>) -> Result<()> {
        if self.stored().is_fresh(self.address()) { Ok(()) } else { heap.show() }
    }
}

/// Refuses places outside of a buffer that holds so many values.
pub(super) fn check_places(mem_selection: &Space, room: usize) -> Result<()> {
    let (values, room) = (mem_selection.extent().elements().unwrap_or(u64::MAX), room as u64);
    if values > room {
        return Err(Error::Length { values, room });
    }
    Ok(mem_selection.check_inside()?)
}
