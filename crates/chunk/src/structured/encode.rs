//! A structured chunk on its way to the file: its sections.

use hyperslab_base::{lookup3, memory};
use hyperslab_format::Sections;

use super::{
    packed_values::BEFORE,
    section_coder::{CHECKSUM, SectionCoder},
    selection_section,
    sparse_chunk::SparseChunk,
};
use crate::{ChunkCoord, ChunkLayout, EncodedChunk, Result, StoredAs, Workspace, transfer::scatter::outside};

impl SparseChunk {
    /// The chunk as the file will have it: nowhere, if no element is defined.
    pub(crate) fn encode(
        &self,
        layout: &ChunkLayout,
        coord: &ChunkCoord,
        form: StoredAs,
        workspace: &mut Workspace,
    ) -> Result<EncodedChunk<'static>> {
        let (structured, filtered) = (layout.sections()?, form == StoredAs::Filtered);
        if self.is_empty() {
            return Ok(EncodedChunk::nowhere(coord.clone(), structured.nothing(), filtered));
        }
        let (mut stored, mut sections) = (Vec::new(), Vec::new());
        let mut add = |number: usize, raw: &[u8], stored: &mut Vec<u8>| {
            let coder = structured.coder(number, true).ok_or_else(outside)?;
            coder.encode(coord, raw, (filtered, structured.filters()), stored, workspace)
        };
        if structured.structure().is_sparse() {
            let tries = filtered && structured.coder(0, true).is_some_and(SectionCoder::filters);
            let (mut best, mut room): (Option<_>, Vec<u8>) = (None, Vec::new());
            for raw in selection_section::encode(layout.chunk(), self.elements().runs(), tries)? {
                room.clear();
                let section = add(0, &raw, &mut room)?;
                if best.as_ref().is_none_or(|(_, bytes): &(_, Vec<u8>)| room.len() < bytes.len()) {
                    best = Some((section, std::mem::take(&mut room)));
                }
            }
            let (section, bytes) = best.ok_or_else(outside)?;
            sections.push(section);
            stored = bytes;
        }
        let (fixed, heap) = self.packed(layout)?;
        // What is done is dropped before the next section.
        for (number, mut raw) in [(Some(structured.fixed()), fixed), (structured.vlen(), heap)] {
            let Some(number) = number else { continue };
            if structured.has_checksum(number) {
                let checksum = lookup3(&raw);
                memory::append(&mut raw, &checksum.to_le_bytes())?;
            }
            sections.push(add(number, &raw, &mut stored)?);
        }
        stored.shrink_to_fit();
        let sections = Sections::new(&sections).ok_or_else(outside)?;
        EncodedChunk::structured(coord.clone(), stored.into(), sections, filtered).ok_or_else(outside)
    }

    /// The bytes of the values that the file has: of the defined elements, or of all.
    fn stored_bytes(&self, layout: &ChunkLayout) -> Result<u64> {
        match layout.sections()?.structure().is_sparse() {
            true => Ok(self.count().saturating_mul(layout.element())),
            false => Ok(layout.dense_bytes() as u64),
        }
    }

    /// The bytes of what is of variable length in these values.
    fn stored_heap(&self, layout: &ChunkLayout) -> Result<u64> {
        let structured = layout.sections()?;
        let undefined =
            if structured.structure().is_sparse() { 0 } else { layout.elements().saturating_sub(self.count()) };
        let fill = (structured.fill().heap.len() as u64).saturating_mul(undefined);
        Ok(self.elements().heap_bytes().saturating_add(fill))
    }

    /// About the memory that encoding takes at its peak, beside the chunk.
    pub(crate) fn encoding_memory(&self, layout: &ChunkLayout) -> Result<u64> {
        let structured = layout.sections()?;
        let values = self.stored_bytes(layout)?.saturating_add(self.stored_heap(layout)?);
        // Beside the stored bytes, what goes into a filter and what comes out of it.
        let copies = if structured.filters() { 4 } else { 2 };
        let selection = match structured.structure().is_sparse() {
            true => selection_section::encoding_memory(
                layout.chunk(),
                (self.count(), self.run_count()),
                structured.filters(),
            ),
            false => 0,
        };
        Ok(values.saturating_mul(copies).saturating_add(selection))
    }

    /// The values as the file has them: of the defined elements, or of all, and what is of variable length in them, with how much of it is unused.
    fn packed(&self, layout: &ChunkLayout) -> Result<(Vec<u8>, Vec<u8>)> {
        let (structured, shape) = (layout.sections()?, layout.shape());
        let around = BEFORE as usize + CHECKSUM;
        let (room, heap_room) = (usize::try_from(self.stored_bytes(layout)?), self.stored_heap(layout)?);
        let mut fixed = memory::with_room(room.unwrap_or(usize::MAX).saturating_add(CHECKSUM))?;
        let mut heap = memory::with_room(usize::try_from(heap_room).unwrap_or(usize::MAX).saturating_add(around))?;
        if structured.structure().is_sparse() {
            self.elements().values().try_for_each(|values| values.append_to(shape, &mut fixed, &mut heap))?;
        } else {
            let all = u32::try_from(layout.elements()).map_err(|_| outside())?;
            memory::resize(&mut fixed, layout.dense_bytes(), 0)?;
            self.copy(0..all, &mut fixed, Some(&mut heap), layout)?;
        }
        if structured.vlen().is_some() {
            heap.splice(0..0, [0; BEFORE as usize]);
        }
        Ok((fixed, heap))
    }
}
