//! Selections from the row-major numbers of elements.

use std::ops::Range;

use crate::{Error, Result, Selection, Space, tree};

impl Space {
    /// Selects the elements with these row-major numbers, in place of what was selected before. The ranges must rise and must not
    /// overlap; they may touch, and empty ones are skipped. Time and memory follow the number of ranges and of dimensions, not the
    /// number of elements.
    ///
    /// An error names the first range that is out of order or reaches over the extent, and leaves the selection as it was. An extent
    /// of 2^64 elements or more is refused, because 64 bits cannot number them.
    ///
    /// ```
    /// use hyperslab_space::{Kind, Slab, Space};
    /// let mut space = Space::simple(&[4, 10])?;
    /// space.select_row_major(std::iter::once(8..32))?; // the end of row 0, rows 1 and 2, the start of row 3
    /// assert_eq!(space.npoints(), 24);
    /// assert!(space.contains(&[0, 8])? && space.contains(&[3, 1])? && !space.contains(&[3, 2])?);
    ///
    /// space.select_row_major([3..5, 13..15, 23..25])?; // a column
    /// assert_eq!(space.regular().unwrap(), [Slab::block(0, 3), Slab::block(3, 2)]);
    ///
    /// space.select_row_major([0..15, 15..40])?;
    /// assert_eq!(space.kind(), Kind::All);
    /// assert!(space.select_row_major([0..3, 39..41]).is_err());
    /// # Ok::<(), hyperslab_space::Error>(())
    /// ```
    pub fn select_row_major(&mut self, runs: impl IntoIterator<Item = Range<u64>>) -> Result<()> {
        let elements = self.extent.elements().ok_or_else(|| Error::Elements(self.dims().to_vec()))?;
        let mut numbers: Vec<Range<u64>> = Vec::new();
        for Range { start, end } in runs {
            let before = numbers.last().map_or(0, |last| last.end);
            if start == end {
                continue;
            }
            if start > end || start < before {
                return Err(Error::RangeOrder { start, end, before });
            }
            if end > elements {
                return Err(Error::RangeOutOfExtent { start, end, elements });
            }
            tree::append(&mut numbers, start..end);
        }
        self.selection = match numbers.as_slice() {
            [] => Selection::NONE,
            [all] if *all == (0..elements) => Selection::ALL,
            // Row-major numbers are the places of the elements in the order of the selection that holds all of them.
            _ => Space::new(self.extent.clone()).numbered()?.take(&numbers)?,
        };
        Ok(())
    }
}
