//! From the samples of a scanline to bits: for each block the shortest of the codes.

use std::mem;

use hyperslab_base::memory;

use super::params::{Params, SEGMENT};
use crate::{Fault, bits::BitWriter, cpu::compiled_twice};

/// What the coder keeps from block to block.
pub(super) struct Coder {
    /// What is coded of a scanline: its samples, or their differences.
    coded: Vec<u32>,
    /// The low bits that were written apart last: the next block is mostly like the one before.
    low: u32,
}

impl Coder {
    pub(super) fn new(params: &Params) -> Result<Coder, Fault> {
        let mut coded = Vec::new();
        memory::resize(&mut coded, params.padded_line(), 0)?;
        Ok(Coder { coded, low: 0 })
    }

    /// Codes a scanline.
    pub(super) fn scanline(&mut self, params: &Params, bits: &mut BitWriter<'_>, line: &[u32]) {
        code(self, params, bits, line);
    }
}

compiled_twice! {
    fn code(coder: &mut Coder, params: &Params, bits: &mut BitWriter<'_>, line: &[u32]) {
        let Coder { coded, low } = coder;
        // The first thing that is written takes it along.
        let mut reference = None;
        match line.first() {
            Some(first) if params.preprocess => {
                reference = Some(*first);
                differences(params, line, coded);
            }
            _ => coded.iter_mut().zip(line).for_each(|(to, from)| *to = *from),
        }
        let mut zeros = 0;
        for (index, block) in coded.chunks_exact(params.block).enumerate() {
            let sum: u64 = block.iter().map(|sample| u64::from(*sample)).sum();
            if sum == 0 {
                zeros += 1;
                if index + 1 == params.blocks || (index + 1) % SEGMENT == 0 {
                    write_zeros(params, bits, reference.take(), mem::take(&mut zeros), true);
                }
            } else {
                if zeros > 0 {
                    write_zeros(params, bits, reference.take(), mem::take(&mut zeros), false);
                }
                write_block(params, bits, reference.take(), block, sum, low);
            }
        }
    }
}

/// Folds the difference of each sample to the one before; the first becomes 0.
#[inline(always)] // into code for the processor
fn differences(params: &Params, line: &[u32], coded: &mut [u32]) {
    let greatest = params.greatest();
    let Some((first, coded)) = coded.split_first_mut() else { return };
    *first = 0;
    for ((last, here), folded) in line.iter().zip(line.iter().skip(1)).zip(coded) {
        let (up, down) = (here.wrapping_sub(*last), last.wrapping_sub(*here));
        // How far both ways are open; all four are computed, without branches.
        let rising = if up <= *last { up.wrapping_mul(2) } else { *here };
        let falling = if down <= greatest.wrapping_sub(*last) {
            down.wrapping_mul(2).wrapping_sub(1)
        } else {
            greatest.wrapping_sub(*here)
        };
        *folded = if here >= last { rising } else { falling };
    }
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

#[inline(always)] // into code for the processor
fn write_block(
    params: &Params,
    bits: &mut BitWriter<'_>,
    reference: Option<u32>,
    block: &[u32],
    sum: u64,
    last_low: &mut u32,
) {
    // In the place of the reference sample there is 0, which is not coded.
    let coded = block.get(usize::from(reference.is_some())..).unwrap_or_default();
    let as_it_is = coded.len() as u64 * u64::from(params.bits);
    let (low, split) = shortest_split(params, coded, *last_low);
    *last_low = low;
    let pairs = if pairs_are_longer(block.len(), sum, split) { u64::MAX } else { pairs_len(block, as_it_is) };
    if split < as_it_is.min(pairs) {
        bits.put(u64::from(low) + 1, params.id_bits());
        write_reference(params, bits, reference);
        bits.put_all_unary(coded.iter().map(|sample| sample >> low));
        bits.put_all(coded.iter().copied(), low);
    } else if pairs <= split && pairs < as_it_is {
        bits.put(1, params.id_bits() + 1);
        write_reference(params, bits, reference);
        bits.put_all_unary(block.as_chunks().0.iter().map(|[first, second]| pair(*first, *second) as u32));
    } else {
        bits.put(u64::MAX, params.id_bits());
        write_reference(params, bits, reference);
        bits.put_all(coded.iter().copied(), params.bits);
    }
}

/// How many low bits to write apart, and the length that gives. The search begins at those of the last block.
#[inline(always)] // into code for the processor
fn shortest_split(params: &Params, coded: &[u32], start: u32) -> (u32, u64) {
    let most = (1 << params.id_bits()) - 3;
    let len = |low: u32| {
        let high: u64 = if params.bits <= 24 {
            // A block has at most 64 samples.
            u64::from(coded.iter().map(|sample| sample >> low).sum::<u32>())
        } else {
            coded.iter().map(|sample| u64::from(sample >> low)).sum()
        };
        high + coded.len() as u64 * u64::from(low + 1)
    };
    let start = start.min(most);
    let mut best = (start, len(start));
    // The length falls, then rises: past the least it need not be looked for.
    for low in start + 1..=most {
        let len = len(low);
        if len >= best.1 {
            break;
        }
        best = (low, len);
    }
    if best.0 == start {
        for low in (0..start).rev() {
            let len = len(low);
            if len > best.1 {
                break;
            }
            best = (low, len);
        }
    }
    best
}

/// Whether pairs of so many samples of this sum take more than `len` bits: they are shortest if all have the same sum.
fn pairs_are_longer(samples: usize, sum: u64, len: u64) -> bool {
    sum.saturating_mul(sum) > samples as u64 * len
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
