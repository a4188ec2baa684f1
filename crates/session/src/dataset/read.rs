//! Reading values as bytes: as stored, or converted to another datatype.

use std::sync::Arc;

use hyperslab_chunk::read_strips;
use hyperslab_driver::Transfer;
use hyperslab_dtype::{Arena, Datatype, Plan};
use hyperslab_file::OpenFile;
use hyperslab_space::Space;

use super::{OpenDataset, strips::HeapReads, vlen_chunks::VlenReads, write::check_places};
use crate::{Result, value_buffer::room, virtual_dataset::Request, virtual_read_budget::VirtualReadBudget};

impl OpenDataset {
    /// All of its values, for the reads that take a selection.
    pub fn space(&self) -> Space {
        Space::new(self.extent())
    }

    /// All values, as bytes of the stored type; variable-length parts are references into [`Session::heap`](crate::Session::heap).
    pub fn read_stored(&self) -> Result<Vec<u8>> {
        self.with_extent(|| self.read_stored_selection(&self.space()))
    }

    /// The selected values one after the other, as bytes of the stored type.
    pub fn read_stored_selection(&self, selection: &Space) -> Result<Vec<u8>> {
        let _guard = self.lock_to_read(selection)?;
        self.read_whole(selection)
    }

    /// As [`OpenDataset::read_stored_selection`], under the caller's range lock.
    pub(super) fn read_whole(&self, selection: &Space) -> Result<Vec<u8>> {
        let count = selection.npoints();
        self.check_whole_values()?;
        self.check_values()?;
        let mut buf = room(count, self.datatype().size())?;
        self.read_part(selection, &Space::simple(&[count])?, &mut buf, None)?;
        Ok(buf)
    }

    /// Reads the selected values, converted to `datatype`, to the selected places of `buf`, whose extent is in values of that type.
    /// What is of variable length goes to `arena`; `datatype` says so if it is [in memory](Datatype::in_memory).
    pub fn read_converted(
        &self,
        selection: &Space,
        datatype: &Datatype,
        mem_selection: &Space,
        buf: &mut [u8],
        arena: &mut Arena,
    ) -> Result<()> {
        self.read_below(
            &Request { wanted: selection, datatype, mem_selection },
            buf,
            arena,
            &VirtualReadBudget::default(),
        )
    }

    /// As [`OpenDataset::read_converted`], for a read that may have come here through virtual datasets.
    pub(crate) fn read_below(
        &self,
        request: &Request<'_>,
        buf: &mut [u8],
        arena: &mut Arena,
        budget: &VirtualReadBudget,
    ) -> Result<()> {
        let (left, right) = (request.wanted.npoints(), request.mem_selection.npoints());
        if left != right {
            return Err(hyperslab_space::Error::Counts { left, right }.into());
        }
        if let Some(virtual_dataset) = &self.inner.virtual_dataset {
            self.check_extent(request.wanted)?;
            return virtual_dataset.read(request, buf, arena, budget);
        }
        let Request { wanted: selection, datatype, mem_selection } = *request;
        let plan = Plan::new(self.stored_datatype(), datatype)?;
        if self.has_vlen_chunks() {
            return self.read_vlen_chunks(selection, &plan, mem_selection, buf, arena);
        }
        if !self.datatype().has_vlen() {
            return self.read_planned(selection, &plan, mem_selection, buf);
        }
        check_places(mem_selection, buf.len() / datatype.size().max(1))?;
        let _guard = self.lock_to_read(selection)?;
        let (cut, _held) = (self.strip_cut(selection, false), self.hold_all()?);
        let mut reads = HeapReads { dataset: self, heap: self.session().heap(), arena };
        read_strips(&mut reads, &plan, (selection, mem_selection), cut.as_ref(), buf)
    }

    /// Reads the selected values by a plan that needs no heap. They are copied or converted on their way to their places.
    pub fn read_planned(&self, selection: &Space, plan: &Plan, mem_selection: &Space, buf: &mut [u8]) -> Result<()> {
        if self.has_vlen_chunks() {
            return self.read_vlen_chunks(selection, plan, mem_selection, buf, &mut Arena::default());
        }
        let _guard = self.lock_to_read(selection)?;
        if plan.is_copy() {
            return self.read_part(selection, mem_selection, buf, None);
        }
        check_places(mem_selection, buf.len() / plan.target_size().max(1))?;
        self.read_part(selection, mem_selection, buf, Some(plan))
    }

    /// Reads values that have what is of variable length in their chunks.
    fn read_vlen_chunks(
        &self,
        selection: &Space,
        plan: &Plan,
        mem_selection: &Space,
        buf: &mut [u8],
        arena: &mut Arena,
    ) -> Result<()> {
        check_places(mem_selection, buf.len() / plan.target_size().max(1))?;
        let _guard = self.lock_to_read(selection)?;
        let (cut, mut reads) = (self.strip_cut(selection, false), VlenReads::new(self, arena)?);
        read_strips(&mut reads, plan, (selection, mem_selection), cut.as_ref(), buf)
    }

    /// A handle whose reads and writes of values go to the storage with these options, in place of those that the file was opened with.
    #[must_use]
    pub fn with_transfer(&self, transfer: &Transfer) -> OpenDataset {
        OpenDataset { file: Some(Arc::new(self.session().file().with_transfer(transfer))), ..self.clone() }
    }

    /// The file, with the options of requests by this handle.
    pub(crate) fn stored(&self) -> &OpenFile {
        self.file.as_deref().unwrap_or_else(|| self.session().file())
    }
}
