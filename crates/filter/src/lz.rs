//! What codecs of Lempel and Ziv's kind share: going back in the output, and finding what can be gone back to. Called by lzf
//! and blosclz.

use hyperslab_base::memory;

use crate::Fault;

/// Bytes that are copied at once where there is room for them.
const BLOCK: usize = 32;

/// Output that is filled from the front and looked back into.
pub(crate) struct Window<'a> {
    out: &'a mut [u8],
    at: usize,
}

impl<'a> Window<'a> {
    pub(crate) fn new(out: &'a mut [u8]) -> Window<'a> {
        Window { out, at: 0 }
    }

    /// How many bytes were written.
    pub(crate) fn len(&self) -> usize {
        self.at
    }

    /// Appends the first `len` bytes of `input`; gives the rest of it.
    #[inline]
    pub(crate) fn literals<'b>(&mut self, input: &'b [u8], len: usize) -> Result<&'b [u8], Fault> {
        let (literals, rest) = input.split_at_checked(len).ok_or(ENDED)?;
        let limit = self.out.len();
        let room = self.out.get_mut(self.at..).unwrap_or_default();
        if len > room.len() {
            return Err(Fault::TooLong(limit));
        }
        // Short ones as one block, whose surplus is overwritten later: a call of memcpy takes longer.
        match (input.first_chunk::<BLOCK>(), room.first_chunk_mut()) {
            (Some(from), Some(to)) if len <= BLOCK => *to = *from,
            _ => room.iter_mut().zip(literals).for_each(|(to, from)| *to = *from),
        }
        self.at += len;
        Ok(rest)
    }

    /// Appends `len` bytes that stand `distance` bytes back; they may overlap what they make.
    #[inline]
    pub(crate) fn copy(&mut self, distance: usize, len: usize) -> Result<(), Fault> {
        let start = self.at.checked_sub(distance).ok_or(Fault::Corrupt("a reference before the start of the data"))?;
        if len > self.out.len() - self.at {
            return Err(Fault::TooLong(self.out.len()));
        }
        match distance {
            0 => return Err(Fault::Corrupt("a reference to nothing")),
            1 => {
                let byte = self.out.get(start).copied().unwrap_or(0);
                self.out.get_mut(self.at..self.at + len).unwrap_or_default().fill(byte);
            }
            BLOCK.. if self.at + len + BLOCK <= self.out.len() && len <= 4 * BLOCK => {
                for done in (0..len).step_by(BLOCK) {
                    let from: Option<[u8; BLOCK]> =
                        self.out.get(start + done..).and_then(|from| from.first_chunk()).copied();
                    let to = self.out.get_mut(self.at + done..).and_then(|to| to.first_chunk_mut());
                    if let (Some(from), Some(to)) = (from, to) {
                        *to = from;
                    }
                }
            }
            _ => {
                let mut left = len;
                let mut at = self.at;
                while left > 0 {
                    // What was made can be copied too: each turn doubles the period.
                    let part = left.min(at - start);
                    self.out.copy_within(start..start + part, at);
                    (at, left) = (at + part, left - part);
                }
            }
        }
        self.at += len;
        Ok(())
    }
}

pub(crate) const ENDED: Fault = Fault::Corrupt("the data ends within an instruction");

/// What an encoder may say.
pub(crate) struct Rules {
    pub(crate) max_distance: usize,
    pub(crate) max_len: usize,
    /// Bytes at the end that must be literals.
    pub(crate) tail: usize,
}

/// One instruction: literals, then a copy from so far back of so many bytes. The last one has no copy.
pub(crate) struct Instruction<'a> {
    pub(crate) literals: &'a [u8],
    pub(crate) copy: Option<(usize, usize)>,
}

const MIN_LEN: usize = 3;
/// The tables of an input have no more places than this, as a power of two. Larger ones than a small input needs take most of its time to clear.
const HASH_BITS: u32 = 15;
const LEAST_BITS: u32 = 8;

/// Cuts the input into instructions, taking the first match that it sees.
pub(crate) fn instructions(input: &[u8], rules: &Rules, mut write: impl FnMut(Instruction<'_>)) -> Result<(), Fault> {
    let end = input.len().saturating_sub(rules.tail);
    let mut places = Vec::new();
    let bits = (usize::BITS - input.len().leading_zeros()).clamp(LEAST_BITS, HASH_BITS);
    memory::resize(&mut places, 1 << bits, 0u32)?;
    let (mut at, mut literals) = (0, 0);
    while let Some(&[a, b, c, ..]) = input.get(at..end) {
        let hash = (u32::from_le_bytes([a, b, c, 0]).wrapping_mul(0x9e37_79b1)) >> (32 - bits);
        let Some(place) = places.get_mut(hash as usize) else { break };
        // Places are kept one too high, so that 0 is none.
        let before = (*place as usize).wrapping_sub(1);
        *place = at as u32 + 1;
        let near = before < at && at - before <= rules.max_distance;
        let len = if near { common(input, before, at, end.min(at + rules.max_len)) } else { 0 };
        if len < MIN_LEN {
            at += 1;
            continue;
        }
        let literal = input.get(literals..at).unwrap_or_default();
        write(Instruction { literals: literal, copy: Some((at - before, len)) });
        at += len;
        literals = at;
    }
    write(Instruction { literals: input.get(literals..).unwrap_or_default(), copy: None });
    Ok(())
}

/// Four bytes as a number.
#[inline]
pub(crate) fn word(input: &[u8], at: usize) -> Option<u32> {
    input.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

/// How many bytes from two places on are the same, before `end`.
#[inline]
pub(crate) fn common(input: &[u8], old: usize, new: usize, end: usize) -> usize {
    let (old, new) = (input.get(old..end).unwrap_or_default(), input.get(new..end).unwrap_or_default());
    let (old_words, new_words) = (old.as_chunks::<8>().0, new.as_chunks::<8>().0);
    for (nth, (old, new)) in old_words.iter().zip(new_words).enumerate() {
        let differ = u64::from_le_bytes(*old) ^ u64::from_le_bytes(*new);
        if differ != 0 {
            return nth * 8 + differ.trailing_zeros() as usize / 8;
        }
    }
    let done = new_words.len() * 8;
    let rest = old.iter().zip(new).skip(done);
    done + rest.take_while(|(old, new)| old == new).count()
}
