//! Stored values strip by strip: for values that name objects of the heap, and for Rust values that are made of stored ones.

use hyperslab_chunk::{StorageView, StripCut, StripReader, for_each_strip};
use hyperslab_dtype::{Arena, HeapReference, Plan};
use hyperslab_space::{Kind, Space};

use super::OpenDataset;
use crate::{Error, Heap, Result, Sequences, value_buffer::room};

/// Reads of values that name objects of the heap.
pub(super) struct HeapReads<'a> {
    pub(super) dataset: &'a OpenDataset,
    pub(super) heap: Heap<'a>,
    /// Where what is of variable length goes.
    pub(super) arena: &'a mut Arena,
}

impl StripReader for HeapReads<'_> {
    type Error = Error;

    fn read(&mut self, part: &Space, stored: &mut [u8]) -> Result<()> {
        self.dataset.read_part(part, &Space::simple(&[part.npoints()])?, stored, None)
    }

    fn convert(&mut self, plan: &Plan, stored: &[u8], to: &mut [u8]) -> Result<()> {
        // What values name in the heap stays there meanwhile.
        let _held = self.dataset.now();
        self.dataset.session().check_alive(self.dataset.life())?;
        let (count, mut collections) = (stored.len() / plan.source_size().max(1), Vec::new());
        plan.references(count, stored, &mut |reference| {
            let found = HeapReference::decode(reference).map_or(0, |reference| reference.address);
            if collections.last() != Some(&found) {
                collections.push(found);
            }
        })?;
        self.heap.fetch(collections);
        Ok(plan.convert(count, stored, to, &Sequences::new(&self.heap), self.arena)?)
    }
}

impl OpenDataset {
    /// Reads the selected values strip by strip, in the order of the selection. Hands the stored bytes of each to `each`.
    pub fn in_order(&self, selection: &Space, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        // Points come in any order; cut into strips they would lose it.
        self.in_strips(selection, (selection.kind() != Kind::Points).then_some(true), each)
    }

    /// Reads the selected values strip by strip, in any order. Hands the stored bytes of each to `each`.
    pub(super) fn in_any_order(&self, selection: &Space, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.in_strips(selection, Some(false), each)
    }

    /// Cuts the selection into strips, which keep the order of values if they are `ordered`; into none, if that is not said.
    fn in_strips(
        &self,
        selection: &Space,
        ordered: Option<bool>,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        self.check_whole_values()?;
        let _guard = self.lock_to_read(selection)?;
        let cut = ordered.and_then(|ordered| self.strip_cut(selection, ordered));
        let _held = self.hold_all()?;
        let mut each = |stored: &[u8]| {
            // What values name in the heap stays there meanwhile.
            let _held = (self.datatype().has_vlen() || self.datatype().has_reference()).then(|| self.now());
            self.session().check_alive(self.life())?;
            each(stored)
        };
        let Some(cut) = cut else { return each(&self.read_whole(selection)?) };
        let (mem_selection, size) = (Space::simple(&[selection.npoints()])?, self.datatype().size());
        let mut stored = Vec::new();
        for_each_strip(selection, &mem_selection, Some(&cut), &mut |part, _| {
            let count = part.npoints();
            let bytes = usize::try_from(count.saturating_mul(size as u64)).unwrap_or(usize::MAX);
            if bytes > stored.len() {
                stored = room(count, size)?;
            }
            let stored = stored.get_mut(..bytes).unwrap_or_default();
            self.read_part(part, &Space::simple(&[count])?, stored, None)?;
            each(stored)
        })
    }

    /// How stored values are cut into strips that are read or written at once; none if there is nothing to cut.
    pub(super) fn strip_cut(&self, selection: &Space, ordered: bool) -> Option<StripCut> {
        let size = self.stored_datatype().size();
        self.inner.storage.with_state(|state| StripCut::of(state.dense_chunk(), size, selection, ordered))
    }

    /// Holds changes off where a read takes no range lock, so that all its strips are of one time. The sources of a virtual dataset have range locks of their own.
    pub(super) fn hold_all(&self) -> Result<Option<StorageView<'_>>> {
        Ok((self.partition()?.is_none() && self.inner.virtual_dataset.is_none()).then(|| self.now()))
    }
}
