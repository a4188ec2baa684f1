//! Values of copies: chunks as they are stored where nothing in them changes, else part after part.

use hyperslab_format::message::Layout;
use hyperslab_space::{Op, Slab, Space};

use super::tree::Copier;
use crate::{Dataset, Result};

/// Stored bytes that are in memory at once, if no chunk is larger.
const BATCH: u64 = 16 << 20;

/// The same for values that refer to more in the heap.
const BATCH_IN_HEAP: u64 = 1 << 18;

impl Copier<'_> {
    pub(super) fn values(&mut self, from: &Dataset, to: &Dataset) -> Result<()> {
        let changes = self.changes(from.file(), from.datatype(), to.datatype());
        match from.stored_layout().layout {
            Layout::Chunked { .. } if !changes => self.chunks(from, to),
            Layout::Chunked { chunk, .. } => {
                for (place, _) in from.stored_entries()? {
                    let corner = place.iter().zip(&chunk).map(|(nth, size)| nth.saturating_mul(*size));
                    let whole = corner.zip(&chunk).zip(from.extent().dims().to_vec());
                    let part =
                        whole.map(|((start, size), dim)| Slab::block(start, (*size).min(dim.saturating_sub(start))));
                    self.part(from, to, &part.collect::<Vec<_>>())?;
                }
                Ok(())
            }
            // The header has them already.
            Layout::Compact(_) if !changes => Ok(()),
            Layout::Compact(_) | Layout::Contiguous { address: Some(_), .. } => {
                let most = if changes { BATCH_IN_HEAP } else { BATCH };
                let (dims, element) = (from.shape(), from.datatype().size() as u64);
                Parts::new(dims, most / element.max(1)).try_for_each(|part| self.part(from, to, &part))
            }
            Layout::Contiguous { address: None, .. } | Layout::Virtual { .. } => Ok(()),
        }
    }

    /// All chunks, as they are.
    fn chunks(&mut self, from: &Dataset, to: &Dataset) -> Result<()> {
        let entries = from.stored_entries()?;
        let mut rest = entries.as_slice();
        while !rest.is_empty() {
            let mut bytes = 0u64;
            let fits = rest.iter().take_while(|(_, entry)| {
                bytes = bytes.saturating_add(entry.size);
                bytes <= BATCH
            });
            let (batch, others) = rest.split_at(fits.count().clamp(1, rest.len()));
            to.write_entries(&from.read_entries(batch)?)?;
            self.show(batch.iter().map(|(_, entry)| entry.size).sum());
            rest = others;
        }
        Ok(())
    }

    /// Some of the values.
    fn part(&mut self, from: &Dataset, to: &Dataset, part: &[Slab]) -> Result<()> {
        let mut selection = from.space();
        if !part.is_empty() {
            selection.select_hyperslab(Op::Set, part)?;
        }
        let stored = from.read_stored_selection(&selection)?;
        let gathered = self.gather(from.file(), from.datatype(), to.datatype(), &stored)?;
        let there = Space::with(to.extent(), selection.selection().clone())?;
        let bytes = stored.len() as u64;
        to.write_stored(&there, || match gathered {
            Some(gathered) => gathered.store(to.file()),
            None => Ok(stored),
        })?;
        self.show(bytes);
        Ok(())
    }
}

/// Boxes that make up an array together, each with at most so many elements and in one piece.
struct Parts {
    dims: Vec<u64>,
    /// The sides of a box.
    sides: Vec<u64>,
    next: Option<Vec<u64>>,
}

impl Parts {
    fn new(dims: Vec<u64>, most: u64) -> Parts {
        let (mut left, mut sides) = (most.max(1), dims.clone());
        for side in sides.iter_mut().rev() {
            let whole = *side;
            *side = left.min(whole).max(1);
            left = if *side == whole { (left / whole.max(1)).max(1) } else { 1 };
        }
        let next = (!dims.contains(&0)).then(|| vec![0; dims.len()]);
        Parts { dims, sides, next }
    }
}

impl Iterator for Parts {
    type Item = Vec<Slab>;

    fn next(&mut self) -> Option<Vec<Slab>> {
        let start = self.next.take()?;
        let bounds = start.iter().zip(self.sides.iter().zip(&self.dims));
        let part = bounds.map(|(&start, (&side, &dim))| Slab::block(start, side.min(dim - start))).collect();
        let mut next = start;
        for ((place, side), dim) in next.iter_mut().zip(&self.sides).zip(&self.dims).rev() {
            *place += side;
            if *place < *dim {
                self.next = Some(next);
                return Some(part);
            }
            *place = 0;
        }
        Some(part)
    }
}
