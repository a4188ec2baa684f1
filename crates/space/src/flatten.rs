//! A selection of any rank as a selection of bytes in one dimension.

use crate::{
    Error, Points, Result, Runs, Selection, Slab, Space,
    run::Loops,
    selection::Shape,
    span::Span,
    tree::{Link, MAX_RANGES},
    view::View,
};

impl Space {
    /// The same bytes, for elements of `element_size` bytes stored row by row, as a selection in one dimension. Patterns stay
    /// patterns where one dimension can hold them.
    ///
    /// ```
    /// use hyperslab_space::{Op, Slab, Space};
    /// let mut space = Space::simple(&[6, 10])?;
    /// space.select_hyperslab(Op::Set, &[Slab::block(2, 3), Slab::block(1, 2)])?;
    /// let bytes = space.flatten(4)?;
    /// assert_eq!(bytes.dims(), [240]);
    /// assert_eq!(bytes.regular().unwrap(), [Slab::new(84, 40, 3, 8)]);
    /// # Ok::<(), hyperslab_space::Error>(())
    /// ```
    pub fn flatten(&self, element_size: u64) -> Result<Space> {
        let strides = self.byte_strides(element_size)?;
        self.check_inside()?;
        let bytes = self.extent.bytes(element_size);
        let mut flat =
            Space::simple(&[bytes.ok_or_else(|| Error::Bytes { element_size, dims: self.dims().to_vec() })?])?;
        flat.selection = match self.view()? {
            View::Nothing => Selection::NONE,
            View::Points(_) => {
                let bytes = self.runs(element_size)?.flat_map(|run| run.offset..run.end());
                Selection::from_points(Points::new(1, bytes.collect())?)
            }
            View::Slabs(slabs) => {
                let loops = Loops::new(&slabs, &strides, element_size);
                match loops.loops.as_slice() {
                    [] => Selection(Shape::Regular([Slab::block(loops.first, loops.len)].into_iter().collect())),
                    [one] => Selection(Shape::Regular(
                        [Slab::new(loops.first, one.step, one.count, loops.len)].into_iter().collect(),
                    )),
                    _ => line(self.runs(element_size)?)?,
                }
            }
            View::Tree(_) => line(self.runs(element_size)?)?,
        };
        Ok(flat)
    }
}

fn line(runs: Runs<'_>) -> Result<Selection> {
    let mut spans = Vec::new();
    for run in runs {
        spans.push(Span { start: run.offset, end: run.end(), down: () });
        if spans.len() as u64 > MAX_RANGES {
            return Err(Error::TooComplex(MAX_RANGES));
        }
    }
    Ok(Selection::from_tree(Link::leaf(spans)))
}
