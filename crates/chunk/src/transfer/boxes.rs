//! The boxes that a request is cut into, so that only a part of it is in memory at once.

use hyperslab_space::Space;

/// Stored bytes of a strip, if no chunk is larger: few enough to be in the processor's cache still when they are converted.
const STRIP: u64 = 4 << 20;

/// The boxes of a selection whose values are read or written at once: whole units, as many as make a strip of selected values. Units are chunks, or single values
/// of `element` bytes. Boxes that keep the order of values are cut in the first dimension alone. None if there is nothing to cut.
pub fn strip_boxes(chunk: Option<&[u64]>, element: usize, selection: &Space, ordered: bool) -> Option<Vec<u64>> {
    let (element, rank) = (element.max(1) as u64, selection.rank());
    if rank == 0 || selection.npoints().saturating_mul(element) <= STRIP {
        return None;
    }
    let unit = chunk.map_or_else(|| vec![1; rank], <[u64]>::to_vec);
    let bytes = unit.iter().fold(element, |bytes, side| bytes.saturating_mul(*side));
    // Enough chunks for all cores.
    let chunks = bytes.saturating_mul(2 * hyperslab_driver::cores::count() as u64);
    cut_boxes(unit, element, selection, STRIP.max(chunks.min(16 * STRIP)), ordered)
}

/// Boxes of whole units, each with at most so many selected bytes if one unit has no more. The selection is one of all values.
pub fn cut_boxes(unit: Vec<u64>, element: u64, selection: &Space, most: u64, ordered: bool) -> Option<Vec<u64>> {
    let (low, high) = selection.bounds()?;
    let sides = low.iter().zip(&high).map(|(low, high)| high.saturating_sub(*low).saturating_add(1));
    let thinness = sides.fold(1u64, u64::saturating_mul) / selection.npoints().max(1);
    let most = most.saturating_mul(thinness.max(1));
    let mut boxes = unit;
    let mut bytes = boxes.iter().fold(element, |bytes, side| bytes.saturating_mul(*side));
    for (dim, (side, &whole)) in boxes.iter_mut().zip(selection.dims()).enumerate().rev() {
        let needed = whole.div_ceil((*side).max(1)).max(1);
        let fits = if ordered && dim > 0 { needed } else { (most / bytes.max(1)).clamp(1, needed) };
        *side = side.checked_mul(fits)?;
        bytes = bytes.saturating_mul(fits);
        // Larger boxes in the dimensions before would not be in one piece.
        if fits < needed && !ordered {
            break;
        }
    }
    Some(boxes)
}
