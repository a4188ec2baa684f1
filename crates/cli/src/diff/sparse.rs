//! Comparing datasets of which one at least is sparse: only what is defined or stored in either is walked, not the extent.

use super::Differ;
use super::values::{Differing, Example, is_unwritten};
use crate::pieces::Pieces;
use crate::sparse::{DefinedParts, cut};
use hyperslab::space::{Block, Op, Slab, Space};
use hyperslab::{Dataset, Layout, Result, Value};

/// The most bytes of values in a part of a virtual dataset.
const PART: u64 = 16 << 20;
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

    /// Compares the values of a sparse dataset and of one that is not: first what the other one has, that is its chunks in the file, or what the sources of a virtual one
    /// have defined; then what the sparse one defines elsewhere. All other elements are not walked: they have the fill values of both. Nothing if the other one has all elements
    /// in one piece.
    pub(super) fn sparse_and_dense(&self, left: &Dataset, right: &Dataset) -> Result<Option<Differing>> {
        let (sparse, dense) = if left.is_sparse() { (left, right) } else { (right, left) };
        let Some((stored, parts)) = stored_parts(dense)? else { return Ok(None) };
        let (mut found, stored) = (Differing::default(), placed(left, &stored)?);
        let mut covered = stored.npoints();
        for part in parts {
            self.part(left, right, &placed(left, &part?)?, &mut found)?;
            if self.is_enough(&found) {
                return Ok(Some(found));
            }
        }
        for part in DefinedParts::all(sparse)? {
            let rest = placed(left, &part?)?.combine(Op::NotB, &stored)?;
            self.part(left, right, &rest, &mut found)?;
            covered += rest.npoints();
            if self.is_enough(&found) {
                return Ok(Some(found));
            }
        }
        let undefined = left.len().saturating_sub(covered);
        if undefined > 0 && !self.reads_same(left, right)? {
            let defined = placed(left, &sparse.defined(&sparse.space())?)?;
            let rest = left.space().combine(Op::NotB, &stored.combine(Op::Or, &defined)?)?;
            let [mine, other] = [left, right].map(|dataset| std::iter::once(undefined_value(dataset)));
            self.pairs(mine, other, &|number| coord(&rest, number), &mut found)?;
            (found.differing, found.compared) = (found.differing + undefined - 1, found.compared + undefined - 1);
        }
        Ok(Some(found))
    }

    /// Whether undefined elements of both read as the same value.
    fn reads_same(&self, left: &Dataset, right: &Dataset) -> Result<bool> {
        let (left, right) = (undefined_value(left)?, undefined_value(right)?);
        Ok(self.rules.equal(&left, &right, (&self.left, &self.right)))
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

/// Parts of a dataset.
type Parts<'a> = Box<dyn Iterator<Item = Result<Space>> + 'a>;

/// What a dataset that is not sparse has stored, as a whole and in parts; nothing if that is all.
fn stored_parts(dense: &Dataset) -> Result<Option<(Space, Parts<'_>)>> {
    let mut stored = dense.space();
    Ok(match dense.layout()? {
        Layout::Chunked { chunk, .. } => {
            let places = dense.chunk_places()?;
            let boxes: Vec<Vec<Slab>> = places.iter().map(|coord| of_chunk(coord, &chunk, dense)).collect();
            stored.select_blocks(Op::Set, &boxes.iter().map(|slabs| block(slabs)).collect::<Vec<_>>())?;
            let pieces = boxes.into_iter().flat_map(move |slabs| Pieces::new(dense, &slabs));
            let parts = pieces.map(move |slabs| {
                let mut part = dense.space();
                part.select_hyperslab(Op::Set, &slabs)?;
                Ok::<_, hyperslab::Error>(part)
            });
            Some((stored, Box::new(parts)))
        }
        Layout::Virtual(_) => {
            let defined = dense.defined(&stored)?;
            let parts = cut(defined.clone(), PART / (dense.datatype().size() as u64).max(1))?;
            Some((defined, Box::new(parts.into_iter().map(Ok))))
        }
        _ if is_unwritten(dense) => {
            stored.select_none();
            Some((stored, Box::new(std::iter::empty())))
        }
        _ => None,
    })
}

/// What an undefined element reads as.
fn undefined_value(dataset: &Dataset) -> Result<Value> {
    if let Some(fill) = crate::sparse::fill(dataset)? {
        return Ok(fill);
    }
    let (file, zeros) = (dataset.file(), vec![0; dataset.datatype().size()]);
    let mut values = file.stored_values(dataset.datatype(), &zeros)?;
    values.next().unwrap_or_else(|| Ok(Value::Null))
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
