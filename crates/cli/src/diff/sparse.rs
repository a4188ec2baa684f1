//! Comparing datasets of which one at least is sparse: only what is defined or stored in either is walked, not the extent.

use super::Differ;
use super::values::{Differing, Example};
use crate::pieces::Pieces;
use crate::sparse::DefinedParts;
use hyperslab::space::{Block, Op, Slab, Space};
use hyperslab::{Dataset, Layout, Result, Value};

/// What an undefined element is called.
const UNDEFINED: &str = "undefined";

/// On which side an element is defined alone.
#[derive(Clone, Copy)]
enum Only {
    Left,
    Right,
}

impl Differ<'_> {
    /// Compares two sparse datasets: an element that only one of them defines is a difference, whatever its value.
    pub(super) fn sparse_pair(&self, left: &Dataset, right: &Dataset) -> Result<Differing> {
        let mut found = Differing::default();
        for part in DefinedParts::all(left)? {
            let part = part?;
            let both = placed(left, &right.defined(&placed(right, &part)?)?)?;
            self.part(left, right, &both, &mut found)?;
            self.only(left, &part, &both, (Only::Left, &mut found))?;
            if self.is_enough(&found) {
                return Ok(found);
            }
        }
        for part in DefinedParts::all(right)? {
            let part = part?;
            let both = placed(right, &left.defined(&placed(left, &part)?)?)?;
            self.only(right, &part, &both, (Only::Right, &mut found))?;
            if self.is_enough(&found) {
                break;
            }
        }
        Ok(found)
    }

    /// Compares a sparse dataset with one that is not, whose fill value is the same: first the chunks that the other one has in the file, then what the
    /// sparse one defines elsewhere. Nothing if the other one is not in chunks.
    pub(super) fn sparse_and_dense(&self, left: &Dataset, right: &Dataset) -> Result<Option<Differing>> {
        let (sparse, dense) = if left.is_sparse() { (left, right) } else { (right, left) };
        let Layout::Chunked { chunk, .. } = dense.layout()? else { return Ok(None) };
        let boxes: Vec<Vec<Slab>> = dense.chunk_places()?.iter().map(|coord| of_chunk(coord, &chunk, dense)).collect();
        let mut found = Differing::default();
        for slabs in boxes.iter().flat_map(|slabs| Pieces::new(dense, slabs)) {
            let mut part = left.space();
            part.select_hyperslab(Op::Set, &slabs)?;
            self.part(left, right, &part, &mut found)?;
            if self.is_enough(&found) {
                return Ok(Some(found));
            }
        }
        let mut stored = left.space();
        stored.select_blocks(Op::Set, &boxes.iter().map(|slabs| block(slabs)).collect::<Vec<_>>())?;
        for part in DefinedParts::all(sparse)? {
            let rest = placed(left, &part?)?.combine(Op::NotB, &stored)?;
            self.part(left, right, &rest, &mut found)?;
            if self.is_enough(&found) {
                break;
            }
        }
        Ok(Some(found))
    }

    /// Whether undefined elements of both have the same value.
    pub(super) fn same_fill(&self, left: &Dataset, right: &Dataset) -> Result<bool> {
        Ok(match (crate::sparse::fill(left)?, crate::sparse::fill(right)?) {
            (Some(left), Some(right)) => self.rules.equal(&left, &right, (&self.left, &self.right)),
            (left, right) => left.is_none() && right.is_none(),
        })
    }

    /// Compares the values of a part of both.
    fn part(&self, left: &Dataset, right: &Dataset, part: &Space, found: &mut Differing) -> Result<()> {
        if part.npoints() == 0 {
            return Ok(());
        }
        let there = placed(right, part)?;
        self.selected((left, part), (right, &there), &|number| coord(part, number), found)
    }

    /// Counts what is defined in a part of one side, and not in `both`.
    fn only(&self, dataset: &Dataset, part: &Space, both: &Space, (side, found): (Only, &mut Differing)) -> Result<()> {
        if part.npoints() == both.npoints() {
            return Ok(());
        }
        let only = part.combine(Op::NotB, both)?;
        let count = only.npoints();
        let names = match side {
            Only::Left => &self.left.names,
            Only::Right => &self.right.names,
        };
        *(match side {
            Only::Left => &mut found.defined_only_left,
            Only::Right => &mut found.defined_only_right,
        }) += count;
        (found.differing, found.compared) = (found.differing + count, found.compared + count);
        let room = self.options.limit.saturating_sub(found.first.len());
        let Some(shown) = crate::sparse::cut(only, room as u64)?.into_iter().next().filter(|_| room > 0) else {
            return Ok(());
        };
        for (at, value) in shown.coords()?.zip(dataset.read_values(&shown)?) {
            let (defined, undefined) = (names.show(&value?), UNDEFINED.to_owned());
            let (left, right) = match side {
                Only::Left => (defined, undefined),
                Only::Right => (undefined, defined),
            };
            found.first.push(Example { at: at.to_vec(), left, right });
        }
        Ok(())
    }

    fn is_enough(&self, found: &Differing) -> bool {
        self.options.quiet && found.differing > 0
    }

    /// The fill value of a side in words.
    pub(super) fn fill_words(&self, dataset: &Dataset, is_left: bool) -> Result<String> {
        let names = if is_left { &self.left.names } else { &self.right.names };
        let words = |value: Value| names.show(&value);
        Ok(crate::sparse::fill(dataset)?.map_or_else(|| "none".to_owned(), words))
    }
}

/// The same elements of another dataset of the same shape, which may be able to grow further.
fn placed(dataset: &Dataset, part: &Space) -> Result<Space> {
    Ok(Space::with(dataset.extent(), part.selection().clone())?)
}

/// The coordinates of an element by its number in a selection.
fn coord(part: &Space, number: u64) -> Vec<u64> {
    let coords = part.coords().ok();
    coords.and_then(|mut coords| coords.nth(number as usize)).map_or_else(Vec::new, |coord| coord.to_vec())
}

/// The elements of a chunk that the dataset has.
fn of_chunk(coord: &[u64], chunk: &[u64], dataset: &Dataset) -> Vec<Slab> {
    let sides = coord.iter().zip(chunk).zip(dataset.shape());
    sides
        .map(|((nth, side), dim)| {
            let start = nth.saturating_mul(*side).min(dim);
            Slab::block(start, (*side).min(dim - start))
        })
        .collect()
}

fn block(slabs: &[Slab]) -> Block {
    let end = |slab: &Slab| (slab.start + slab.block).saturating_sub(1);
    Block { start: slabs.iter().map(|slab| slab.start).collect(), end: slabs.iter().map(end).collect() }
}
