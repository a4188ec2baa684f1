//! A part of a dataset.

use hyperslab_space::Space;

use crate::{Dataset, Element, Result, Slice, Storable};

/// A part of a dataset, as [`Dataset::slice`] gives it. Nothing is read before one of its values is asked for.
///
/// A view belongs to the extent that the dataset had when the view was made. When the dataset is resized, reads and writes of the view are
/// refused with [`Error::Extent`](crate::Error::Extent): the same slice may mean other values then.
///
/// ```
/// use hyperslab::{Error, s};
/// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
/// let log = file.root()?.new_dataset::<i32>().shape([3]).max_shape([None]).write("log", &[1, 2, 3])?;
/// let last = log.slice(s![-1])?;
/// log.resize([4])?;
/// assert!(matches!(last.read::<i32>(), Err(Error::Extent { .. })));
/// assert_eq!(log.read_slice::<i32>(s![-1])?, [0]); // resolved when it is read
/// # Ok::<(), hyperslab::Error>(())
/// ```
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
