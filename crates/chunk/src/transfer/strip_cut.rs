//! How a request is cut into strips, so that only a part of it is in memory at once.

use hyperslab_space::{Extent, Grid, Kind, Op, Piece, Slab, Space};

use crate::{Error, Result};

/// Stored bytes of a strip, if no chunk is larger: few enough to be in the processor's cache still when they are converted.
const STRIP: u64 = 4 << 20;

/// How a request is cut into strips: into boxes of whole units, which have no more selected values than fit a strip, if one unit has no more. Units are chunks, or
/// single values.
#[derive(Clone, Debug)]
pub struct StripCut {
    unit: Vec<u64>,
    /// The bytes of a value.
    element: u64,
    /// The most bytes of a strip.
    most: u64,
    /// Whether strips keep the order of values: then they are cut in the first dimension alone.
    ordered: bool,
}

/// What becomes of each strip: a part of the selection, and the places of its values.
type EachStrip<'a, E> = dyn FnMut(&Space, &Space) -> Result<(), E> + 'a;

impl StripCut {
    /// How a selection is cut whose values, of `element` bytes, lie in chunks or one by one: into strips of a few MiB, `ordered` or not. None if there is nothing to cut.
    pub fn of(chunk: Option<&[u64]>, element: usize, selection: &Space, ordered: bool) -> Option<StripCut> {
        let (element, rank) = (element.max(1) as u64, selection.rank());
        if rank == 0 || selection.npoints().saturating_mul(element) <= STRIP {
            return None;
        }
        let unit = chunk.map_or_else(|| vec![1; rank], <[u64]>::to_vec);
        let bytes = unit.iter().fold(element, |bytes, side| bytes.saturating_mul(*side));
        // Enough chunks for all cores.
        let chunks = bytes.saturating_mul(2 * hyperslab_driver::cores::count() as u64);
        Some(StripCut { unit, element, most: STRIP.max(chunks.min(16 * STRIP)), ordered })
    }

    /// Into strips of at most so many bytes, if one unit has no more, in any order.
    pub fn to_fit(most: u64, unit: Vec<u64>, element: u64) -> StripCut {
        StripCut { unit, element, most, ordered: false }
    }

    /// Hands out a selection in strips, with the places that belong to each.
    pub(super) fn for_each<E: From<Error>>(
        &self,
        selection: &Space,
        mem_selection: &Space,
        each: &mut EachStrip<'_, E>,
    ) -> Result<(), E> {
        let Some(boxes) = self.boxes(selection) else { return each(selection, mem_selection) };
        let grid = Grid::new(&boxes).map_err(Error::from)?;
        for piece in selection.pieces(&grid, mem_selection).map_err(Error::from)? {
            let piece = piece.map_err(Error::from)?;
            let part = placed(selection.extent(), &piece, &boxes)?;
            if part.npoints().saturating_mul(self.element) <= self.most || boxes == self.unit {
                each(&part, &piece.memory)?;
            } else {
                // The selection is denser here than it is on average. The boxes of the part are smaller than it is, or they are single units.
                self.for_each(&part, &piece.memory, each)?;
            }
        }
        Ok(())
    }

    /// Boxes that would have no more than a strip each, if the selected values were as dense everywhere as they are on average between the first and the last one. They
    /// have fewer values than lie between these, or they are as small as they may be. Nothing if nothing is selected, or if they cannot be counted.
    fn boxes(&self, selection: &Space) -> Option<Vec<u64>> {
        let (low, high) = selection.bounds()?;
        let sides = low.iter().zip(&high).map(|(low, high)| high.saturating_sub(*low).saturating_add(1));
        let (between, selected) = (sides.fold(1u64, u64::saturating_mul), selection.npoints().max(1));
        let most = u128::from(self.most) * u128::from(between) / u128::from(selected);
        let most = u64::try_from(most).unwrap_or(u64::MAX);
        let mut boxes = self.unit.clone();
        let mut bytes = boxes.iter().fold(self.element, |bytes, side| bytes.saturating_mul(*side));
        for (dim, (side, &whole)) in boxes.iter_mut().zip(selection.dims()).enumerate().rev() {
            let needed = whole.div_ceil((*side).max(1)).max(1);
            let fits = if self.ordered && dim > 0 { needed } else { (most / bytes.max(1)).clamp(1, needed) };
            *side = side.checked_mul(fits)?;
            bytes = bytes.saturating_mul(fits);
            // Larger boxes in the dimensions before would not be in one piece.
            if fits < needed && !self.ordered {
                break;
            }
        }
        Some(boxes)
    }
}

/// A piece of a box as a part of an extent.
pub(super) fn placed(extent: &Extent, piece: &Piece, boxes: &[u64]) -> Result<Space> {
    let corner = piece.chunk.iter().zip(boxes).map(|(nth, size)| nth.saturating_mul(*size));
    if piece.file.kind() == Kind::All {
        let slabs: Vec<Slab> = corner.zip(boxes).map(|(start, size)| Slab::block(start, *size)).collect();
        let mut whole = Space::new(extent.clone());
        whole.select_hyperslab(Op::Set, &slabs)?;
        return Ok(whole);
    }
    let by: Option<Vec<i64>> = corner.map(|start| i64::try_from(start).ok()).collect();
    let by = by.ok_or_else(|| Error::Layout("an index beyond 2^63".into()))?;
    Ok(Space::with(extent.clone(), piece.file.moved(&by)?.selection().clone())?)
}
