//! The caller's buffer: values go there from chunks and come from there, as they are stored or converted on the way.
//!
//! A plan that comes with a buffer needs no heap, so values are converted while their chunk is locked. Values that name heap objects go in
//! [strips](super::strips): following them is I/O.

use hyperslab_dtype::Plan;
use hyperslab_space::{Piece, Space};

use super::{convert, scatter};
use crate::{ChunkLayout, Error, Result, SparseChunk, structured::PackedValues};

/// Where the values of a read go.
#[derive(Debug)]
pub struct ReadBuffer<'a> {
    pub(super) bytes: &'a mut [u8],
    /// How many bytes of the caller's buffer come before these.
    start: u64,
    plan: Option<&'a Plan>,
    /// Where what is of variable length goes, if the chunks have it.
    heap: Option<&'a mut Vec<u8>>,
}

/// Where the values of a write come from.
#[derive(Clone, Copy, Debug)]
pub struct WriteBuffer<'a> {
    pub(super) bytes: &'a [u8],
    plan: Option<&'a Plan>,
    /// What is of variable length in values that have it in their chunks.
    heap: &'a [u8],
    /// Whether there are no values: elements are not defined from then on.
    erases: bool,
}

impl<'a> ReadBuffer<'a> {
    /// For values as they are stored.
    pub fn stored(bytes: &'a mut [u8]) -> ReadBuffer<'a> {
        ReadBuffer { bytes, start: 0, plan: None, heap: None }
    }

    /// For values as they are stored; what is of variable length in them is added to `heap`, whose places slots name.
    pub fn with_heap(bytes: &'a mut [u8], heap: &'a mut Vec<u8>) -> ReadBuffer<'a> {
        ReadBuffer { bytes, start: 0, plan: None, heap: Some(heap) }
    }

    /// For what a plan makes of stored values.
    pub fn converted(bytes: &'a mut [u8], plan: &'a Plan) -> ReadBuffer<'a> {
        ReadBuffer { bytes, start: 0, plan: Some(plan).filter(|plan| !plan.is_copy()), heap: None }
    }

    /// A part of the caller's buffer, which begins at its byte `start`.
    pub(crate) fn part(bytes: &'a mut [u8], start: u64, plan: Option<&'a Plan>) -> ReadBuffer<'a> {
        ReadBuffer { bytes, start, plan, heap: None }
    }

    /// How values are converted, if they are.
    pub(crate) fn plan(&self) -> Option<&'a Plan> {
        self.plan
    }

    /// The bytes, for a request that brings values as they are stored.
    pub(crate) fn stored_bytes(&mut self) -> Result<&mut [u8]> {
        if self.plan.is_some() { Err(unconverted()) } else { Ok(self.bytes) }
    }

    /// Places that lie one after the other, for values that have `element` bytes there.
    pub(crate) fn places(&mut self, first: u64, count: u64, element: u64) -> Result<&mut [u8]> {
        Ok(self.places_and_heap(first, count, element)?.0)
    }

    /// Places that lie one after the other, for values that have `element` bytes there, and where what is of variable length goes.
    pub(crate) fn places_and_heap(
        &mut self,
        first: u64,
        count: u64,
        element: u64,
    ) -> Result<(&mut [u8], Option<&mut Vec<u8>>)> {
        let start = first.saturating_mul(element).checked_sub(self.start).ok_or_else(scatter::outside)?;
        let range = scatter::range(start, count.saturating_mul(element));
        Ok((self.bytes.get_mut(range).ok_or_else(scatter::outside)?, self.heap.as_deref_mut()))
    }

    /// All bytes of the caller's buffer.
    pub(crate) fn into_bytes(self) -> &'a mut [u8] {
        self.bytes
    }

    /// How many bytes there are.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes of a value here, which has so many where it is stored.
    pub(crate) fn element(&self, stored: u64) -> u64 {
        self.plan.map_or(stored, |plan| plan.target_size() as u64)
    }

    /// Puts the selected values of `from`, of `element` bytes each, in the selected places.
    pub(crate) fn put(&mut self, from: &[u8], source: &Space, mem_selection: &Space, element: u64) -> Result<()> {
        match self.plan {
            None => scatter::copy_to_part(from, source, self.bytes, self.start, mem_selection, element),
            Some(plan) => convert::selected(plan, (from, source), (self.bytes, self.start), mem_selection),
        }
    }

    /// Puts the fill value, one stored element long, in every place of a piece whose chunk was never written; zeros where there is none.
    pub(crate) fn fill_piece(&mut self, fill: Option<&[u8]>, piece: &Piece, layout: &ChunkLayout) -> Result<()> {
        match layout.has_vlen() {
            true => SparseChunk::new(layout).scatter(layout, piece, self),
            false => self.fill(fill, &piece.memory, layout.element()),
        }
    }

    /// Puts the fill value, one stored element long, in every selected place; zeros where there is none.
    pub(crate) fn fill(&mut self, value: Option<&[u8]>, mem_selection: &Space, element: u64) -> Result<()> {
        match self.plan {
            None => scatter::fill(value, self.bytes, mem_selection, element),
            Some(plan) => convert::fill(plan, value, self.bytes, mem_selection),
        }
    }
}

impl<'a> WriteBuffer<'a> {
    /// For values as they will be stored.
    pub fn stored(bytes: &'a [u8]) -> WriteBuffer<'a> {
        WriteBuffer { bytes, plan: None, heap: &[], erases: false }
    }

    /// For values as they will be stored, whose slots name places of `heap`.
    pub fn with_heap(bytes: &'a [u8], heap: &'a [u8]) -> WriteBuffer<'a> {
        WriteBuffer { bytes, plan: None, heap, erases: false }
    }

    /// For elements of sparse chunks that will not be defined any more.
    pub(crate) const ERASED: WriteBuffer<'static> = WriteBuffer { bytes: &[], plan: None, heap: &[], erases: true };

    /// Whether there are no values: elements are not defined from then on.
    pub(crate) fn erases(&self) -> bool {
        self.erases
    }

    /// For values of which a plan makes those that will be stored.
    pub fn converted(bytes: &'a [u8], plan: &'a Plan) -> WriteBuffer<'a> {
        WriteBuffer { bytes, plan: Some(plan).filter(|plan| !plan.is_copy()), heap: &[], erases: false }
    }

    /// How values are converted, if they are.
    pub(crate) fn plan(&self) -> Option<&'a Plan> {
        self.plan
    }

    /// All values as they will be stored, if they are not converted.
    pub(crate) fn values(&self) -> PackedValues<'a> {
        PackedValues { fixed: self.bytes, heap: self.heap }
    }

    /// The bytes, for a request that takes values as they will be stored.
    pub(crate) fn stored_bytes(&self) -> Result<&'a [u8]> {
        if self.plan.is_some() { Err(unconverted()) } else { Ok(self.bytes) }
    }

    /// All bytes of the caller's buffer.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The bytes of a value here, which will have so many where it is stored.
    pub(crate) fn element(&self, stored: u64) -> u64 {
        self.plan.map_or(stored, |plan| plan.source_size() as u64)
    }

    /// Whether some bytes of stored values stay as they are: members of a compound that the caller does not have.
    pub(crate) fn keeps_background(&self) -> bool {
        self.plan.is_some_and(Plan::keeps_background)
    }

    /// Puts the values at the selected places into the selected elements of `to`, of `element` bytes each.
    pub(crate) fn take(&self, mem_selection: &Space, to: &mut [u8], target: &Space, element: u64) -> Result<()> {
        match self.plan {
            None => scatter::copy(self.bytes, mem_selection, to, target, element),
            Some(plan) => convert::selected(plan, (self.bytes, mem_selection), (to, 0), target),
        }
    }
}

/// Refuses what no caller asks for: values that go between file and caller directly are not converted on the way.
fn unconverted() -> Error {
    Error::Layout("values are converted in chunks or in strips".into())
}
