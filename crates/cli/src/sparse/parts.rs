//! The defined elements of a dataset chunk by chunk, so that neither time nor memory follow its extent.

use hyperslab::space::{Op, Slab, Space};
use hyperslab::{Dataset, Layout, Result};
use std::collections::VecDeque;

/// The most bytes of values in one part.
const PART: u64 = 16 << 20;

/// The defined elements of a selection in parts: those of one chunk after the other, in each by rising coordinates. Of a dataset that is not sparse, all
/// selected elements are defined.
pub(crate) struct DefinedParts<'a> {
    dataset: &'a Dataset,
    selection: Space,
    /// The shape of a chunk; nothing if the dataset is not sparse.
    chunk: Vec<u64>,
    /// The coordinates of chunks that are to come.
    coords: std::vec::IntoIter<Vec<u64>>,
    /// The rest of the chunk that was looked at last.
    ready: VecDeque<Space>,
}

impl<'a> DefinedParts<'a> {
    pub(crate) fn new(dataset: &'a Dataset, selection: Space) -> Result<DefinedParts<'a>> {
        let (mut coords, mut ready, mut chunk) = (Vec::new(), VecDeque::new(), Vec::new());
        match dataset.layout()? {
            Layout::Chunked { chunk: shape, .. } if dataset.is_sparse() => {
                (coords, chunk) = (dataset.chunk_places()?, shape);
            }
            _ => ready.push_back(selection.clone()),
        }
        Ok(DefinedParts { dataset, selection, chunk, coords: coords.into_iter(), ready })
    }

    /// The defined elements of the whole dataset.
    pub(crate) fn all(dataset: &'a Dataset) -> Result<DefinedParts<'a>> {
        DefinedParts::new(dataset, dataset.space())
    }

    /// The selected elements of a chunk that are defined.
    fn of_chunk(&self, coord: &[u64]) -> Result<Space> {
        let mut part = self.selection.clone();
        let sides = coord.iter().zip(&self.chunk).zip(part.dims());
        let slabs: Vec<Slab> = sides
            .map(|((nth, side), dim)| {
                let start = nth.saturating_mul(*side).min(*dim);
                Slab::block(start, (*side).min(dim - start))
            })
            .collect();
        part.select_hyperslab(Op::And, &slabs)?;
        if part.npoints() == 0 { Ok(part) } else { self.dataset.defined(&part) }
    }
}

impl Iterator for DefinedParts<'_> {
    type Item = Result<Space>;

    fn next(&mut self) -> Option<Result<Space>> {
        loop {
            if let Some(part) = self.ready.pop_front() {
                return Some(Ok(part));
            }
            let coord = self.coords.next()?;
            let most = PART / (self.dataset.datatype().size() as u64).max(1);
            match self.of_chunk(&coord).and_then(|part| cut(part, most)) {
                Ok(parts) => self.ready.extend(parts),
                Err(why) => {
                    self.coords = Vec::new().into_iter();
                    return Some(Err(why));
                }
            }
        }
    }
}

/// A selection in parts of at most so many elements, which keep its order; none of nothing.
pub(crate) fn cut(whole: Space, most: u64) -> Result<Vec<Space>> {
    if whole.npoints() <= most.max(1) {
        return Ok(if whole.npoints() == 0 { Vec::new() } else { vec![whole] });
    }
    let (mut parts, mut runs, mut count) = (Vec::new(), Vec::new(), 0);
    let mut finish = |runs: &mut Vec<std::ops::Range<u64>>| -> Result<()> {
        let mut part = Space::new(whole.extent().clone());
        part.select_row_major(std::mem::take(runs))?;
        parts.push(part);
        Ok(())
    };
    for run in whole.runs(1)? {
        let mut start = run.offset;
        while start < run.end() {
            let end = run.end().min(start.saturating_add(most.max(1) - count));
            runs.push(start..end);
            count += end - start;
            if count == most.max(1) {
                finish(&mut runs)?;
                count = 0;
            }
            start = end;
        }
    }
    if !runs.is_empty() {
        finish(&mut runs)?;
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_each_element_once() {
        let mut whole = Space::simple(&[7, 9]).unwrap();
        whole.select_hyperslab(Op::Set, &[Slab::new(0, 3, 2, 2), Slab::block(1, 5)]).unwrap();
        let coords = |space: &Space| space.coords().unwrap().map(|coord| coord.to_vec()).collect::<Vec<_>>();
        for most in 1..22 {
            let parts = cut(whole.clone(), most).unwrap();
            assert!(parts.iter().all(|part| part.npoints() <= most && part.npoints() > 0));
            assert_eq!(parts.iter().flat_map(coords).collect::<Vec<_>>(), coords(&whole));
        }
        whole.select_none();
        assert!(cut(whole, 3).unwrap().is_empty());
    }
}
