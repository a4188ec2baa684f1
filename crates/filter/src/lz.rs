//! What codecs of Lempel and Ziv's kind share: going back in the output, and finding what can be gone back to. Called by lzf
//! and blosclz.

use crate::Fault;

/// Appends `len` bytes that stand `distance` bytes back; they may overlap what they make.
pub(crate) fn copy_back(out: &mut Vec<u8>, distance: usize, len: usize, limit: usize) -> Result<(), Fault> {
    let start = out.len().checked_sub(distance).ok_or(Fault::Corrupt("a reference before the start of the data"))?;
    if distance == 0 {
        return Err(Fault::Corrupt("a reference to nothing"));
    }
    if len > limit - out.len() {
        return Err(Fault::TooLong(limit));
    }
    let mut left = len;
    while left > 0 {
        // What was made can be copied too: each turn doubles the period.
        let part = left.min(out.len() - start);
        out.extend_from_within(start..start + part);
        left -= part;
    }
    Ok(())
}

/// Appends the first `len` bytes of `input`; gives the rest of it.
pub(crate) fn copy_literals<'a>(
    out: &mut Vec<u8>,
    input: &'a [u8],
    len: usize,
    limit: usize,
) -> Result<&'a [u8], Fault> {
    let (literals, rest) = input.split_at_checked(len).ok_or(ENDED)?;
    if len > limit - out.len() {
        return Err(Fault::TooLong(limit));
    }
    out.extend_from_slice(literals);
    Ok(rest)
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
const HASH_BITS: u32 = 15;

/// Cuts the input into instructions, taking the first match that it sees.
pub(crate) fn instructions(input: &[u8], rules: &Rules, mut write: impl FnMut(Instruction<'_>)) {
    let end = input.len().saturating_sub(rules.tail);
    let mut places = vec![0u32; 1 << HASH_BITS];
    let (mut at, mut literals) = (0, 0);
    while let Some(&[a, b, c, ..]) = input.get(at..end) {
        let hash = (u32::from_le_bytes([a, b, c, 0]).wrapping_mul(0x9e37_79b1)) >> (32 - HASH_BITS);
        let Some(place) = places.get_mut(hash as usize) else { break };
        // Places are kept one too high, so that 0 is none.
        let before = (*place as usize).wrapping_sub(1);
        *place = at as u32 + 1;
        let near = before < at && at - before <= rules.max_distance;
        let len = if near { common(input.get(before..), input.get(at..end), rules.max_len) } else { 0 };
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
}

/// How many bytes two places have in common.
fn common(old: Option<&[u8]>, new: Option<&[u8]>, most: usize) -> usize {
    let pairs = old.unwrap_or_default().iter().zip(new.unwrap_or_default());
    pairs.take(most).take_while(|(old, new)| old == new).count()
}
