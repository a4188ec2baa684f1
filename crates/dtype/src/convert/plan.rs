//! The plan of a conversion: made once for two datatypes, run over any number of values.

use super::enumeration::Names;
use super::hard::Kernel;
use super::soft::Soft;
use crate::heap::{Source, Target};
use crate::{Error, Padding, Reference, Result};

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
    Sequence {
        elements: Box<Plan>,
        is_text: bool,
    },
    /// What a reference of this kind says, which the file has in its heap, becomes a sequence of bytes.
    Follow(Reference),
}

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

/// Where variable-length values come from and go to.
pub(super) struct Heaps<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) target: &'a mut dyn Target,
    /// How many bytes of sequences that hold references themselves may still come.
    pub(super) left: u64,
}

impl Plan {
    pub(super) fn copy(size: usize) -> Plan {
        Plan { from: size, to: size, op: Op::Copy }
    }

    /// The bytes of a value before it is converted.
    pub fn source_size(&self) -> usize {
        self.from
    }

    /// The bytes of a value after it is converted.
    pub fn target_size(&self) -> usize {
        self.to
    }

    /// Whether values need no conversion: the bytes may go straight to where they are wanted.
    pub fn is_copy(&self) -> bool {
        matches!(self.op, Op::Copy)
    }

    /// Whether values are sequences whose elements need no conversion: only where they are changes.
    pub fn is_move(&self) -> bool {
        matches!(&self.op, Op::Sequence { elements, .. } if elements.is_copy())
    }

    /// Whether some bytes of a destination keep what they held before: members that the source lacks, and gaps.
    pub fn keeps_background(&self) -> bool {
        match &self.op {
            Op::Members(members) => !covers(&members.steps, self.to),
            Op::Repeat(_, plan) => plan.keeps_background(),
            _ => false,
        }
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
            Op::Sequence { .. } => true,
            Op::Repeat(_, plan) => plan.has_sequence(),
            Op::Members(members) => members.steps.iter().any(|step| step.plan.has_sequence()),
            _ => false,
        }
    }

    fn visit(&self, count: usize, from: &[u8], visit: &mut dyn FnMut(&[u8])) {
        let elements = from.chunks(self.from.max(1)).take(count).filter_map(|element| element.get(..self.from));
        match &self.op {
            Op::Sequence { .. } => elements.for_each(visit),
            Op::Repeat(each, plan) => elements.for_each(|element| plan.visit(*each, element, visit)),
            Op::Members(members) => elements.for_each(|element| references(&members.steps, element, visit)),
            _ => {}
        }
    }
}

/// Refuses a buffer that is too short for so many values.
pub(super) fn check(side: &'static str, count: usize, size: usize, bytes: usize) -> Result<()> {
    match count.checked_mul(size) {
        Some(needed) if needed <= bytes => Ok(()),
        _ => Err(Error::Buffer { side, count, size, bytes }),
    }
}

/// Whether the steps write every one of `size` bytes.
fn covers(steps: &[Step], size: usize) -> bool {
    let written: usize = steps.iter().map(|step| step.plan.to).sum();
    written == size && steps.iter().all(|step| !step.plan.keeps_background())
}

/// Visits the references in the members that are converted.
fn references(steps: &[Step], element: &[u8], visit: &mut dyn FnMut(&[u8])) {
    for Step { from, plan, .. } in steps {
        if !plan.is_copy() {
            plan.visit(1, element.get(*from..).unwrap_or_default(), visit);
        }
    }
}
