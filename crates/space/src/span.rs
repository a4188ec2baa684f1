//! Sorted lists of index ranges, each with what lies below it: the one mechanism of all set algebra.
//!
//! A list is canonical when it is sorted, its ranges do not overlap, and no two touching ranges have equal content.
//! [`merge`] combines two canonical lists into one; what happens to the content is the caller's business.

/// A range of indices with the same content: `()` in the last dimension, a tree of the further dimensions before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span<T> {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) down: T,
}

impl<T> Span<T> {
    pub(crate) fn len(&self) -> u64 {
        self.end - self.start
    }
}

/// Appends a span, which must not start before the end of the list, and keeps the list canonical.
pub(crate) fn push<T: PartialEq>(list: &mut Vec<Span<T>>, span: Span<T>) {
    match list.last_mut() {
        Some(last) if last.end == span.start && last.down == span.down => last.end = span.end,
        _ => list.push(span),
    }
}

/// Walks two canonical lists together. For each range where neither changes, `combine` is told what each side has there and
/// says what the result has.
pub(crate) fn merge<T: PartialEq>(
    left: &[Span<T>],
    right: &[Span<T>],
    mut combine: impl FnMut(Option<&T>, Option<&T>) -> Option<T>,
) -> Vec<Span<T>> {
    let mut result = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    let mut at = 0;
    loop {
        while left.next_if(|span| span.end <= at).is_some() {}
        while right.next_if(|span| span.end <= at).is_some() {}
        let (next_left, next_right) = (left.peek(), right.peek());
        let nearest = |span: Option<&&Span<T>>| span.map_or(u64::MAX, |span| span.start);
        at = at.max(nearest(next_left).min(nearest(next_right)));
        if at == u64::MAX {
            return result;
        }
        // A side that has not begun yet ends the range where it begins.
        let mut end = u64::MAX;
        let mut side = |span: Option<&&Span<T>>| -> bool {
            let Some(span) = span else { return false };
            let inside = span.start <= at;
            end = end.min(if inside { span.end } else { span.start });
            inside
        };
        let (in_left, in_right) = (side(next_left), side(next_right));
        let content = combine(
            next_left.filter(|_| in_left).map(|span| &span.down),
            next_right.filter(|_| in_right).map(|span| &span.down),
        );
        if let Some(down) = content {
            push(&mut result, Span { start: at, end, down });
        }
        at = end;
    }
}
