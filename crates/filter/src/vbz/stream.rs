//! Integers in as few bytes or half bytes as each needs, after Lemire's stream vbyte: first two bits for each integer, its code, four of them in
//! a byte from the bottom; then the integers, low parts first.
//!
//! By bytes a code is one less than the bytes; by half bytes the codes are none, one, two and four halves, low half first.

use hyperslab_base::memory;

use super::UNEVEN;
use crate::Fault;

/// How integers are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// Integers of one byte by half bytes.
    HalfBytes,
    /// Integers of one byte by bytes.
    Bytes1,
    /// Integers of two bytes by bytes.
    Bytes2,
    /// Integers of four bytes by bytes.
    Bytes4,
}

pub(super) const ENDED: Fault = Fault::Corrupt("the packed integers end early");
const LEFT: Fault = Fault::Corrupt("bytes after the packed integers");

impl Code {
    /// The bytes of an integer.
    pub(super) fn size(self) -> usize {
        match self {
            Code::HalfBytes | Code::Bytes1 => 1,
            Code::Bytes2 => 2,
            Code::Bytes4 => 4,
        }
    }

    /// The most bytes that a stream of `len` bytes decodes to.
    pub(super) fn most_decoded(self, len: u64) -> u64 {
        // Four codes are a byte; zeros have no half bytes, but one byte.
        let integers = if self == Code::HalfBytes { len.saturating_mul(4) } else { len };
        integers.saturating_mul(self.size() as u64)
    }

    /// The most bytes of a stream that decodes to `len` bytes.
    pub(super) fn most(self, len: usize) -> Result<usize, Fault> {
        let count = len / self.size();
        // The plugin extends signs: any integer may take four bytes.
        count.checked_mul(4).and_then(|bytes| bytes.checked_add(count.div_ceil(4))).ok_or(Fault::TooLong(len))
    }
}

/// The most bytes that [`encode`] makes of `len` bytes.
pub(super) fn encoded_len(code: Code, len: usize) -> usize {
    len.saturating_add((len / code.size()).div_ceil(4)).saturating_add(1)
}

/// Unpacks as many integers as `out` has room for; the stream must hold no more.
pub(super) fn decode(code: Code, differences: bool, stream: &[u8], out: &mut [u8]) -> Result<(), Fault> {
    if !out.len().is_multiple_of(code.size()) {
        return Err(Fault::Corrupt("not a whole number of integers"));
    }
    let count = out.len() / code.size();
    let (codes, data) = stream.split_at_checked(count.div_ceil(4)).ok_or(ENDED)?;
    match code {
        Code::HalfBytes => unpack::<1>(codes, HalfBytes { data, high: false }, differences, out),
        Code::Bytes1 => unpack::<1>(codes, Bytes { data }, differences, out),
        Code::Bytes2 => unpack::<2>(codes, Bytes { data }, differences, out),
        Code::Bytes4 => unpack::<4>(codes, Bytes { data }, differences, out),
    }
}

/// Appends the stream of these integers.
pub(super) fn encode(code: Code, differences: bool, input: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    if !input.len().is_multiple_of(code.size()) {
        return Err(UNEVEN);
    }
    memory::reserve(out, encoded_len(code, input.len()))?;
    match code {
        Code::HalfBytes => pack_halves(differences, input, out),
        Code::Bytes1 => pack_bytes::<1>(differences, input, out),
        Code::Bytes2 => pack_bytes::<2>(differences, input, out),
        Code::Bytes4 => pack_bytes::<4>(differences, input, out),
    }
    Ok(())
}

/// Where packed integers come from.
trait Source {
    /// The next integer, which has this code.
    fn next(&mut self, code: u8) -> Result<u32, Fault>;

    /// An error if there are more.
    fn end(self) -> Result<(), Fault>;
}

fn unpack<const SIZE: usize>(
    codes: &[u8],
    mut source: impl Source,
    differences: bool,
    out: &mut [u8],
) -> Result<(), Fault> {
    let mut last = 0u32;
    for (codes, group) in codes.iter().zip(out.as_chunks_mut::<SIZE>().0.chunks_mut(4)) {
        let mut codes = *codes;
        for integer in group {
            let value = source.next(codes & 3)?;
            codes >>= 2;
            last = if differences { last.wrapping_add(value >> 1 ^ (value & 1).wrapping_neg()) } else { value };
            integer.iter_mut().zip(last.to_le_bytes()).for_each(|(to, from)| *to = from);
        }
    }
    source.end()
}

struct Bytes<'a> {
    data: &'a [u8],
}

impl Source for Bytes<'_> {
    #[inline]
    fn next(&mut self, code: u8) -> Result<u32, Fault> {
        let len = usize::from(code) + 1;
        let (here, rest) = self.data.split_at_checked(len).ok_or(ENDED)?;
        let value = match self.data.first_chunk() {
            Some(word) => u32::from_le_bytes(*word) & u32::MAX >> (24 - 8 * u32::from(code)),
            None => here.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)),
        };
        self.data = rest;
        Ok(value)
    }

    fn end(self) -> Result<(), Fault> {
        if self.data.is_empty() { Ok(()) } else { Err(LEFT) }
    }
}

struct HalfBytes<'a> {
    data: &'a [u8],
    /// Whether the low half of the first byte was taken.
    high: bool,
}

impl Source for HalfBytes<'_> {
    #[inline]
    fn next(&mut self, code: u8) -> Result<u32, Fault> {
        let mut value = 0;
        for nth in 0..[0, 1, 2, 4].get(usize::from(code)).copied().unwrap_or(0) {
            let (byte, rest) = self.data.split_first().ok_or(ENDED)?;
            let half = if self.high { byte >> 4 } else { byte & 15 };
            if self.high {
                self.data = rest;
            }
            self.high = !self.high;
            value |= u32::from(half) << (4 * nth);
        }
        Ok(value)
    }

    fn end(self) -> Result<(), Fault> {
        if self.data.len() == usize::from(self.high) { Ok(()) } else { Err(LEFT) }
    }
}

/// What is packed of each integer. Differences wrap around within the size, so that they have no more bits.
fn folded<const SIZE: usize>(differences: bool, input: &[u8]) -> impl Iterator<Item = u32> {
    let spare = 32 - 8 * SIZE as u32;
    let mut last = 0u32;
    input.as_chunks::<SIZE>().0.iter().map(move |integer| {
        let value = integer.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
        if !differences {
            return value;
        }
        let difference = (value.wrapping_sub(last) << spare) as i32 >> spare;
        last = value;
        (difference << 1 ^ difference >> 31) as u32
    })
}

fn pack_bytes<const SIZE: usize>(differences: bool, input: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let count = input.len() / SIZE;
    out.resize(start + count.div_ceil(4), 0);
    for (nth, value) in folded::<SIZE>(differences, input).enumerate() {
        let code = 3u32.saturating_sub(value.leading_zeros() / 8);
        if let Some(codes) = out.get_mut(start + nth / 4) {
            *codes |= (code as u8) << (nth % 4 * 2);
        }
        out.extend_from_slice(value.to_le_bytes().get(..code as usize + 1).unwrap_or_default());
    }
}

fn pack_halves(differences: bool, input: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + input.len().div_ceil(4), 0);
    let mut high = false;
    for (nth, value) in folded::<1>(differences, input).enumerate() {
        let (code, halves) = match value {
            0 => (0u8, 0),
            1..16 => (1, 1),
            _ => (2, 2),
        };
        if let Some(codes) = out.get_mut(start + nth / 4) {
            *codes |= code << (nth % 4 * 2);
        }
        for half in 0..halves {
            let bits = (value >> (4 * half)) as u8 & 15;
            match out.last_mut() {
                Some(byte) if high => *byte |= bits << 4,
                _ => out.push(bits),
            }
            high = !high;
        }
    }
}
