//! Arrays of the crate `ndarray`.

use ndarray::{Array, ArrayViewMut, Dimension, IxDyn, ShapeError};

use crate::{Attribute, Dataset, Element, Error, Result, Slice, View};

impl Dataset {
    /// All values as an array.
    ///
    /// ```
    /// # let file = hyperslab::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5"))?;
    /// let values = file.dataset("temperature")?.read_array::<f32, ndarray::Ix2>()?;
    /// assert_eq!(values[[2, 3]], 33.0);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn read_array<T: Element, D: Dimension>(&self) -> Result<Array<T, D>> {
        self.slice(Slice::default())?.read_array()
    }

    /// The values of a slice as an array; a single index takes a dimension away.
    ///
    /// ```
    /// use hyperslab::s;
    /// # let file = hyperslab::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5"))?;
    /// let column = file.dataset("temperature")?.read_slice_array::<f32, ndarray::Ix1>(s![.., 0])?;
    /// assert_eq!(column, ndarray::array![11.5, 21.5, 31.5]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn read_slice_array<T: Element, D: Dimension>(&self, slice: impl Into<Slice>) -> Result<Array<T, D>> {
        self.slice(slice)?.read_array()
    }

    /// Reads all values to an array of the same shape.
    pub fn read_array_into<T: Element, D: Dimension>(&self, to: ArrayViewMut<'_, T, D>) -> Result<()> {
        self.slice(Slice::default())?.read_array_into(to)
    }
}

impl View {
    /// Its values as an array.
    pub fn read_array<T: Element, D: Dimension>(&self) -> Result<Array<T, D>> {
        shaped(self.shape(), self.read()?)
    }

    /// Reads its values to an array of the same shape, without a copy if that lies in memory as files have it.
    pub fn read_array_into<T: Element, D: Dimension>(&self, mut to: ArrayViewMut<'_, T, D>) -> Result<()> {
        let same = to.shape().iter().map(|&side| side as u64).eq(self.shape().iter().copied());
        if !same {
            return Err(Error::Slice(format!("an array of {:?} for values of {:?}", to.shape(), self.shape())));
        }
        if let Some(places) = to.as_slice_mut() {
            return self.read_into(places);
        }
        to.iter_mut().zip(self.read()?).for_each(|(place, value)| *place = value);
        Ok(())
    }
}

impl Attribute {
    /// Its values as an array.
    pub fn read_array<T: Element, D: Dimension>(&self) -> Result<Array<T, D>> {
        shaped(self.shape(), self.read()?)
    }
}

fn shaped<T, D: Dimension>(shape: &[u64], values: Vec<T>) -> Result<Array<T, D>> {
    let refuse = |why: ShapeError| Error::Slice(format!("values of {shape:?} as such an array: {why}"));
    let sides: Vec<usize> = shape.iter().map(|&side| usize::try_from(side).unwrap_or(usize::MAX)).collect();
    Array::from_shape_vec(IxDyn(&sides), values).and_then(Array::into_dimensionality).map_err(refuse)
}
