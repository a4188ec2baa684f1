//! Integers: the bits they need, and what each of them becomes.

use super::{Header, Params, ScaleOffsetKind};

/// Finds the least value, and the bits that the greatest needs above it.
pub(super) fn measure(params: &Params, input: &[u8]) -> Header {
    // Signed numbers have the order of unsigned ones once their sign bit is flipped.
    let flip = if params.of.kind == ScaleOffsetKind::Signed { 1 << (params.of.bits() - 1) } else { 0 };
    let values = input.chunks_exact(params.of.size).map(|element| params.of.load(element));
    let range = values.filter(|value| Some(*value) != params.fill).fold(None, |range, value| {
        let key = value ^ flip;
        let (least, greatest) = range.unwrap_or((key, key));
        Some((key.min(least), key.max(greatest)))
    });
    let (least, greatest) = range.unwrap_or((flip, flip));
    let bits = match params.factor {
        1.. => params.factor as u32,
        _ => {
            // One number more is for the fill value. Near the full range, the values are stored as they are.
            let numbers = u128::from(greatest - least) + 1 + u128::from(params.fill.is_some());
            let bits = ceil_log2(numbers);
            if greatest - least > (u64::MAX >> (64 - params.of.bits())) - 2 { params.of.bits() } else { bits }
        }
    };
    Header { bits, least: extend(least ^ flip, params) }
}

/// The least value in 64 bits, with its sign.
fn extend(least: u64, params: &Params) -> u64 {
    let spare = 64 - params.of.bits();
    if params.of.kind == ScaleOffsetKind::Signed { ((least << spare) as i64 >> spare) as u64 } else { least }
}

/// What a value is packed as.
pub(super) fn reduce(params: &Params, header: Header) -> impl Fn(u64) -> u64 {
    let (fill, ones) = (params.fill, header.ones());
    move |value| if Some(value) == fill { ones } else { value.wrapping_sub(header.least) }
}

/// The opposite; bits above the type's are lost later.
pub(super) fn restore(params: &Params, header: Header) -> impl Fn(u64) -> u64 {
    let (fill, ones) = (params.fill, header.ones());
    move |packed| match fill {
        Some(fill) if packed == ones => fill,
        _ => packed.wrapping_add(header.least),
    }
}

/// The bits that count so many things.
pub(super) fn ceil_log2(things: u128) -> u32 {
    u128::BITS - things.saturating_sub(1).leading_zeros()
}
