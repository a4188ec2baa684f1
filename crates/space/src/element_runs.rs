//! Elements of an extent by their row-major numbers: a set that costs two numbers for each run of elements, however they lie.

use std::{mem::MaybeUninit, ops::Range};

use hyperslab_base::memory;

use crate::{Coords, Error, Extent, Result, Space};

/// A set of elements as runs of row-major numbers, which rise and do not touch.
///
/// A [`Space`] with the same elements is a tree by dimensions, which can be combined, projected and cut. Runs are found and walked several times
/// faster, so reads that find out which elements there are hand them out in this form.
///
/// ```
/// use hyperslab_space::{ElementRuns, Extent};
/// let runs = ElementRuns::new(Extent::simple(&[4, 10])?, vec![8..12, 12..13, 39..40])?;
/// assert_eq!((runs.len(), runs.runs()), (6, &[8..13, 39..40][..]));
/// assert_eq!(runs.coords()?, [0, 8, 0, 9, 1, 0, 1, 1, 1, 2, 3, 9]);
/// assert_eq!(ElementRuns::of(&runs.to_space()?)?, runs);
/// # Ok::<(), hyperslab_space::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementRuns {
    extent: Extent,
    runs: Vec<Range<u64>>,
    len: u64,
}

impl ElementRuns {
    /// Elements with these numbers. The ranges must rise and must not overlap; they may touch, and empty ones are skipped. An error names the first range
    /// that is out of order or reaches over the extent; an extent of 2^64 elements or more is refused, because 64 bits cannot number them.
    pub fn new(extent: Extent, mut runs: Vec<Range<u64>>) -> Result<ElementRuns> {
        let elements = extent.elements().ok_or_else(|| Error::Elements(extent.dims().to_vec()))?;
        let (mut before, mut len) = (0, 0);
        for &Range { start, end } in &runs {
            if start > end || start < before {
                return Err(Error::RangeOrder { start, end, before });
            }
            if end > elements {
                return Err(Error::RangeOutOfExtent { start, end, elements });
            }
            (before, len) = (end, len + (end - start));
        }
        runs.retain(|run| run.start < run.end);
        runs.dedup_by(|right, left| {
            let touch = right.start == left.end;
            if touch {
                left.end = right.end;
            }
            touch
        });
        Ok(ElementRuns { extent, runs, len })
    }

    /// The selected elements, each once.
    pub fn of(selection: &Space) -> Result<ElementRuns> {
        let (set, mut runs) = (selection.to_set()?, Vec::new());
        for run in set.runs(1)? {
            memory::reserve(&mut runs, 1)?;
            runs.push(run.offset..run.end());
        }
        ElementRuns::new(set.extent, runs)
    }

    /// The size of the array that the elements are in.
    pub fn extent(&self) -> &Extent {
        &self.extent
    }

    /// How many elements there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Their row-major numbers.
    pub fn runs(&self) -> &[Range<u64>] {
        &self.runs
    }

    /// Their coordinates one after the other, in row-major order: as many numbers for each as there are dimensions.
    pub fn coords(&self) -> Result<Vec<u64>> {
        match self.extent.rank() {
            1 => self.coords_of_rank::<1>(),
            2 => self.coords_of_rank::<2>(),
            3 => self.coords_of_rank::<3>(),
            4 => self.coords_of_rank::<4>(),
            rank => {
                let numbers = usize::try_from(self.len).ok().and_then(|len| len.checked_mul(rank));
                let mut coords = memory::with_room(numbers.unwrap_or(usize::MAX))?;
                self.for_each(|element| coords.extend_from_slice(element));
                Ok(coords)
            }
        }
    }

    /// Writes their coordinates as [`ElementRuns::coords`] lists them to places that need not hold anything yet. `false`, and the places as they were, if there are not
    /// exactly as many places as coordinates; all of them are written otherwise.
    ///
    /// ```
    /// use std::mem::MaybeUninit;
    /// use hyperslab_space::{ElementRuns, Extent};
    /// let elements = ElementRuns::new(Extent::simple(&[4, 10])?, vec![9..11])?;
    /// let mut places = [const { MaybeUninit::uninit() }; 4];
    /// assert!(elements.fill_coords(&mut places) && !elements.fill_coords(&mut places[1..]));
    /// # Ok::<(), hyperslab_space::Error>(())
    /// ```
    #[must_use]
    pub fn fill_coords(&self, places: &mut [MaybeUninit<u64>]) -> bool {
        let numbers = usize::try_from(self.len).ok().and_then(|len| len.checked_mul(self.extent.rank()));
        if numbers != Some(places.len()) {
            return false;
        }
        match self.extent.rank() {
            1 => self.fill_coords_of_rank::<1>(places),
            2 => self.fill_coords_of_rank::<2>(places),
            3 => self.fill_coords_of_rank::<3>(places),
            4 => self.fill_coords_of_rank::<4>(places),
            _ => {
                let mut places = places.iter_mut();
                self.for_each(|element| {
                    for (index, place) in element.iter().zip(places.by_ref()) {
                        place.write(*index);
                    }
                });
            }
        }
        true
    }

    /// As [`ElementRuns::fill_coords`], where a constant number of dimensions lets the compiler write many coordinates at once.
    fn fill_coords_of_rank<const RANK: usize>(&self, places: &mut [MaybeUninit<u64>]) {
        let mut places = places.as_chunks_mut::<RANK>().0;
        self.for_each_stretch(|first, count| {
            let first: [u64; RANK] = std::array::from_fn(|dim| first.get(dim).copied().unwrap_or_default());
            let here = places.split_off_mut(..count as usize).unwrap_or_default();
            for (place, further) in here.iter_mut().zip(0..) {
                let mut element = first;
                if let Some(last) = element.last_mut() {
                    *last += further;
                }
                *place = element.map(MaybeUninit::new);
            }
        });
    }

    /// As [`ElementRuns::coords`], where a constant number of dimensions lets the compiler write many coordinates at once.
    fn coords_of_rank<const RANK: usize>(&self) -> Result<Vec<u64>> {
        let mut coords: Vec<[u64; RANK]> = memory::with_room(usize::try_from(self.len).unwrap_or(usize::MAX))?;
        self.for_each_stretch(|first, count| {
            let first: [u64; RANK] = std::array::from_fn(|dim| first.get(dim).copied().unwrap_or_default());
            coords.extend((0..count).map(|further| {
                let mut element = first;
                if let Some(last) = element.last_mut() {
                    *last += further;
                }
                element
            }));
        });
        Ok(coords.into_flattened())
    }

    /// Calls `each` with the coordinates of each element, in row-major order.
    pub fn for_each(&self, mut each: impl FnMut(&[u64])) {
        self.for_each_stretch(|first, count| {
            let mut element = Coords::from_slice(first);
            for nth in 0..count {
                if let Some((last, first)) = element.last_mut().zip(first.last()) {
                    *last = first + nth;
                }
                each(&element);
            }
        });
    }

    /// Calls `each` with the coordinates of an element and how many there are from it on in its row, in row-major order.
    pub(crate) fn for_each_stretch(&self, mut each: impl FnMut(&[u64], u64)) {
        let dims = self.extent.dims();
        let row = dims.last().copied().unwrap_or(1).max(1);
        // The numbers of a row, and the coordinates of its first element: there is one division for each dimension and row, not for each stretch.
        let (mut now, mut element) = (0..0, Coords::from_elem(0, dims.len()));
        for run in &self.runs {
            let mut first = run.start;
            while first < run.end {
                if !now.contains(&first) {
                    let start = first - first % row;
                    now = start..start.saturating_add(row);
                    let mut rest = start;
                    for (index, dim) in element.iter_mut().zip(dims).rev() {
                        (*index, rest) = (rest % dim, rest / dim);
                    }
                }
                if let Some(last) = element.last_mut() {
                    *last = first - now.start;
                }
                let end = run.end.min(now.end);
                each(&element, end - first);
                first = end;
            }
        }
    }

    /// A selection of these elements.
    pub fn to_space(&self) -> Result<Space> {
        let mut space = Space::new(self.extent.clone());
        space.select_row_major(self.runs.iter().cloned())?;
        Ok(space)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_those_of_the_selection_in_row_major_order() {
        let mut space = Space::simple(&[3, 2, 5]).unwrap();
        space.select_points(&[2, 1, 4, 0, 0, 3, 0, 0, 4, 0, 1, 0, 0, 0, 3]).unwrap();
        let runs = ElementRuns::of(&space).unwrap();
        assert_eq!((runs.len(), runs.runs()), (4, &[3..6, 29..30][..]));
        let coords: Vec<u64> = space.to_set().unwrap().coords().unwrap().flatten().collect();
        assert_eq!(runs.coords().unwrap(), coords);
        assert_eq!(ElementRuns::of(&Space::scalar()).unwrap().coords().unwrap(), []);
        assert_eq!(ElementRuns::of(&Space::scalar()).unwrap().len(), 1);
        assert!(ElementRuns::of(&Space::simple(&[3, 0]).unwrap()).unwrap().is_empty());
    }

    #[test]
    fn coordinates_are_the_same_in_places_that_are_there() {
        for dims in [&[120][..], &[6, 20], &[2, 3, 20], &[1, 6, 4, 5], &[2, 3, 1, 4, 5]] {
            let runs = vec![0..3, 4..5, 19..47, 100..120];
            let elements = ElementRuns::new(Extent::simple(dims).unwrap(), runs).unwrap();
            let coords = elements.coords().unwrap();
            let mut places = vec![MaybeUninit::new(u64::MAX); coords.len()];
            assert!(!elements.fill_coords(&mut places[1..]));
            assert!(elements.fill_coords(&mut places));
            // SAFETY: all places were written when they were made.
            #[expect(unsafe_code, reason = "there is no other way to look at them")]
            let found: Vec<u64> = places.into_iter().map(|place| unsafe { place.assume_init() }).collect();
            assert_eq!(found, coords);
            let encoded = elements.encode_as_points().unwrap();
            assert_eq!(encoded, elements.to_space().unwrap().encode_as_points().unwrap());
        }
    }

    #[test]
    fn ranges_out_of_order_or_extent_are_refused() {
        let new = |runs: &[Range<u64>]| ElementRuns::new(Extent::simple(&[10]).unwrap(), runs.to_vec());
        assert_eq!(new(&[0..3, 2..4]), Err(Error::RangeOrder { start: 2, end: 4, before: 3 }));
        assert_eq!(new(&[0..1, 8..11]), Err(Error::RangeOutOfExtent { start: 8, end: 11, elements: 10 }));
        assert_eq!(new(&[0..1, 2..2, 3..5, 5..6]).unwrap().runs(), [0..1, 3..6]);
        let large = Extent::simple(&[1 << 40, 1 << 40]).unwrap();
        assert!(matches!(ElementRuns::new(large, Vec::new()), Err(Error::Elements(_))));
    }
}
