//! A range of addresses.

/// So many bytes from an address on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first address.
    pub start: u64,
    /// How many bytes.
    pub len: u64,
}

impl Span {
    /// From `start` to before `end`.
    pub fn between(start: u64, end: u64) -> Span {
        Span { start, len: end.saturating_sub(start) }
    }

    /// The address behind it.
    pub fn end(self) -> u64 {
        self.start.saturating_add(self.len)
    }

    /// Whether it holds nothing.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}
