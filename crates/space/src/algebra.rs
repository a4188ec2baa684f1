//! The operations between two selections.

use crate::{
    Error, Kind, Result, Selection, Slab, Space,
    selection::{Shape, Slabs},
    slab::Parts,
    tree,
    view::View,
};

/// How a selection A and a selection B of one extent become a new one.
///
/// ```
/// use hyperslab_space::{Op, Slab, Space};
/// let mut space = Space::simple(&[10])?;
/// space.select_hyperslab(Op::NotB, &[Slab::block(3, 4)])?; // all but 3–6
/// assert_eq!(space.npoints(), 6);
/// # Ok::<(), hyperslab_space::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// B alone.
    Set,
    /// In A or in B.
    Or,
    /// In A and in B.
    And,
    /// In one of them but not in both.
    Xor,
    /// In A but not in B.
    NotB,
    /// In B but not in A.
    NotA,
}

impl Op {
    /// Whether an element that is in A, in B, or in both, as said, is in the result.
    pub const fn keeps(self, in_a: bool, in_b: bool) -> bool {
        match self {
            Op::Set => in_b,
            Op::Or => in_a || in_b,
            Op::And => in_a && in_b,
            Op::Xor => in_a != in_b,
            Op::NotB => in_a && !in_b,
            Op::NotA => in_b && !in_a,
        }
    }
}

impl Space {
    /// Checked patterns as a selection.
    pub(crate) fn hyperslab(&self, slabs: &[Slab]) -> Result<Selection> {
        self.same_rank("the hyperslab", slabs.len())?;
        if slabs.is_empty() {
            return Err(Error::RankMismatch { what: "a hyperslab of a scalar", expected: 1, found: 0 });
        }
        for (dim, slab) in slabs.iter().enumerate() {
            slab.check(dim)?;
        }
        let mut unlimited = slabs.iter().enumerate().filter(|(_, slab)| slab.is_unlimited());
        if let (Some(_), Some((dim, &slab))) = (unlimited.next(), unlimited.next()) {
            return Err(Error::Slab { dim, slab, why: "a second dimension is unlimited" });
        }
        let empty = slabs.iter().any(Slab::is_empty);
        Ok(Selection(if empty { Shape::Nothing } else { Shape::Regular(Slabs::from_slice(slabs)) }))
    }

    /// Replaces the selection by its combination with `other`.
    pub(crate) fn combine_with(&mut self, op: Op, other: Selection) -> Result<()> {
        self.same_rank("the selection", other.rank().unwrap_or(self.rank()))?;
        if op == Op::Set {
            self.selection = other;
            return Ok(());
        }
        let other = Space { extent: self.extent.clone(), selection: other }.clip_unlimited()?;
        *self = self.clip_unlimited()?;
        let after = match self.without_walking(op, &other)? {
            Some(known) => known,
            None => {
                let (left, right) = (self.view()?.to_tree()?, other.view()?.to_tree()?);
                // Let go of a tree, so that it can be changed in place if nothing else holds it.
                if let Shape::Tree(_) = self.selection.0 {
                    self.selection = Selection::NONE;
                }
                Selection::from_tree(match (left, right) {
                    (Some(left), Some(right)) => tree::apply(left, op, &right),
                    (left, right) => {
                        let kept = op.keeps(left.is_some(), right.is_some());
                        left.or(right).filter(|_| kept)
                    }
                })
            }
        };
        // A pattern to which nothing was added stays as it was given, as libhdf5 has it.
        if op != Op::Or || self.selection != after {
            self.selection = after;
        }
        Ok(())
    }

    /// The combination where it can be told from the patterns alone.
    fn without_walking(&self, op: Op, other: &Space) -> Result<Option<Selection>> {
        let (left, right) = (self.view()?, other.view()?);
        let whole = |space: &Space| space.kind() == Kind::All;
        Ok(match (&left, &right) {
            (View::Nothing, View::Nothing) => Some(Selection::NONE),
            (View::Nothing, _) => Some(if op.keeps(false, true) { other.as_set()? } else { Selection::NONE }),
            (_, View::Nothing) => Some(if op.keeps(true, false) { self.selection.clone() } else { Selection::NONE }),
            // Scalars: everything or nothing.
            (View::Slabs(slabs), _) if slabs.is_empty() => {
                Some(if op.keeps(true, true) { Selection::ALL } else { Selection::NONE })
            }
            _ if op == Op::Or && whole(self) && other.check_inside().is_ok() => Some(Selection::ALL),
            _ if op == Op::And && whole(self) && other.check_inside().is_ok() => Some(other.as_set()?),
            (View::Slabs(left), View::Slabs(right)) if op == Op::Or && joined(left, right).is_some() => {
                joined(left, right).map(|slabs| Selection(Shape::Regular(slabs)))
            }
            (View::Slabs(slabs), View::Slabs(block)) | (View::Slabs(block), View::Slabs(slabs))
                if op == Op::And && block.iter().all(|slab| slab.count == 1) =>
            {
                let clip = |(slab, block): (&Slab, &Slab)| slab.clip(block.start, block.end());
                Some(Selection::from_parts(&slabs.iter().zip(block).map(clip).collect::<Vec<Parts>>())?)
            }
            _ => None,
        })
    }

    /// The same elements as a set: points become a hyperslab, which has each of them once and in row-major order; others stay as they are.
    ///
    /// ```
    /// use hyperslab_space::Space;
    /// let mut space = Space::simple(&[4, 4])?;
    /// space.select_points(&[3, 0, 1, 1, 3, 0])?;
    /// let coords: Vec<_> = space.to_set()?.coords()?.map(|coords| coords.to_vec()).collect();
    /// assert_eq!(coords, [[1, 1], [3, 0]]);
    /// # Ok::<(), hyperslab_space::Error>(())
    /// ```
    pub fn to_set(&self) -> Result<Space> {
        Ok(Space { extent: self.extent.clone(), selection: self.as_set()? })
    }

    /// The selection with points as a set.
    fn as_set(&self) -> Result<Selection> {
        Ok(match self.view()? {
            View::Points(_) => Selection::from_tree(self.view()?.to_tree()?),
            _ => self.selection.clone(),
        })
    }
}

/// Two patterns that differ in one dimension only, where one goes on as the other ends, as one pattern. Rows added in order stay
/// a pattern at every step.
fn joined(left: &[Slab], right: &[Slab]) -> Option<Slabs> {
    let mut different = left.iter().zip(right).enumerate().filter(|(_, (left, right))| left != right);
    let (Some((dim, (here, there))), None) = (different.next(), different.next()) else { return None };
    let mut slabs = Slabs::from_slice(left);
    *slabs.get_mut(dim)? = here.joined(there)?;
    Some(slabs)
}
