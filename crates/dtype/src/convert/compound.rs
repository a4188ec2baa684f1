//! Compounds, member by member, by name.

use super::choose::is_untouched;
use super::lane::Lanes;
use super::plan::{Heaps, Op, Plan};
use crate::Result;
use crate::compound::{Compound, Member};

/// Elements of which each member is converted before the next: few enough to stay in the processor's cache.
const BLOCK: usize = 512;

/// What becomes of the members that both compounds have.
#[derive(Clone, Debug)]
pub(super) struct Members {
    pub(super) steps: Vec<Step>,
}

/// One member, or several that are copied together.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) plan: Plan,
}

impl Members {
    pub(super) fn new(from: &Compound, to: &Compound) -> Result<Members> {
        let targets: std::collections::HashMap<_, _> =
            to.members().iter().map(|member| (&member.name, member)).collect();
        let mut steps = Vec::new();
        for source in from.by_offset() {
            if let Some(target) = targets.get(&source.name) {
                let plan = Plan::new(&source.datatype, &target.datatype)?;
                steps.push(Step { from: source.offset as usize, to: target.offset as usize, plan });
            }
        }
        if let Some(length) = common_start(from, to, &steps) {
            return Ok(Members { steps: vec![Step { from: 0, to: 0, plan: Plan::copy(length) }] });
        }
        Ok(Members { steps: merged(steps) })
    }

    /// Whether all there is to do is to copy `size` bytes.
    pub(super) fn copies(&self, size: usize) -> bool {
        matches!(self.steps.as_slice(), [Step { from: 0, to: 0, plan }] if plan.is_copy() && plan.from == size)
    }

    pub(super) fn run(&self, mut lanes: Lanes<'_>, heaps: &mut Heaps<'_>) -> Result<()> {
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

/// If one compound starts as the other does, libhdf5 copies that start whole, gaps included: its length.
fn common_start(from: &Compound, to: &Compound, steps: &[Step]) -> Option<usize> {
    let (from, to) = (from.by_offset(), to.by_offset());
    let (shorter, common) = if from.len() < to.len() { (&from, from.len()) } else { (&to, to.len()) };
    let matches = |(source, target): (&&Member, &&Member)| {
        source.name == target.name && source.offset == target.offset && is_untouched(&source.datatype, &target.datatype)
    };
    let starts = from.len() != to.len() && steps.len() == common && from.iter().zip(&to).all(matches);
    starts.then(|| shorter.last().map(|last| last.end() as usize)).flatten()
}

/// Copies that follow each other on both sides become one.
fn merged(steps: Vec<Step>) -> Vec<Step> {
    let mut merged: Vec<Step> = Vec::new();
    for step in steps {
        match merged.last_mut() {
            Some(last)
                if last.plan.is_copy()
                    && step.plan.is_copy()
                    && last.from + last.plan.from == step.from
                    && last.to + last.plan.to == step.to =>
            {
                last.plan = Plan::copy(last.plan.from + step.plan.from);
            }
            _ => merged.push(step),
        }
    }
    merged
}

/// Whether the steps write every one of `size` bytes.
pub(super) fn covers(steps: &[Step], size: usize) -> bool {
    let written: usize = steps.iter().map(|step| step.plan.to).sum();
    written == size && steps.iter().all(|step| !step.plan.keeps_background())
}

/// Visits the references in the members that are converted.
pub(super) fn references(steps: &[Step], element: &[u8], visit: &mut dyn FnMut(&[u8])) {
    for Step { from, plan, .. } in steps {
        if !matches!(plan.op, Op::Copy) {
            plan.visit(1, element.get(*from..).unwrap_or_default(), visit);
        }
    }
}
