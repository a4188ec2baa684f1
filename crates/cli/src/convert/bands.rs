//! The defined elements of a matrix or a stack of images by rows or by columns, in parts of bounded size.

use crate::sparse::cut;
use hyperslab::space::{Op, Slab, Space};
use hyperslab::{Dataset, Layout, Result};

/// So many elements are read at once.
pub(super) const PART: u64 = 1 << 17;

/// Elements that follow each other in the lists.
pub(super) struct Part {
    /// A coordinate for each element.
    pub(super) coords: Vec<Vec<u64>>,
    /// Their values as they are stored.
    pub(super) values: Vec<u8>,
}

/// Ranges of the dimension that leads in the lists. They are no larger than chunks, and have about as many elements as are read at once.
pub(super) fn bands(dataset: &Dataset, leading: usize) -> Result<impl Iterator<Item = Slab>> {
    let (length, side) = match dataset.layout()? {
        Layout::Chunked { chunk, .. } => (dataset.shape().get(leading).copied(), chunk.get(leading).copied()),
        _ => (None, None),
    };
    let (length, defined) = (length.unwrap_or(0), dataset.stored_sections()?.unwrap_or_default().defined);
    let fits = u128::from(PART) * u128::from(length) / u128::from(defined.max(1));
    let side = u64::try_from(fits).unwrap_or(u64::MAX).min(side.unwrap_or(1)).max(1);
    Ok((0..length.div_ceil(side)).map(move |nth| Slab::block(nth * side, side.min(length - nth * side))))
}

/// Gives the defined elements of a band to `take`, a part at a time, in the order of the lists: by the leading dimension, then row-major.
pub(super) fn parts(
    dataset: &Dataset,
    leading: usize,
    band: Slab,
    take: &mut dyn FnMut(Part) -> Result<()>,
) -> Result<()> {
    let mut bands = vec![band];
    while let Some(band) = bands.pop() {
        let defined = dataset.defined(&of_band(dataset, leading, band)?)?;
        // Where another dimension than the first leads, elements must be sorted: all of a band together.
        let is_sorted = leading == 0 || band.block == 1;
        if !is_sorted && defined.npoints() > PART {
            let half = band.block / 2;
            bands.push(Slab::block(band.start + half, band.block - half));
            bands.push(Slab::block(band.start, half));
            continue;
        }
        for part in cut(defined, PART)? {
            let coords: Vec<Vec<u64>> = part.coords()?.map(|coord| coord.to_vec()).collect();
            let part = Part { coords, values: dataset.read_stored_selection(&part)? };
            take(if is_sorted { part } else { part.sorted(leading, dataset.datatype().size()) })?;
        }
    }
    Ok(())
}

/// All elements of a band.
fn of_band(dataset: &Dataset, leading: usize, band: Slab) -> Result<Space> {
    let mut space = dataset.space();
    let sides = dataset.shape().into_iter().enumerate();
    let slabs: Vec<_> = sides.map(|(at, side)| if at == leading { band } else { Slab::block(0, side) }).collect();
    space.select_hyperslab(Op::Set, &slabs)?;
    Ok(space)
}

impl Part {
    /// The same elements by one of the dimensions first; of those that are equal there, the order stays.
    fn sorted(self, leading: usize, size: usize) -> Part {
        let values = self.values.chunks_exact(size.max(1));
        let mut elements: Vec<_> = self.coords.into_iter().zip(values).collect();
        elements.sort_by_key(|(coord, _)| coord.get(leading).copied());
        let values = elements.iter().flat_map(|(_, value)| value.iter().copied()).collect();
        Part { coords: elements.into_iter().map(|(coord, _)| coord).collect(), values }
    }
}
