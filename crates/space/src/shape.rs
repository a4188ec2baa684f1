//! Whether two selections have the same shape, wherever they lie.

use crate::{Result, Space, tree, view::View};

impl Space {
    /// Whether both selections have the same form, up to their place and to leading dimensions in which only one index is
    /// selected. Then elements that correspond have the same neighbours, and one can be copied to the other block by block. The
    /// order of points counts.
    ///
    /// ```
    /// use hyperslab_space::{Op, Slab, Space};
    /// let mut file = Space::simple(&[5, 10, 10])?;
    /// file.select_hyperslab(Op::Set, &[Slab::block(3, 1), Slab::block(2, 4), Slab::block(5, 4)])?;
    /// assert!(file.same_shape(&Space::simple(&[4, 4])?)?);
    /// # Ok::<(), hyperslab_space::Error>(())
    /// ```
    pub fn same_shape(&self, other: &Space) -> Result<bool> {
        if self.npoints() != other.npoints() {
            return Ok(false);
        }
        let (long, short) = if self.rank() >= other.rank() { (self, other) } else { (other, self) };
        let extra = long.rank() - short.rank();
        let (Some((long_low, long_high)), Some((short_low, _))) = (long.bounds(), short.bounds()) else {
            return Ok(true);
        };
        if long_low.iter().zip(&long_high).take(extra).any(|(low, high)| low != high) {
            return Ok(false);
        }
        Ok(match (long.view()?, short.view()?) {
            (View::Slabs(long), View::Slabs(short)) => {
                long.iter().skip(extra).zip(&short).all(|(long, short)| {
                    (long.stride, long.count, long.block) == (short.stride, short.count, short.block)
                })
            }
            (View::Tree(long), View::Tree(short)) => {
                let mut long = long;
                for _ in 0..extra {
                    let Some((.., Some(down))) = long.get(0) else { return Ok(false) };
                    long = down;
                }
                let to_origin = |low: &[u64]| low.iter().map(|&low| (low as i64).wrapping_neg()).collect::<Vec<_>>();
                let long_step = to_origin(long_low.get(extra..).unwrap_or_default());
                tree::moved(long, &long_step) == tree::moved(short, &to_origin(&short_low))
            }
            (View::Points(_), _) | (_, View::Points(_)) => {
                let relative = |coords: crate::Coords, low: &[u64], skip: usize| {
                    coords.iter().zip(low).skip(skip).map(|(index, low)| index - low).collect::<crate::Coords>()
                };
                let long = long.coords()?.map(|coords| relative(coords, &long_low, extra));
                let short = short.coords()?.map(|coords| relative(coords, &short_low, 0));
                long.eq(short)
            }
            // A tree is never regular.
            _ => false,
        })
    }
}
