//! Cutting a read into parts, so that what must be converted never is in memory twice as a whole.

use hyperslab_chunk::DatasetState;
use hyperslab_format::message::Layout;
use hyperslab_space::{Extent, Grid, Kind, Piece, Slab, Space};

use super::OpenDataset;
use crate::{Error, Result, value_buffer::room};

/// Stored bytes of a part, if no chunk is larger: few enough to be in the processor's cache still when they are converted.
const BATCH: u64 = 4 << 20;

impl OpenDataset {
    /// Reads the selected values part after part. Hands the stored bytes of each to `each`, with the places that belong to them.
    pub(super) fn in_batches(
        &self,
        selection: &Space,
        places: &Space,
        each: &mut dyn FnMut(&[u8], &Space) -> Result<()>,
    ) -> Result<()> {
        self.parts(selection, places, Some(false), each)
    }

    /// Reads the selected values part after part, in the order of the selection. Hands the stored bytes of each to `each`.
    pub fn in_order(&self, selection: &Space, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        // Points come in any order; cut into boxes they would lose it.
        let ordered = (selection.kind() != Kind::Points).then_some(true);
        let places = Space::simple(&[selection.npoints()])?;
        self.parts(selection, &places, ordered, &mut |stored, _| each(stored))
    }

    /// Cuts the selection into boxes, which keep the order of values if they are `ordered`; into none, if that is not said.
    fn parts(
        &self,
        selection: &Space,
        places: &Space,
        ordered: Option<bool>,
        each: &mut dyn FnMut(&[u8], &Space) -> Result<()>,
    ) -> Result<()> {
        let _turn = self.turn_to_read(selection)?;
        let cut =
            |ordered| self.inner.storage.with_state(|state| boxes(state, self.datatype().size(), selection, ordered));
        let boxes = ordered.and_then(cut);
        // What no turn keeps others from is held, so that all parts are of one time. The sources of a virtual dataset are others' affair.
        let _held = (self.partition()?.is_none() && self.inner.elsewhere.is_none()).then(|| self.now());
        let mut each = |stored: &[u8], places: &Space| {
            // What values name in the heap stays there meanwhile.
            let _held = (self.datatype().has_vlen() || self.datatype().has_reference()).then(|| self.now());
            self.session().check_alive(self.life())?;
            each(stored, places)
        };
        let Some(boxes) = boxes else {
            return each(&self.read_whole(selection)?, places);
        };
        let extent = self.extent();
        let size = self.datatype().size();
        let mut stored = Vec::new();
        for piece in selection.pieces(&Grid::new(&boxes)?, places)? {
            let piece = piece?;
            let part = placed(&extent, &piece, &boxes)?;
            let count = part.npoints();
            let bytes = usize::try_from(count.saturating_mul(size as u64)).unwrap_or(usize::MAX);
            if bytes > stored.len() {
                stored = room(count, size)?;
            }
            let stored = stored.get_mut(..bytes).unwrap_or_default();
            self.read_part(&part, &Space::simple(&[count])?, stored)?;
            each(stored, &piece.memory)?;
        }
        Ok(())
    }
}

/// A piece of a box as a part of the dataset.
pub(super) fn placed(extent: &Extent, piece: &Piece, boxes: &[u64]) -> Result<Space> {
    let corner = piece.chunk.iter().zip(boxes).map(|(nth, size)| nth.saturating_mul(*size));
    if piece.file.kind() == Kind::All {
        let slabs: Vec<Slab> = corner.zip(boxes).map(|(start, size)| Slab::block(start, *size)).collect();
        let mut whole = Space::new(extent.clone());
        whole.select_hyperslab(hyperslab_space::Op::Set, &slabs)?;
        return Ok(whole);
    }
    let far = |_| Error::Slice("an index beyond 2^63".into());
    let by: Vec<i64> = corner.map(|start| i64::try_from(start).map_err(far)).collect::<Result<_>>()?;
    Ok(Space::with(extent.clone(), piece.file.moved(&by)?.selection().clone())?)
}

/// Boxes of values of `size` bytes that are read or written at once: whole chunks, as many as make a batch of selected values. Boxes that
/// keep the order of values are cut in the first dimension alone. None if there is nothing to cut.
pub(super) fn boxes(state: &DatasetState, size: usize, selection: &Space, ordered: bool) -> Option<Vec<u64>> {
    let (element, count, rank) = (size.max(1) as u64, selection.npoints(), state.extent.rank());
    if rank == 0 || count.saturating_mul(element) <= BATCH {
        return None;
    }
    let unit = match &state.layout.layout {
        Layout::Chunked { chunk, .. } => chunk.clone(),
        _ => vec![1; rank],
    };
    let bytes = unit.iter().fold(element, |bytes, side| bytes.saturating_mul(*side));
    // Enough chunks for all cores.
    let chunks = bytes.saturating_mul(2 * hyperslab_driver::cores::count() as u64);
    cut(unit, state.extent.dims(), element, selection, BATCH.max(chunks.min(16 * BATCH)), ordered)
}

/// Boxes of whole units in an extent of elements, each with at most so many selected bytes if one unit has no more.
pub(super) fn cut(
    unit: Vec<u64>,
    dims: &[u64],
    element: u64,
    selection: &Space,
    most: u64,
    ordered: bool,
) -> Option<Vec<u64>> {
    let (low, high) = selection.bounds()?;
    let sides = low.iter().zip(&high).map(|(low, high)| high.saturating_sub(*low).saturating_add(1));
    let thinness = sides.fold(1u64, u64::saturating_mul) / selection.npoints().max(1);
    let most = most.saturating_mul(thinness.max(1));
    let mut boxes = unit;
    let mut bytes = boxes.iter().fold(element, |bytes, side| bytes.saturating_mul(*side));
    for (dim, (side, &whole)) in boxes.iter_mut().zip(dims).enumerate().rev() {
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
