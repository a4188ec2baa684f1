//! Lists of points: those of a point selection, or the elements of any other selection one by one.

use hyperslab_base::{Sink, Width};

use super::{
    Form,
    content::{NONE, POINTS},
    selection::{WITHOUT_CONTENT_BYTES, encode_without_content},
    version::{self, Layout},
};
use crate::{ElementRuns, Error, Result, Space};

impl Space {
    /// The dataspace encoded in the smallest form with its selected elements listed as points in their order, as
    /// [`Space::select_points`] and [`Space::encode`] would do; the result is the only memory that this takes. Elements that lie apart
    /// take half the bytes that they take as blocks.
    ///
    /// An unlimited selection and the element of a scalar are refused, because they have no list of points.
    ///
    /// ```
    /// use hyperslab_space::{Kind, Space};
    /// let mut space = Space::simple(&[4, 4])?;
    /// space.select_row_major([1..2, 7..9])?;
    /// let bytes = space.encode_as_points()?;
    /// assert!((bytes.len() as u64) < space.encoded_bytes()?);
    /// let points = Space::decode(&bytes)?;
    /// assert_eq!(points.kind(), Kind::Points);
    /// assert!(points.coords()?.eq(space.coords()?));
    /// # Ok::<(), hyperslab_space::Error>(())
    /// ```
    pub fn encode_as_points(&self) -> Result<Vec<u8>> {
        let mut sink = self.encode_extent(Form::Smallest)?;
        match self.npoints() {
            0 => encode_without_content(&mut sink, NONE),
            _ if self.rank() == 0 => return Err(Error::Encode("the element of a scalar has no coordinates to list")),
            _ => self.encode_points(&mut sink, version::of_points(self))?,
        }
        Ok(sink.into_bytes())
    }

    /// How many bytes [`Space::encode_as_points`] takes, found without encoding; `u64::MAX` for what it refuses.
    ///
    /// ```
    /// use hyperslab_space::Space;
    /// let space = Space::simple(&[4, 4])?;
    /// assert_eq!(space.encode_as_points()?.len() as u64, space.encoded_points_bytes());
    /// # Ok::<(), hyperslab_space::Error>(())
    /// ```
    pub fn encoded_points_bytes(&self) -> u64 {
        self.extent_bytes().saturating_add(match self.npoints() {
            0 => WITHOUT_CONTENT_BYTES,
            _ if self.rank() == 0 => u64::MAX,
            _ => self.points_bytes(version::of_points(self)),
        })
    }

    /// How many bytes the selected elements take as points of version 2.
    pub(super) fn points_bytes(&self, layout: Layout) -> u64 {
        self.list_bytes(layout.width).saturating_add(13)
    }

    /// How many bytes the count and the coordinates of the selected elements take.
    fn list_bytes(&self, width: Width) -> u64 {
        let numbers = self.npoints().saturating_mul(self.rank() as u64).saturating_add(1);
        numbers.saturating_mul(width.bytes() as u64)
    }

    /// Appends the selected elements as points.
    pub(super) fn encode_points(&self, sink: &mut Sink, layout: Layout) -> Result<()> {
        let coords = self.coords()?;
        let bytes = self.list_bytes(layout.width);
        self.encode_head(sink, POINTS, layout, None, bytes.saturating_add(4))?;
        if !usize::try_from(bytes).is_ok_and(|bytes| sink.try_reserve_exact(bytes)) {
            return Err(Error::Encode("there is no memory for the list of all selected elements"));
        }
        sink.uint(layout.width, self.npoints());
        for index in coords.flatten() {
            sink.uint(layout.width, index);
        }
        Ok(())
    }
}

impl ElementRuns {
    /// What [`Space::encode_as_points`] makes of a selection of these elements, without the selection, which takes several times longer to make than the list.
    ///
    /// ```
    /// use hyperslab_space::{ElementRuns, Extent};
    /// let elements = ElementRuns::new(Extent::simple(&[4, 10])?, vec![3..5, 8..12, 39..40])?;
    /// assert_eq!(elements.encode_as_points()?, elements.to_space()?.encode_as_points()?);
    /// # Ok::<(), hyperslab_space::Error>(())
    /// ```
    pub fn encode_as_points(&self) -> Result<Vec<u8>> {
        if self.is_empty() || self.extent().rank() == 0 {
            return self.to_space()?.encode_as_points();
        }
        let space = Space::new(self.extent().clone());
        let mut high = 0;
        self.for_each_stretch(|first, count| {
            let last = first.last().map_or(0, |index| index + count - 1);
            high = first.iter().copied().max().unwrap_or(0).max(last).max(high);
        });
        let layout = Layout { version: 2, width: Width::of_selection(self.len().max(high)) };
        let (rank, width) = (self.extent().rank(), layout.width);
        let bytes = self.len().saturating_mul(rank as u64).saturating_add(1).saturating_mul(width.bytes() as u64);
        let mut sink = space.encode_extent(Form::Smallest)?;
        space.encode_head(&mut sink, POINTS, layout, None, bytes.saturating_add(4))?;
        if !usize::try_from(bytes).is_ok_and(|bytes| sink.try_reserve_exact(bytes)) {
            return Err(Error::Encode("there is no memory for the list of all selected elements"));
        }
        sink.uint(width, self.len());
        self.for_each(|element| element.iter().for_each(|index| sink.uint(width, *index)));
        Ok(sink.into_bytes())
    }
}
