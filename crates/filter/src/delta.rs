//! Filter 33001: differences of integers, for what tells which elements of sparse chunks are defined.
//!
//! ```text
//!  before   head | integer | integer | integer | …  | tail         little-endian, of 1, 2, 4 or 8 bytes
//!  after    bytes of an integer 1 | head | the first integers | integer - the one so many before it | … | tail
//! ```
//!
//! Coordinates that rise have small differences, most of whose bytes are zero. The encoder tries all sizes of integers and takes that which makes most bytes zero, of the last KiB if there are many; what
//! is left over at the front stays as it is. The number is one of those for private use.

use std::ops::Range;

use crate::{ChunkFacts, Decoded, Encoded, Fault, Filter, output::stale};

/// Differences of integers, filter 33001. Programs without it cannot read what went through it.
#[derive(Clone, Copy, Debug)]
pub struct Delta;

/// The sizes of integers that are tried.
const SIZES: [usize; 4] = [1, 2, 4, 8];

/// So many bytes tell which size is best.
const SAMPLE: usize = 1 << 10;

/// More integers between those of a difference are not meant.
const MOST: u32 = 1 << 10;

impl Delta {
    /// Its number.
    pub const ID: u16 = 33001;

    /// The parameters for differences between integers that are so many apart, with so many bytes at the end that stay as they are.
    ///
    /// ```
    /// use hyperslab_filter::{Delta, Filter};
    /// let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
    /// let points = [1u16, 7, 1, 9, 2, 13].map(u16::to_le_bytes).concat();
    /// Delta.encode(&Delta::params(2, 0), &points, &mut encoded)?;
    /// assert_eq!(encoded[..9], [2, 1, 0, 7, 0, 0, 0, 2, 0]);
    /// Delta.decode(&Delta::params(2, 0), &encoded, &mut decoded, points.len())?;
    /// assert_eq!(decoded, points);
    /// # Ok::<(), hyperslab_filter::Fault>(())
    /// ```
    pub fn params(distance: u32, tail: u32) -> Vec<u32> {
        vec![distance, tail]
    }
}

impl Filter for Delta {
    fn id(&self) -> u16 {
        Delta::ID
    }

    fn name(&self) -> &'static str {
        "delta"
    }

    fn complete(&self, params: &[u32], _: &ChunkFacts<'_>) -> Result<Vec<u32>, Fault> {
        read(params).map(|_| params.to_vec())
    }

    fn decode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<Decoded, Fault> {
        let (distance, tail) = read(params)?;
        let (size, rest) = input.split_first().ok_or(Fault::Corrupt("it is empty"))?;
        let out = stale(out, rest.len(), limit)?;
        out.copy_from_slice(rest);
        let place = place(out.len(), usize::from(*size), tail);
        let integers = out.get_mut(place).unwrap_or_default();
        match size {
            1 => sums::<1>(integers, distance),
            2 => sums::<2>(integers, distance),
            4 => sums::<4>(integers, distance),
            8 => sums::<8>(integers, distance),
            _ => return Err(Fault::Corrupt("integers have 1, 2, 4 or 8 bytes")),
        }
        Ok(Decoded::Written)
    }

    fn encode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>) -> Result<Encoded, Fault> {
        let (distance, tail) = read(params)?;
        // All integers end where the tail begins.
        let sample = input.get(input.len().saturating_sub(SAMPLE.saturating_add(tail))..).unwrap_or(input);
        let mut best = None;
        for size in SIZES {
            let zeros = differ(sample, (size, distance, tail), out)?;
            if best.is_none_or(|(most, _)| zeros > most) {
                best = Some((zeros, size));
            }
        }
        differ(input, (best.map_or(1, |(_, size)| size), distance, tail), out)?;
        Ok(Encoded::Written)
    }

    fn encoded_bound(&self, _: &[u32], len: usize) -> usize {
        len.saturating_add(1)
    }

    fn worst_case(&self, _: &[u32], len: u64) -> Option<u64> {
        Some(len.saturating_add(1))
    }

    fn decoded_bound(&self, _: &[u32], len: u64) -> Option<u64> {
        Some(len)
    }
}

/// Writes the differences of integers of a size; how many bytes of them are zero.
fn differ(input: &[u8], (size, distance, tail): (usize, usize, usize), out: &mut Vec<u8>) -> Result<usize, Fault> {
    let len = input.len().saturating_add(1);
    let (first, rest) = stale(out, len, len)?.split_first_mut().ok_or(Fault::Corrupt("it is empty"))?;
    *first = size as u8;
    rest.copy_from_slice(input);
    let place = place(input.len(), size, tail);
    let numbers = input.get(place.clone()).unwrap_or_default();
    let integers = rest.get_mut(place).unwrap_or_default();
    match size {
        1 => differences::<1>(numbers, integers, distance),
        2 => differences::<2>(numbers, integers, distance),
        4 => differences::<4>(numbers, integers, distance),
        _ => differences::<8>(numbers, integers, distance),
    }
    Ok(integers.iter().filter(|byte| **byte == 0).count())
}

/// Where the bytes of all integers of a size are, which end where the tail begins.
fn place(len: usize, size: usize, tail: usize) -> Range<usize> {
    let end = len.saturating_sub(tail);
    end % size.max(1)..end
}

/// Puts the difference of each integer from that so many before it in its place; the first ones are there.
fn differences<const SIZE: usize>(numbers: &[u8], places: &mut [u8], distance: usize) {
    let (numbers, places) = (numbers.as_chunks::<SIZE>().0, places.as_chunks_mut::<SIZE>().0);
    let later = numbers.get(distance..).unwrap_or_default();
    let places = places.get_mut(distance..).unwrap_or_default();
    for ((place, now), before) in places.iter_mut().zip(later).zip(numbers) {
        *place = bytes_of(number(*now).wrapping_sub(number(*before)));
    }
}

/// The reverse of [`differences`].
fn sums<const SIZE: usize>(bytes: &mut [u8], distance: usize) {
    let (integers, _) = bytes.as_chunks_mut::<SIZE>();
    let mut before = vec![0u64; distance];
    for some in integers.chunks_mut(distance) {
        for (integer, before) in some.iter_mut().zip(&mut before) {
            *before = number(*integer).wrapping_add(*before);
            *integer = bytes_of(*before);
        }
    }
}

fn number<const SIZE: usize>(bytes: [u8; SIZE]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn bytes_of<const SIZE: usize>(number: u64) -> [u8; SIZE] {
    std::array::from_fn(|nth| (number >> (8 * nth)) as u8)
}

/// How far apart the integers of a difference are, and how many bytes at the end stay.
fn read(params: &[u32]) -> Result<(usize, usize), Fault> {
    match params {
        [distance, tail] if (1..=MOST).contains(distance) => Ok((*distance as usize, *tail as usize)),
        _ => Err(Fault::Params(
            "there must be two, the distance of integers, from 1 to 1024, and the bytes at the end that stay",
        )),
    }
}
