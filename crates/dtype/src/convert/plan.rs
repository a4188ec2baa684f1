//! The plan of a conversion: made once for two datatypes, run over any number of values.

use super::compound::{self, Members};
use super::enumeration::Names;
use super::hard::Kernel;
use super::lane::Lanes;
use super::soft::Soft;
use super::{choose, sequence, text};
use crate::heap::{Source, Target};
use crate::{Datatype, Error, Padding, Result};

/// How values of one datatype become values of another.
///
/// ```
/// use hyperslab_dtype::{Datatype, NoHeap, Plan};
/// let plan = Plan::new(&Datatype::of::<f64>(), &Datatype::of::<f32>())?;
/// let mut narrow = [0; 4];
/// plan.convert(1, &1.5f64.to_ne_bytes(), &mut narrow, &NoHeap, &mut NoHeap)?;
/// assert_eq!(f32::from_ne_bytes(narrow), 1.5);
/// # Ok::<(), hyperslab_dtype::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    /// Bytes of one value before and after.
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) op: Op,
}

#[derive(Clone, Debug)]
pub(super) enum Op {
    /// The bytes stay as they are.
    Copy,
    /// The bytes of each part of this size are reversed.
    Swap(usize),
    /// By the processor.
    Hard(Kernel),
    /// Bit by bit.
    Soft(Soft),
    String(Padding, Padding),
    Names(Names),
    /// An address gets wider or narrower, filled with zeros.
    Address,
    Members(Members),
    /// Of each value, what it starts with, by the plan: a complex number becomes real.
    Start(Box<Plan>),
    /// The first part is made by the plan, the rest is zero: a real number becomes complex.
    Padded(Box<Plan>),
    /// So many values in a row, each by the plan.
    Repeat(usize, Box<Plan>),
    /// What is behind a reference, by the plan.
    Sequence(Box<Plan>),
}

/// Where variable-length values come from and go to.
pub(super) struct Heaps<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) target: &'a mut dyn Target,
    /// How many bytes of sequences that hold references themselves may still come.
    pub(super) left: u64,
}

impl Plan {
    /// The plan that libhdf5's conversion between these two is; an error if it has none.
    pub fn new(from: &Datatype, to: &Datatype) -> Result<Plan> {
        Ok(Plan { from: from.size(), to: to.size(), op: choose::op(from, to)? })
    }

    pub(super) fn copy(size: usize) -> Plan {
        Plan { from: size, to: size, op: Op::Copy }
    }

    /// Whether values need no conversion: the bytes may go straight to where they are wanted.
    pub fn is_copy(&self) -> bool {
        matches!(self.op, Op::Copy)
    }

    /// Whether values are sequences whose elements need no conversion: only where they are changes.
    pub fn is_move(&self) -> bool {
        matches!(&self.op, Op::Sequence(elements) if elements.is_copy())
    }

    /// Whether some bytes of a destination keep what they held before: members that the source lacks, and gaps.
    pub fn keeps_background(&self) -> bool {
        match &self.op {
            Op::Members(members) => !compound::covers(&members.steps, self.to),
            Op::Repeat(_, plan) => plan.keeps_background(),
            _ => false,
        }
    }

    /// Converts `count` values. What is behind references is taken from `source` and stored in `target`;
    /// [`NoHeap`](crate::NoHeap) does for both if the datatypes hold none.
    pub fn convert(
        &self,
        count: usize,
        from: &[u8],
        to: &mut [u8],
        source: &dyn Source,
        target: &mut dyn Target,
    ) -> Result<()> {
        check("source", count, self.from, from.len())?;
        check("destination", count, self.to, to.len())?;
        let lanes = Lanes { count, from, from_stride: self.from, to, to_stride: self.to };
        self.run(lanes, &mut Heaps { source, target, left: source.most() })
    }

    /// Shows every reference to variable-length data in `count` values, so that all of it can be fetched at once before they are
    /// converted. References inside variable-length data are not shown: they are not known yet.
    ///
    /// ```
    /// use hyperslab_dtype::{Charset, Datatype, HeapReference, Plan};
    /// let text = Datatype::var_string(Charset::Utf8);
    /// let plan = Plan::new(&text, &text)?;
    /// let mut heaps = std::collections::BTreeSet::new();
    /// plan.references(2, &[0; 32], &mut |bytes| { heaps.extend(HeapReference::decode(bytes).map(|found| found.address)); })?;
    /// assert_eq!(heaps.len(), 1);
    /// # Ok::<(), hyperslab_dtype::Error>(())
    /// ```
    pub fn references(&self, count: usize, from: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<()> {
        check("source", count, self.from, from.len())?;
        self.visit(count, from, visit);
        Ok(())
    }

    /// Whether values hold references that are followed.
    pub(super) fn has_sequence(&self) -> bool {
        match &self.op {
            Op::Sequence(_) => true,
            Op::Repeat(_, plan) => plan.has_sequence(),
            Op::Members(members) => members.steps.iter().any(|step| step.plan.has_sequence()),
            _ => false,
        }
    }

    pub(super) fn visit(&self, count: usize, from: &[u8], visit: &mut dyn FnMut(&[u8])) {
        let elements = from.chunks(self.from.max(1)).take(count).filter_map(|element| element.get(..self.from));
        match &self.op {
            Op::Sequence(_) => elements.for_each(visit),
            Op::Repeat(each, plan) => elements.for_each(|element| plan.visit(*each, element, visit)),
            Op::Members(members) => elements.for_each(|element| compound::references(&members.steps, element, visit)),
            _ => {}
        }
    }

    pub(super) fn run(&self, mut lanes: Lanes<'_>, heaps: &mut Heaps<'_>) -> Result<()> {
        let (from, to) = (self.from, self.to);
        match &self.op {
            Op::Copy => lanes.copy(from),
            Op::Swap(part) => lanes.dense(from, to, |from, to| super::hard::swap(*part, from, to)),
            Op::Hard(kernel) => lanes.dense(from, to, |from, to| kernel.run(from, to)),
            Op::Soft(soft) => soft.run(lanes),
            Op::String(before, after) => {
                lanes.each(from, to, |from, to| text::convert(*before, *after, from, to));
            }
            Op::Names(names) => lanes.each(from, to, |from, to| names.convert(from, to)),
            Op::Address => lanes.each(from, to, |from, to| {
                to.fill(0);
                to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            }),
            Op::Members(members) => members.run(lanes, heaps)?,
            Op::Start(plan) => plan.run(lanes, heaps)?,
            Op::Padded(plan) => {
                plan.run(lanes.at(0, 0), heaps)?;
                lanes.at(0, plan.to).each(0, to - plan.to, |_, rest| rest.fill(0));
            }
            Op::Repeat(each, plan) if lanes.is_dense(from, to) => {
                let count = lanes.count.saturating_mul(*each);
                plan.run(Lanes { count, from_stride: plan.from, to_stride: plan.to, ..lanes }, heaps)?;
            }
            Op::Repeat(each, plan) => lanes.try_each(from, to, |from, to| {
                plan.run(Lanes { count: *each, from, from_stride: plan.from, to, to_stride: plan.to }, heaps)
            })?,
            Op::Sequence(plan) => sequence::run(plan, (from, to), lanes, heaps)?,
        }
        Ok(())
    }
}

fn check(side: &'static str, count: usize, size: usize, bytes: usize) -> Result<()> {
    match count.checked_mul(size) {
        Some(needed) if needed <= bytes => Ok(()),
        _ => Err(Error::Buffer { side, count, size, bytes }),
    }
}
