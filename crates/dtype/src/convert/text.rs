//! Strings of one length and padding to another.

use crate::Padding;

/// One string; what is too long is cut off.
pub(super) fn convert(from: Padding, to: Padding, source: &[u8], target: &mut [u8]) {
    // In a conversion, every NUL ends a string.
    let from = if from == Padding::NullPad { Padding::NullTerm } else { from };
    let text = from.strip(source);
    let length = text.len().min(target.len());
    let (start, rest) = target.split_at_mut(length);
    start.copy_from_slice(text.get(..length).unwrap_or_default());
    rest.fill(if to == Padding::SpacePad { b' ' } else { 0 });
    if let (Padding::NullTerm, Some(last)) = (to, target.last_mut()) {
        *last = 0;
    }
}
