//! From the samples of a scanline to bits: for each block the shortest of the codes.

use std::mem;

use super::params::Params;
use crate::bits::BitWriter;

/// Blocks of a segment; a run of zero blocks does not cross its end.
const SEGMENT: usize = 64;

/// Codes a scanline; the samples are spoiled.
pub(super) fn scanline(params: &Params, bits: &mut BitWriter<'_>, line: &mut [u32]) {
    // The first thing that is written takes it along.
    let mut reference = if params.preprocess { differences(params, line) } else { None };
    let mut zeros = 0;
    for (index, block) in line.chunks_exact(params.block).enumerate() {
        if block.iter().all(|sample| *sample == 0) {
            zeros += 1;
            if index + 1 == params.blocks || (index + 1) % SEGMENT == 0 {
                write_zeros(params, bits, reference.take(), mem::take(&mut zeros), true);
            }
        } else {
            if zeros > 0 {
                write_zeros(params, bits, reference.take(), mem::take(&mut zeros), false);
            }
            write_block(params, bits, reference.take(), block);
        }
    }
}

/// Folds the difference of each sample to the one before; gives the first sample, in whose place there is 0.
fn differences(params: &Params, line: &mut [u32]) -> Option<u32> {
    let greatest = params.greatest();
    let mut samples = line.iter_mut();
    let first = samples.next()?;
    let reference = mem::take(first);
    let mut last = reference;
    for sample in samples {
        let here = *sample;
        *sample = if here >= last {
            let up = here - last;
            if up <= last { 2 * up } else { here }
        } else {
            let down = last - here;
            if down <= greatest - last { 2 * down - 1 } else { greatest - here }
        };
        last = here;
    }
    Some(reference)
}

fn write_reference(params: &Params, bits: &mut BitWriter<'_>, reference: Option<u32>) {
    if let Some(reference) = reference {
        bits.put(u64::from(reference), params.bits);
    }
}

fn write_zeros(params: &Params, bits: &mut BitWriter<'_>, reference: Option<u32>, count: usize, to_the_end: bool) {
    bits.put(0, params.id_bits() + 1);
    write_reference(params, bits, reference);
    bits.put_unary(match count as u32 {
        5.. if to_the_end => 4,
        count @ 5.. => count,
        count => count - 1,
    });
}

fn write_block(params: &Params, bits: &mut BitWriter<'_>, reference: Option<u32>, block: &[u32]) {
    let coded = block.get(usize::from(reference.is_some())..).unwrap_or_default();
    let as_it_is = coded.len() as u64 * u64::from(params.bits);
    let (low, split) = shortest_split(params, coded);
    let pairs = pairs_len(block, as_it_is);
    if split < as_it_is.min(pairs) {
        bits.put(u64::from(low) + 1, params.id_bits());
        write_reference(params, bits, reference);
        coded.iter().for_each(|sample| bits.put_unary(sample >> low));
        coded.iter().for_each(|sample| bits.put(u64::from(*sample), low));
    } else if pairs <= split && pairs < as_it_is {
        bits.put(1, params.id_bits() + 1);
        write_reference(params, bits, reference);
        block.as_chunks().0.iter().for_each(|[first, second]| bits.put_unary(pair(*first, *second) as u32));
    } else {
        bits.put(u64::MAX, params.id_bits());
        write_reference(params, bits, reference);
        coded.iter().for_each(|sample| bits.put(u64::from(*sample), params.bits));
    }
}

/// How many low bits to write apart, and the length that gives.
fn shortest_split(params: &Params, coded: &[u32]) -> (u32, u64) {
    let most = (1 << params.id_bits()) - 3;
    let len = |low: u32| {
        let high: u64 = coded.iter().map(|sample| u64::from(sample >> low)).sum();
        high + coded.len() as u64 * u64::from(low + 1)
    };
    let mut best = (0, len(0));
    // The length falls, then rises: past the least it need not be looked for.
    for low in 1..=most {
        let len = len(low);
        if len > best.1 {
            break;
        }
        if len < best.1 {
            best = (low, len);
        }
    }
    best
}

/// The length of a block as pairs, or any number over `limit`.
fn pairs_len(block: &[u32], limit: u64) -> u64 {
    let mut len = 1;
    for [first, second] in block.as_chunks().0 {
        len += pair(*first, *second).saturating_add(1);
        if len > limit {
            return u64::MAX;
        }
    }
    len
}

/// The number of a pair in the order of the sum, then of the second.
fn pair(first: u32, second: u32) -> u64 {
    let sum = u64::from(first) + u64::from(second);
    (sum * (sum + 1) / 2).saturating_add(u64::from(second))
}
