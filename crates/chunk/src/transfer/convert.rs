//! Conversion of values that need no heap: between two selections, or of many that lie one after the other on all cores.

use hyperslab_base::memory;
use hyperslab_driver::cores;
use hyperslab_dtype::Plan;
use hyperslab_space::{Move, Moves, Space};

use super::{
    gathered::{Gathered, dense},
    scatter::{self, outside, range},
};
use crate::Result;

/// Bytes that one thread converts at a time.
pub(super) const BLOCK: usize = 256 << 10;

/// So many values in a row are converted where they are.
const LONG: u64 = 64;

/// Converts values that lie one after the other and need no heap, many of them on all cores.
pub fn convert(plan: &Plan, from: &[u8], to: &mut [u8]) -> Result<()> {
    let (source, target) = (plan.source_size().max(1), plan.target_size().max(1));
    if from.len().max(to.len()) <= 2 * BLOCK {
        return dense(plan, from, to);
    }
    let together = (BLOCK / source.max(target)).max(1);
    let blocks = from.chunks(together * source).zip(to.chunks_mut(together * target));
    cores::map(blocks.collect(), |_: &mut (), (from, to): (&[u8], &mut [u8])| dense(plan, from, to)).map(drop)
}

/// Converts the selected values of a buffer to the selected places of a part of another, which begins at the byte `start`. What the plan does not
/// write, such as members of a compound that the source lacks, stays as it is.
pub(super) fn selected(
    plan: &Plan,
    (from, source): (&[u8], &Space),
    (to, start): (&mut [u8], u64),
    target: &Space,
) -> Result<()> {
    let (source_size, target_size) = (plan.source_size() as u64, plan.target_size() as u64);
    let mut apart = Gathered::new(plan, source.npoints(), start);
    for one in Moves::new(source, target, 1)? {
        let is_dense = one.from_step == one.len && one.to_step == one.len;
        let runs = if is_dense { Move { len: one.len * one.count, count: 1, ..one } } else { one };
        if runs.len < LONG.min(apart.room()) {
            apart.add(runs, from, to)?;
            continue;
        }
        // Values come to their places in the order of the selection: it may name one place twice.
        apart.convert(to)?;
        for nth in 0..runs.count {
            let (first, place) = (runs.from + nth * runs.from_step, runs.to + nth * runs.to_step);
            let place = (place * target_size).checked_sub(start).ok_or_else(outside)?;
            let from = from.get(range(first * source_size, runs.len * source_size)).ok_or_else(outside)?;
            dense(plan, from, to.get_mut(range(place, runs.len * target_size)).ok_or_else(outside)?)?;
        }
    }
    apart.convert(to)
}

/// Puts what a plan makes of the fill value, one element long, in every selected place; of zeros where there is none.
pub(super) fn fill(plan: &Plan, value: Option<&[u8]>, to: &mut [u8], target: &Space) -> Result<()> {
    let (zeros, size) = (memory::zeroed(plan.source_size() as u64)?, plan.target_size());
    let value = value.unwrap_or(&zeros);
    if !plan.keeps_background() {
        let mut converted = memory::zeroed(size as u64)?;
        dense(plan, value, &mut converted)?;
        return scatter::fill(Some(&converted), to, target, size as u64);
    }
    for run in target.runs(size as u64)? {
        let places = to.get_mut(range(run.offset, run.len)).ok_or_else(outside)?;
        places.chunks_exact_mut(size.max(1)).try_for_each(|place| dense(plan, value, place))?;
    }
    Ok(())
}
