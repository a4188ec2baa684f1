//! A plan carried out: all values of a buffer, each kind of step over all of them.

use super::lane::Lanes;
use super::plan::{Heaps, Members, Op, Plan, check};
use super::{hard, sequence, text};
use crate::Result;
use crate::heap::{Source, Target};

/// Elements of which each member is converted before the next: few enough to stay in the processor's cache.
const BLOCK: usize = 512;

impl Plan {
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

    pub(super) fn run(&self, mut lanes: Lanes<'_>, heaps: &mut Heaps<'_>) -> Result<()> {
        let (from, to) = (self.from, self.to);
        match &self.op {
            Op::Copy => lanes.copy(from),
            Op::Swap(part) => lanes.dense(from, to, |from, to| hard::swap(*part, from, to)),
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
            Op::Sequence { elements, is_text } => sequence::run((elements, *is_text), (from, to), lanes, heaps)?,
            Op::Follow(kind) => lanes.try_each(from, to, |from, to| {
                let said = heaps.source.reference(*kind, from)?;
                heaps.target.store(said.as_deref().map(|bytes| (bytes.len(), bytes)), to)
            })?,
        }
        Ok(())
    }
}

impl Members {
    fn run(&self, mut lanes: Lanes<'_>, heaps: &mut Heaps<'_>) -> Result<()> {
        for start in (0..lanes.count).step_by(BLOCK) {
            let count = BLOCK.min(lanes.count - start);
            let mut block = lanes.range(start, count);
            for step in &self.steps {
                step.plan.run(block.at(step.from, step.to), heaps)?;
            }
        }
        Ok(())
    }
}
