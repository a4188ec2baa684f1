//! Integer to integer: what does not fit becomes the nearest value that does.

use super::word::Word;
use crate::Fixed;

pub(super) fn convert<W: Word>(from: &Fixed, to: &Fixed, value: W) -> W {
    let (wide, narrow) = (u32::from(from.bits.precision), u32::from(to.bits.precision));
    let value = value.get(from.bits.offset.into(), wide);
    let made = if from.signed && value.bit(wide - 1) {
        negative(value, wide, narrow, to.signed)
    } else {
        // One bit less for a positive number where there is a sign.
        let room = narrow - u32::from(to.signed);
        if value.top().is_some_and(|top| top >= room) { W::ones(room) } else { value }
    };
    made.shl(to.bits.offset.into())
}

fn negative<W: Word>(value: W, wide: u32, narrow: u32, signed: bool) -> W {
    if !signed {
        return W::ZERO;
    }
    // The complement of a negative number is what it has of magnitude, less one.
    let magnitude = value.not().get(0, wide);
    match magnitude.top() {
        Some(top) if top + 1 >= narrow => W::of_bool(true).shl(narrow - 1),
        _ => magnitude.not().get(0, narrow),
    }
}
