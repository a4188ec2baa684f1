//! A part of a dataset.

use hyperslab_space::Space;

use crate::{Dataset, Element, Result, Slice, Storable};

/// A part of a dataset, as [`Dataset::slice`] gives it. Nothing is read before one of its values is asked for.
#[derive(Clone, Debug)]
pub struct View {
    dataset: Dataset,
    selection: Space,
    shape: Vec<u64>,
}

impl View {
    pub(crate) fn new(dataset: Dataset, slice: &Slice) -> Result<View> {
        let (selection, shape) = slice.select(&dataset.extent())?;
        Ok(View { dataset, selection, shape })
    }

    /// Its size in each dimension; dimensions with a single index are not among them.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// How many values it has.
    pub fn len(&self) -> u64 {
        self.selection.npoints()
    }

    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Which values of the dataset it holds.
    pub fn selection(&self) -> &Space {
        &self.selection
    }

    /// Its values, the last dimension fastest.
    pub fn read<T: Element>(&self) -> Result<Vec<T>> {
        self.dataset.read_selection(&self.selection)
    }

    /// Writes its values, the last dimension fastest.
    pub fn write<T: Storable>(&self, values: &[T]) -> Result<()> {
        self.dataset.write_selection(&self.selection, values)
    }

    /// Reads its values to `to`, which has room for exactly so many.
    pub fn read_into<T: Element>(&self, to: &mut [T]) -> Result<()> {
        self.dataset.read_selection_into(&self.selection, to)
    }
}
