//! Which members of compounds are converted: those that both have, by name.

use super::choose::is_untouched;
use super::plan::{Members, Plan, Step};
use crate::Result;
use crate::compound::{Compound, Member};

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
