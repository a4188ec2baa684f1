//! Projection: a part of one selection, carried over to another that holds as many elements.

use crate::{Error, Kind, Points, Result, Selection, Slab, Space, UNLIMITED, cut::follows, slab::Parts, view::View};

impl Space {
    /// This selection and `dst` hold equally many elements, which correspond in order. The part of this selection that
    /// `intersect` holds too is carried over: the result has the extent of `dst` and selects the corresponding part of it.
    ///
    /// With points on either side the result is a point selection, in the order of this one (but all of `dst` as it is, where
    /// everything is in `intersect`).
    ///
    /// ```
    /// use hyperslab_space::{Op, Slab, Space};
    /// let file = Space::simple(&[4, 4])?;
    /// let memory = Space::simple(&[16])?;
    /// let mut second_row = file.clone();
    /// second_row.select_hyperslab(Op::Set, &[Slab::block(1, 1), Slab::block(0, 4)])?;
    /// let part = file.project_intersection(&memory, &second_row)?;
    /// assert_eq!(part.bounds().unwrap(), (vec![4].into(), vec![7].into()));
    /// # Ok::<(), hyperslab_space::Error>(())
    /// ```
    pub fn project_intersection(&self, dst: &Space, intersect: &Space) -> Result<Space> {
        let uncountable = match self.same_count(dst) {
            Err(why @ Error::Elements(_)) => Some(why),
            counted => counted.map(|()| None)?,
        };
        self.same_rank("the intersecting space", intersect.rank())?;
        let all = intersect.kind() == Kind::All && intersect.dims() == self.dims() && self.check_inside().is_ok();
        if all && uncountable.is_none() {
            return Ok(dst.clone());
        }
        let selection = match (self.project_patterns(dst, intersect)?, uncountable) {
            (Some(selection), _) => selection,
            (None, None) => dst.numbered()?.take(&self.places_in(intersect)?)?,
            (None, Some(why)) => return Err(why),
        };
        let mut result = Space { extent: dst.extent.clone(), selection };
        if self.kind() == Kind::Points && result.kind() == Kind::Hyperslab {
            let flat = result.coords()?.flatten().collect();
            result.selection = Selection::from_points(Points::new(result.rank(), flat)?);
        }
        Ok(result)
    }

    /// Patterns that correspond dimension by dimension are projected so, without walking them.
    fn project_patterns(&self, dst: &Space, intersect: &Space) -> Result<Option<Selection>> {
        let (View::Slabs(src), View::Slabs(dst), View::Slabs(block)) = (self.view()?, dst.view()?, intersect.view()?)
        else {
            return Ok(None);
        };
        let single = block.iter().all(|slab| slab.count == 1);
        let Some(follows) = follows(&src, &dst).filter(|_| single && !dst.is_empty()) else { return Ok(None) };
        let ordinals: Vec<(u64, u64)> =
            src.iter().zip(&block).map(|(src, block)| (src.rank(block.start), src.rank(block.end()))).collect();
        if ordinals.iter().any(|(from, to)| from == to) {
            return Ok(Some(Selection::NONE));
        }
        let part = |(slab, follows): (&Slab, &Option<usize>)| {
            let taken = follows.and_then(|dim| ordinals.get(dim));
            taken.map_or(Parts::from_slice(&[*slab]), |(from, to)| slab.take(*from, *to))
        };
        Selection::from_parts(&dst.iter().zip(&follows).map(part).collect::<Vec<_>>()).map(Some)
    }

    pub(crate) fn same_count(&self, other: &Space) -> Result<()> {
        let (left, right) = (self.npoints(), other.npoints());
        match left {
            // Counts stop at this number; beyond it places cannot be computed with.
            UNLIMITED if self.selection.unlimited().is_some() => Err(Error::Unlimited),
            UNLIMITED => Err(Error::Elements(self.dims().to_vec())),
            _ if left == right => Ok(()),
            _ => Err(Error::Counts { left, right }),
        }
    }
}
