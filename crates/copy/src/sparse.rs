//! Values of sparse datasets that are stored in another way, and values that become sparse. Nothing here is as large as the extent of a dataset: values go chunk
//! by chunk and strip by strip through the cache of the target.

use std::ops::Range;

use hyperslab_chunk::{StripCut, for_each_strip};
use hyperslab_dtype::Arena;
use hyperslab_format::message::{FillTime, FillValue, FillWrite, Layout};
use hyperslab_session::OpenDataset;
use hyperslab_space::{Kind, Op, Slab, Space};

use crate::{
    damage::{OfSource, Step},
    tree::Copier,
    values::{BATCH, BATCH_IN_HEAP, Parts, slabs},
};

/// Bytes that are compared with the fill value at once.
const SKIPPED: usize = 4 << 10;

impl Copier<'_> {
    /// Defined values of chunks that are stored in another way, chunk by chunk.
    pub(super) fn defined_values(&mut self, from: &OpenDataset, to: &OpenDataset, chunk: &[u64]) -> Step<()> {
        let (dims, element) = (from.shape(), from.datatype().size() as u64);
        let cut = StripCut::to_fit(self.batch(from, to), vec![1; chunk.len()], element);
        for (coord, _) in from.stored_entries().of_source()? {
            let mut whole = from.space();
            whole.select_hyperslab(Op::Set, &slabs(&coord, chunk, &dims)).of_source()?;
            let defined = from.defined(&whole).of_source()?;
            let (mut strips, places) = (Vec::new(), Space::simple(&[defined.npoints()]).of_source()?);
            let mut keep = |part: &Space, _: &Space| {
                strips.push(part.clone());
                Ok::<_, hyperslab_chunk::Error>(())
            };
            for_each_strip(&defined, &places, Some(&cut), &mut keep).of_source()?;
            for strip in strips.iter().filter(|strip| strip.npoints() > 0) {
                if self.is_remade(from, to) {
                    self.selected(from, to, strip)?;
                    continue;
                }
                let stored = from.read_stored_selection(strip).of_source()?;
                let there = Space::with(to.extent(), strip.selection().clone()).of_source()?;
                write(to, &there, &stored)?;
                self.show(stored.len() as u64);
            }
        }
        Ok(())
    }

    /// Those values of a dataset that differ from the fill value, to a sparse one, which defines no others.
    pub(super) fn differing_values(&mut self, from: &OpenDataset, to: &OpenDataset) -> Step<()> {
        let (dims, element) = (from.shape(), from.datatype().size().max(1));
        let most = self.batch(from, to) / element as u64;
        let Layout::Chunked { chunk, .. } = from.stored_layout().layout else {
            return Parts::new(dims, most).try_for_each(|part| self.differing(from, to, &part));
        };
        // A chunk with filters is decoded once, however large it is.
        let is_apart = from.dataset_filters().is_empty() || self.is_remade(from, to);
        let most = if is_apart { most } else { u64::MAX };
        for (coord, _) in from.stored_entries().of_source()? {
            let whole = slabs(&coord, &chunk, &dims);
            for mut part in Parts::new(whole.iter().map(|slab| slab.block).collect(), most) {
                part.iter_mut().zip(&whole).for_each(|(part, whole)| part.start += whole.start);
                self.differing(from, to, &part)?;
            }
        }
        Ok(())
    }

    /// The values of a box that differ from the fill value.
    fn differing(&mut self, from: &OpenDataset, to: &OpenDataset, part: &[Slab]) -> Step<()> {
        let mut whole = from.space();
        if !part.is_empty() {
            whole.select_hyperslab(Op::Set, part).of_source()?;
        }
        let mut values = from.read_stored_selection(&whole).of_source()?;
        let bytes = values.len() as u64;
        // Values are as the source has them: what names objects or addresses is something else in the target.
        let runs = match undefined(from.fill(), from.datatype().size()) {
            Some(fill) => keep_differing(&mut values, &fill),
            None => std::iter::once(0..whole.npoints()).collect(),
        };
        if !values.is_empty() {
            let mut kept = Space::simple(&part.iter().map(|slab| slab.block).collect::<Vec<_>>()).of_source()?;
            kept.select_row_major(runs).of_source()?;
            let there = in_extent(to, &kept, part).of_source()?;
            if self.is_remade(from, to) {
                return self.selected(from, to, &there);
            }
            write(to, &there, &values)?;
        }
        self.show(bytes);
        Ok(())
    }

    /// The stored bytes that are in memory at once.
    fn batch(&self, from: &OpenDataset, to: &OpenDataset) -> u64 {
        if self.is_remade(from, to) { BATCH_IN_HEAP } else { BATCH }
    }

    /// Whether values are other bytes in the target than in the source, or have what is of variable length in their chunks.
    fn is_remade(&self, from: &OpenDataset, to: &OpenDataset) -> bool {
        let in_chunks = from.has_vlen_chunks() || to.has_vlen_chunks();
        in_chunks || self.changes(from.session(), from.datatype(), to.datatype())
    }
}

/// Writes values as they are stored, through the cache.
fn write(to: &OpenDataset, selection: &Space, values: &[u8]) -> Step<()> {
    let places = Space::simple(&[selection.npoints()]).of_source()?;
    Ok(to.write_converted(selection, to.datatype(), &places, values, &Arena::default())?)
}

/// What a selection of a box is in the extent of a dataset.
fn in_extent(to: &OpenDataset, kept: &Space, part: &[Slab]) -> hyperslab_space::Result<Space> {
    if kept.kind() == Kind::All {
        let mut whole = to.space();
        whole.select_hyperslab(Op::Set, part)?;
        return Ok(whole);
    }
    let by: Vec<i64> = part.iter().map(|slab| i64::try_from(slab.start).unwrap_or(i64::MAX)).collect();
    Space::with(to.extent(), kept.moved(&by)?.selection().clone())
}

/// What undefined elements read as; nothing if the dataset says that they may be anything.
fn undefined(fill: &FillWrite, element: usize) -> Option<Vec<u8>> {
    match &fill.value {
        FillValue::Undefined => None,
        FillValue::User(value) if fill.write != FillTime::Never && value.len() == element => Some(value.clone()),
        _ => Some(vec![0; element]),
    }
}

/// Keeps the values that differ from the fill value, byte for byte; the runs of their numbers.
fn keep_differing(values: &mut Vec<u8>, fill: &[u8]) -> Vec<Range<u64>> {
    let (mut runs, mut kept): (Vec<Range<u64>>, usize) = (Vec::new(), 0);
    let element = fill.len().max(1);
    // Many values are compared at once where none differs.
    let many = fill.repeat((SKIPPED / element).max(1));
    let mut at = 0;
    while at < values.len() {
        if values.get(at..).is_some_and(|rest| rest.starts_with(&many)) {
            at += many.len();
            continue;
        }
        let end = values.len().min(at + many.len());
        while at < end {
            let (nth, range) = ((at / element) as u64, at..at + element);
            at += element;
            if values.get(range.clone()) == Some(fill) {
                continue;
            }
            values.copy_within(range, kept);
            kept += element;
            match runs.last_mut() {
                Some(last) if last.end == nth => last.end += 1,
                _ => runs.push(nth..nth + 1),
            }
        }
    }
    values.truncate(kept);
    runs
}
