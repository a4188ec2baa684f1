//! From bits to the samples of a scanline.
//!
//! A block starts with the number of its code: 0, then a bit that tells runs of zero blocks (0) from pairs (1); all ones for
//! samples as they are; otherwise one more than the low bits that follow apart. In the first block of a scanline of
//! differences, the first sample comes as it is.

use super::params::{Params, SEGMENT};
use crate::{Fault, bits::BitReader, cpu::compiled_twice};

/// How a run of zero blocks up to the end of its segment is told.
const TO_THE_END: u32 = 5;

/// A sum of a pair above this one is not coded as a pair.
const MAX_PAIR: u32 = 90;

compiled_twice! {
    /// Fills the first `wanted` samples of a scanline or more.
    pub(super) fn scanline(
        params: &Params,
        bits: &mut BitReader<'_>,
        line: &mut [u32],
        wanted: usize,
    ) -> Result<(), Fault> {
        let mut done = 0;
        let mut reader = *bits;
        while done * params.block < wanted {
            let rest = line.get_mut(done * params.block..).unwrap_or_default();
            done += blocks(params, &mut reader, rest, done)?;
        }
        *bits = reader;
        if params.preprocess {
            undo_differences(params, line);
        }
        Ok(())
    }
}

/// Fills the next block, or a run of zero blocks, from the front of what is left of a line; gives the number of blocks.
#[inline(always)] // into code for the processor
fn blocks(params: &Params, bits: &mut BitReader<'_>, rest: &mut [u32], done: usize) -> Result<usize, Fault> {
    let reference = usize::from(params.preprocess && done == 0);
    let as_it_is = (1 << params.id_bits()) - 1;
    let id = bits.take(params.id_bits())? as u32;
    let pairs = id == 0 && bits.take(1)? == 1;
    let zeros = id == 0 && !pairs;

    let (block, _) = rest.split_at_mut_checked(params.block).ok_or(Fault::Corrupt("a scanline too long"))?;
    let (first, coded) = block.split_at_mut_checked(if id == as_it_is { 0 } else { reference }).unwrap_or_default();
    for sample in first {
        *sample = bits.take(params.bits)? as u32;
    }
    if zeros {
        return zero_blocks(params, bits, rest, done, reference);
    }
    if pairs {
        read_pairs(bits, coded, reference)?;
    } else if id == as_it_is {
        bits.take_all(params.bits, coded, |sample, bits| *sample = bits)?;
    } else {
        read_split(bits, coded, id - 1)?;
    }
    Ok(1)
}

fn zero_blocks(
    params: &Params,
    bits: &mut BitReader<'_>,
    rest: &mut [u32],
    done: usize,
    reference: usize,
) -> Result<usize, Fault> {
    let count = match bits.unary()? + 1 {
        TO_THE_END => (params.blocks - done).min(SEGMENT - done % SEGMENT),
        count if count > TO_THE_END => count as usize - 1,
        count => count as usize,
    };
    let len = count.checked_mul(params.block);
    let run = len.and_then(|len| rest.get_mut(..len)).ok_or(Fault::Corrupt("a run of zeros leaves its scanline"))?;
    run.iter_mut().skip(reference).for_each(|sample| *sample = 0);
    Ok(count)
}

/// Two samples in one number: it counts the pairs in the order of their sum, then of the second sample.
fn read_pairs(bits: &mut BitReader<'_>, coded: &mut [u32], reference: usize) -> Result<(), Fault> {
    let mut read = || {
        let pair = bits.unary()?;
        if pair > MAX_PAIR {
            return Err(Fault::Corrupt("a pair of samples too large for its code"));
        }
        let sum = ((8 * pair + 1).isqrt() - 1) / 2;
        let second = pair - sum * (sum + 1) / 2;
        Ok([sum - second, second])
    };
    let (odd, even) = coded.split_at_mut_checked(reference).unwrap_or_default();
    for sample in odd {
        // The reference sample has taken the place of the first of this pair.
        let [_, second] = read()?;
        *sample = second;
    }
    for pair in even.as_chunks_mut().0 {
        *pair = read()?;
    }
    Ok(())
}

/// All high parts in unary, then all low parts of so many bits.
#[inline(always)] // into code for the processor
fn read_split(bits: &mut BitReader<'_>, coded: &mut [u32], low: u32) -> Result<(), Fault> {
    bits.unary_all(coded, |high| high.wrapping_shl(low))?;
    if low > 0 {
        bits.take_all(low, coded, |sample, bits| *sample = sample.wrapping_add(bits))?;
    }
    Ok(())
}

/// Each sample after the first is a difference, folded so that near ones are small numbers.
#[inline(always)] // into code for the processor
fn undo_differences(params: &Params, line: &mut [u32]) {
    let greatest = params.greatest();
    let mut samples = line.iter_mut();
    let Some(mut last) = samples.next().map(|first| *first) else { return };
    for sample in samples {
        let folded = *sample;
        // How far it goes both ways from the last sample.
        let both = last.min(greatest - last);
        let far = if last > greatest / 2 { greatest.wrapping_sub(folded) } else { folded } & greatest;
        // Even ones go up by their half, odd ones down; without a branch, which none could foretell.
        let near = last.wrapping_add((folded >> 1) ^ (folded & 1).wrapping_neg());
        last = if folded.div_ceil(2) <= both { near } else { far };
        *sample = last;
    }
}
