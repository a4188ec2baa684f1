//! Arrays of the crate `ndarray`.

use ndarray::{Array, ArrayView, ArrayViewMut, Dimension, IxDyn, ShapeError};

use crate::{Attribute, Dataset, Element, Error, NewDataset, Result, Slice, Storable, View};

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

/// Writing.
impl Dataset {
    /// Writes all values from an array of the same shape.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let values = ndarray::array![[1, 2], [3, 4]];
    /// let dataset = file.root()?.new_dataset::<i32>().write_array("table", values.view())?;
    /// dataset.write_array(values.t())?;
    /// assert_eq!(dataset.read::<i32>()?, [1, 3, 2, 4]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn write_array<T: Storable, D: Dimension>(&self, from: ArrayView<'_, T, D>) -> Result<()> {
        self.slice(Slice::default())?.write_array(from)
    }

    /// Writes the values of a slice from an array of its shape.
    pub fn write_slice_array<T: Storable, D: Dimension>(
        &self,
        slice: impl Into<Slice>,
        from: ArrayView<'_, T, D>,
    ) -> Result<()> {
        self.slice(slice)?.write_array(from)
    }
}

impl NewDataset {
    /// Makes the dataset with the shape and the values of an array.
    pub fn write_array<T: Storable, D: Dimension>(
        self,
        path: impl AsRef<[u8]>,
        from: ArrayView<'_, T, D>,
    ) -> Result<Dataset> {
        let shape: Vec<u64> = from.shape().iter().map(|&side| side as u64).collect();
        match from.as_slice() {
            Some(values) => self.shape(shape).write(path, values),
            None => self.shape(shape).write(path, &from.iter().collect::<Vec<&T>>()),
        }
    }
}

impl View {
    /// Writes its values from an array of the same shape, without a copy if that lies in memory as files have it.
    pub fn write_array<T: Storable, D: Dimension>(&self, from: ArrayView<'_, T, D>) -> Result<()> {
        let same = from.shape().iter().map(|&side| side as u64).eq(self.shape().iter().copied());
        if !same {
            return Err(Error::Slice(format!("an array of {:?} for values of {:?}", from.shape(), self.shape())));
        }
        match from.as_slice() {
            Some(values) => self.write(values),
            None => self.write(&from.iter().collect::<Vec<&T>>()),
        }
    }

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
