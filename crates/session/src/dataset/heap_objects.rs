//! Values of variable length that are overwritten or go: what they name leaves the heap.

use hyperslab_chunk::Storage;
use hyperslab_format::message::FillValue;
use hyperslab_space::{Coords, Op, Slab, Space};

use super::{OpenDataset, change::Change};
use crate::{Result, heap_objects::HeapObjectId, value_buffer::room};

impl Change<'_> {
    /// What the values of a part name in the heap, but for the fill value, which all have that were never written. What cannot be read
    /// stays in the heap.
    pub(super) fn heap_objects(&mut self, part: &Space) -> Vec<HeapObjectId> {
        let fill = self.dataset().objects_of_fill();
        let mut found = self.read_heap_objects(part).unwrap_or_default();
        found.retain(|object| !fill.contains(object));
        found
    }

    /// What the values outside of a smaller extent name in the heap.
    pub(super) fn heap_objects_outside(&mut self, dims: &[u64]) -> Vec<HeapObjectId> {
        if !self.dataset().names_heap_objects() {
            return Vec::new();
        }
        let parts = self.stored_parts(Some(dims)).unwrap_or_default();
        parts.iter().flat_map(|part| self.heap_objects(part)).collect()
    }

    /// What all values of a dataset that goes name in the heap, and what its header names there.
    pub(super) fn all_heap_objects(&mut self) -> Vec<HeapObjectId> {
        if !self.dataset().names_heap_objects() {
            return self.dataset().objects_of_fill();
        }
        let parts = self.stored_parts(None).unwrap_or_default();
        let mut found: Vec<_> = parts.iter().flat_map(|part| self.heap_objects(part)).collect();
        found.extend(self.dataset().objects_of_fill());
        found
    }

    /// What all values that the file has name in the heap, the fill value included; an error if some of them cannot be read.
    pub(super) fn stored_heap_objects(&mut self) -> Result<Vec<HeapObjectId>> {
        let mut found = self.dataset().objects_of_fill();
        if !self.dataset().names_heap_objects() {
            return Ok(found);
        }
        for part in self.stored_parts(None)? {
            found.extend(self.read_heap_objects(&part)?);
        }
        Ok(found)
    }

    fn read_heap_objects(&mut self, part: &Space) -> Result<Vec<HeapObjectId>> {
        let (dataset, count) = (self.dataset(), part.npoints());
        if matches!(self.values()?.storage, Storage::Contiguous(None)) {
            return Ok(Vec::new());
        }
        let mut stored = room(count, dataset.datatype().size())?;
        self.read(part, &Space::simple(&[count])?, &mut stored)?;
        Ok(dataset.session().heap_objects(dataset.datatype(), &stored))
    }

    /// Parts that hold all stored values; only those outside of an extent, if one is given.
    fn stored_parts(&mut self, outside: Option<&[u64]>) -> Result<Vec<Space>> {
        let whole = Space::new(self.extent().clone());
        let file = self.dataset().session().file();
        let Storage::Chunked(chunked) = &self.values()?.storage else { return Ok(vec![whole]) };
        let (mut parts, dims) = (Vec::new(), whole.dims().to_vec());
        for (place, _) in chunked.entries(file)? {
            let Some(slabs) = chunk_slabs(&place, chunked.chunk(), &dims) else { continue };
            let mut part = whole.clone();
            part.select_hyperslab(Op::Set, &slabs)?;
            if let Some(inside) = outside {
                let inside: Vec<_> = inside.iter().map(|side| Slab::block(0, *side)).collect();
                part.select_hyperslab(Op::NotB, &inside)?;
            }
            if part.npoints() > 0 {
                parts.push(part);
            }
        }
        Ok(parts)
    }
}

impl OpenDataset {
    /// What the fill value names in the heap.
    pub(super) fn objects_of_fill(&self) -> Vec<HeapObjectId> {
        match &self.fill().value {
            FillValue::User(value) => self.session().heap_objects(self.datatype(), value),
            _ => Vec::new(),
        }
    }
}

/// What of a chunk lies in an extent.
fn chunk_slabs(place: &Coords, chunk: &[u64], dims: &[u64]) -> Option<Vec<Slab>> {
    let sides = place.iter().zip(chunk.iter().zip(dims));
    let side = |(nth, (size, dim)): (&u64, (&u64, &u64))| {
        let start = nth.checked_mul(*size).filter(|start| start < dim)?;
        Some(Slab::block(start, (*size).min(dim - start)))
    };
    sides.map(side).collect()
}
