//! Strips: runs of one length at equal distances, as the innermost loop of a pattern gives them. What moves values moves a strip at a
//! time, and so need not look at each run.

use crate::{
    Result, Runs, Space,
    run::{LoopWalk, Loops},
    view::View,
};

/// Runs of one length at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strip {
    /// The first byte.
    pub offset: u64,
    /// The bytes of a run.
    pub len: u64,
    /// From one run to the next, in bytes.
    pub step: u64,
    /// How many runs.
    pub count: u64,
}

impl Strip {
    /// The byte after the last one.
    pub const fn end(&self) -> u64 {
        self.offset + self.step * self.count.saturating_sub(1) + self.len
    }
}

/// The strips of a selection, in its order.
///
/// ```
/// use hyperslab_space::{Op, Slab, Space, Strip};
/// let mut space = Space::simple(&[6, 10])?;
/// space.select_hyperslab(Op::Set, &[Slab::block(4, 2), Slab::new(0, 5, 2, 3)])?;
/// let strips: Vec<Strip> = space.strips(4)?.collect();
/// assert_eq!(strips[0], Strip { offset: 160, len: 12, step: 20, count: 4 });
/// # Ok::<(), hyperslab_space::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Strips<'a>(Form<'a>);

#[derive(Clone, Debug)]
enum Form<'a> {
    Loops(LoopWalk),
    /// Trees and points have no loops: each run is a strip of its own.
    Runs(Runs<'a>),
}

impl Space {
    /// The selected bytes as strips, for elements of `element_size` bytes.
    pub fn strips(&self, element_size: u64) -> Result<Strips<'_>> {
        Ok(Strips(match self.view()? {
            View::Slabs(slabs) => {
                let strides = self.byte_strides(element_size)?;
                self.check_inside()?;
                Form::Loops(LoopWalk::new(Loops::new(&slabs, &strides, element_size)))
            }
            _ => Form::Runs(self.runs(element_size)?),
        }))
    }
}

impl Iterator for Strips<'_> {
    type Item = Strip;

    #[inline]
    fn next(&mut self) -> Option<Strip> {
        match &mut self.0 {
            Form::Loops(walk) => walk.next_strip(),
            Form::Runs(runs) => {
                runs.next().map(|run| Strip { offset: run.offset, len: run.len, step: run.len, count: 1 })
            }
        }
    }
}
