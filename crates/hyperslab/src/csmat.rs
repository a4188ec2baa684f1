//! Sparse matrices of the crate `sprs`.

use hyperslab_base::memory;
use hyperslab_space::ElementRuns;
use sprs::{CsMat, CsMatViewI, SpIndex};

use crate::{Dataset, Element, Error, NewDataset, Result, Storable};

impl Dataset {
    /// The [defined](Dataset::defined) elements of a dataset of two dimensions as a matrix by rows, also those that are zero. Elements that are not defined are zero in a matrix, whatever
    /// the fill value is.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let new = file.root()?.new_dataset::<f32>().shape([3, 4]).sparse();
    /// let dataset = new.create("matrix")?;
    /// dataset.write_coords(&[2, 0, 0, 3], &[5.0f32, 1.5])?;
    /// let matrix = dataset.read_csr::<f64>()?;
    /// assert_eq!((matrix.get(0, 3), matrix.get(2, 0), matrix.nnz()), (Some(&1.5), Some(&5.0), 2));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn read_csr<T: Element>(&self) -> Result<CsMat<T>> {
        let not_two = |dims: usize| Error::Slice(format!("a matrix has two dimensions, and the dataset has {dims}"));
        if self.rank() != 2 {
            return Err(not_two(self.rank()));
        }
        let (elements, values) = self.open.with_extent(|| self.read_defined(&self.space()))?;
        let &[rows, columns] = elements.extent().dims() else { return Err(not_two(elements.extent().rank())) };
        let (Ok(rows), Ok(columns)) = (usize::try_from(rows), usize::try_from(columns)) else {
            return Err(Error::Slice(format!("a matrix of {rows} × {columns} elements is too large for this machine")));
        };
        let (row_ends, indices) = compressed(&elements, rows)?;
        let made = CsMat::try_new((rows, columns), row_ends, indices, values);
        made.map_err(|(.., why)| Error::Slice(format!("a matrix of {rows} × {columns} elements: {why}")))
    }

    /// As [`Dataset::read_csr`], by columns.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let new = file.root()?.new_dataset::<u8>().shape([3, 4]).sparse();
    /// let dataset = new.create("matrix")?;
    /// dataset.write_coords(&[2, 0, 0, 3], &[5u8, 1])?;
    /// assert_eq!(dataset.read_csc::<u8>()?.indices(), [2, 0]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn read_csc<T: Element + Clone + Default>(&self) -> Result<CsMat<T>> {
        let matrix = self.read_csr()?;
        // The other crate takes as much without asking: an end for each column, and all elements once more.
        let _ends = memory::with_room::<usize>(matrix.cols().saturating_mul(2).saturating_add(2))?;
        let _elements = memory::with_room::<(usize, T)>(matrix.nnz())?;
        Ok(matrix.to_csc())
    }
}

impl NewDataset {
    /// Makes a [sparse](NewDataset::sparse) dataset with the shape and the stored elements of a matrix by rows or by columns; stored zeros are defined.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let mut matrix = sprs::TriMat::new((1000, 2000));
    /// matrix.add_triplet(999, 3, 2.5);
    /// matrix.add_triplet(7, 1999, 0.0);
    /// let new = file.root()?.new_dataset::<f64>().deflate(4);
    /// let dataset = new.write_csmat("matrix", matrix.to_csc::<usize>().view())?;
    /// assert_eq!(dataset.defined(&dataset.space())?.npoints(), 2);
    /// assert_eq!(dataset.read_csr::<f64>()?, matrix.to_csr());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn write_csmat<T: Storable, I: SpIndex, Iptr: SpIndex>(
        self,
        path: impl AsRef<[u8]>,
        matrix: CsMatViewI<'_, T, I, Iptr>,
    ) -> Result<Dataset> {
        let mut coords = memory::with_room(matrix.nnz().saturating_mul(2))?;
        for (outer, vector) in matrix.outer_iterator().enumerate() {
            for (inner, _) in vector.iter() {
                let (row, column) = if matrix.is_csr() { (outer, inner) } else { (inner, outer) };
                coords.extend([row as u64, column as u64]);
            }
        }
        let (rows, columns) = matrix.shape();
        let dataset = self.shape([rows as u64, columns as u64]).sparse().create(path)?;
        dataset.write_coords(&coords, matrix.data())?;
        Ok(dataset)
    }
}

/// Where the rows of a matrix begin and end among its elements, and the columns of these.
fn compressed(elements: &ElementRuns, rows: usize) -> Result<(Vec<usize>, Vec<usize>)> {
    let count = usize::try_from(elements.len()).unwrap_or(usize::MAX);
    let (mut ends, mut columns) = (memory::with_room(rows.saturating_add(1))?, memory::with_room(count)?);
    ends.push(0);
    elements.for_each(|element| {
        if let &[row, column] = element {
            // Rows before this one have all their elements.
            ends.resize(row as usize + 1, columns.len());
            columns.push(column as usize);
        }
    });
    ends.resize(rows.saturating_add(1), columns.len());
    Ok((ends, columns))
}
