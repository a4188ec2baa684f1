//! What decoders of Lempel and Ziv's kind share: going back in the output. Called by lzf and blosclz.

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
