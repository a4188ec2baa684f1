//! Values of the caller that are converted on the way to a sparse chunk, some KiB at a time.

use hyperslab_base::memory;
use hyperslab_dtype::{NoHeap, Plan};

use super::{
    converted_reads::room,
    packed_elements::{PackedElements, Part},
    packed_values::PackedValues,
    sparse_chunk::SparseChunk,
};
use crate::{ChunkLayout, Result, transfer::scatter::outside};

impl SparseChunk {
    /// Defines elements with what a plan makes of the caller's values. What the plan does not write of an element stays, or is that of the fill value.
    pub(super) fn write_converted(
        &mut self,
        plan: &Plan,
        parts: &[Part],
        from: &[u8],
        layout: &ChunkLayout,
    ) -> Result<()> {
        let (source, target) = (plan.source_size(), plan.target_size());
        let (mut given, mut values, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            let mut left = part.clone();
            while !left.range.is_empty() {
                let count = left.range.len().min(room(plan) - given.len() / source.max(1));
                let (range, first) = (left.range.start..left.range.start + count as u32, values.len() / target.max(1));
                let bytes = from.get(left.from * source..(left.from + count) * source).ok_or_else(outside)?;
                memory::append(&mut given, bytes)?;
                memory::resize(&mut values, (first + count) * target, 0)?;
                if plan.keeps_background() {
                    let old = values.get_mut(first * target..).ok_or_else(outside)?;
                    self.copy(range.clone(), old, None, layout)?;
                }
                (left.range.start, left.from) = (range.end, left.from + count);
                waiting.push(Part { range, from: first });
                if given.len() / source.max(1) == room(plan) {
                    convert(plan, (&mut given, &mut values), &mut waiting, self.elements_mut())?;
                }
            }
        }
        convert(plan, (&mut given, &mut values), &mut waiting, self.elements_mut())
    }
}

/// Converts the values that wait, and defines their elements.
fn convert(
    plan: &Plan,
    (given, values): (&mut Vec<u8>, &mut Vec<u8>),
    waiting: &mut Vec<Part>,
    elements: &mut PackedElements,
) -> Result<()> {
    plan.convert(given.len() / plan.source_size().max(1), given, values, &NoHeap, &mut NoHeap)?;
    elements.write(waiting, PackedValues { fixed: values, heap: &[] })?;
    given.clear();
    values.clear();
    waiting.clear();
    Ok(())
}
